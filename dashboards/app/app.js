// Sorts tables, sends a form when a choice changes, reads a page again when something changed.
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

const prepareTable = (table) => {
  if (!table.tHead || !table.tBodies[0] || table.tBodies[0].rows.length < 3) return;
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
};

const prepareForm = (form) => {
  form.addEventListener("change", () => form.requestSubmit());
  // Values that stand at their default stay out of the address.
  form.addEventListener("formdata", (event) => {
    for (const field of form.elements) {
      if (field.name && field.value === (field.dataset.default ?? "")) event.formData.delete(field.name);
    }
  });
};

// One cursor over all panels of a chart: by pointer, or by the arrow keys.
const prepareCursor = (chart) => {
  const places = chart.querySelectorAll(".cursor[data-at]");
  let at = places.length - 1;
  const show = (place) => {
    at = Math.max(0, Math.min(places.length - 1, place));
    for (const each of chart.querySelectorAll("[data-at]")) {
      each.classList.toggle("here", Number(each.dataset.at) === at);
    }
  };
  chart.addEventListener("pointerover", (event) => {
    if (event.target.dataset?.at !== undefined) show(Number(event.target.dataset.at));
  });
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) { event.preventDefault(); show(at + step); }
  });
};

// Ctrl+Enter sends a text of several lines.
const prepareKeys = (form) => {
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
};

const prepare = (main) => {
  main.querySelectorAll("table").forEach(prepareTable);
  main.querySelectorAll("form[data-sent-on-change]").forEach(prepareForm);
  main.querySelectorAll("form[data-sent-by-keys]").forEach(prepareKeys);
  main.querySelectorAll("figure.chart:has(.cursor)").forEach(prepareCursor);
};

// Reading again must not take from under a reader what they type in or have chosen.
const isBusy = (main) => main.contains(document.activeElement)
  && document.activeElement.matches("input, select, textarea, [data-keep]");

const readAgain = async () => {
  const main = document.querySelector("main[data-live]");
  if (!main || document.hidden || isBusy(main)) return false;
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (answer.redirected || !answer.ok) { location.reload(); return true; }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const opened = new Set([...main.querySelectorAll("details[open] > summary")].map((each) => each.textContent));
  const fresh = page.querySelector("main");
  for (const each of fresh.querySelectorAll("details > summary")) {
    if (opened.has(each.textContent)) each.parentElement.open = true;
  }
  main.replaceWith(fresh);
  document.querySelector("header.menu").replaceWith(page.querySelector("header.menu"));
  document.title = page.title;
  prepare(fresh);
  return true;
};

prepare(document);

if (document.querySelector("main[data-live]")) {
  let shown = "", told = "";
  const follow = async () => {
    if (told !== shown && await readAgain().catch(() => false)) shown = told;
  };
  const changes = new EventSource("/changes");
  changes.addEventListener("change", (event) => { told = event.data; follow(); });
  addEventListener("focusout", () => setTimeout(follow));
  document.addEventListener("visibilitychange", follow);
}
