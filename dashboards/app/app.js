// Sorts tables, sends a form when a choice changes, reloads a page whose work is under way.
"use strict";

const number = (text) => {
  const found = /^[−-]?[\d,.]+/.exec(text.replace(/^\$/, ""));
  return found ? Number(found[0].replace(/,/g, "").replace("−", "-")) : NaN;
};

const sortBy = (table, column, descending) => {
  const rows = [...table.tBodies[0].rows];
  const key = (row) => row.cells[column]?.textContent.trim() ?? "";
  const known = rows.filter((row) => !["", "–", "unscored"].includes(key(row)));
  const missing = rows.filter((row) => !known.includes(row));  // always last
  const numbers = known.every((row) => !Number.isNaN(number(key(row))));
  known.sort((a, b) => numbers
    ? number(key(a)) - number(key(b))
    : key(a).localeCompare(key(b), undefined, { numeric: true }));
  if (descending) known.reverse();
  table.tBodies[0].append(...known, ...missing);
};

for (const table of document.querySelectorAll("main table")) {
  if (!table.tHead || !table.tBodies[0] || table.tBodies[0].rows.length < 3) continue;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (!head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortBy(table, column, descending);
    });
  });
}

for (const form of document.querySelectorAll("form[data-sent-on-change]")) {
  form.addEventListener("change", () => form.requestSubmit());
  // Values that stand at their default stay out of the address.
  form.addEventListener("formdata", (event) => {
    for (const field of form.elements) {
      if (field.name && field.value === (field.dataset.default ?? "")) event.formData.delete(field.name);
    }
  });
}

const seconds = Number(document.querySelector("[data-reload-seconds]")?.dataset.reloadSeconds);
if (seconds > 0) {
  setTimeout(() => { if (!document.hidden) location.replace(location.href); }, seconds * 1000);
}
