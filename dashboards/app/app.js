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
  let replacing = false;  // every step of a weight would be a step of the button back
  form.addEventListener("change", (event) => {
    replacing = event.target.matches("input");
    form.requestSubmit();
  });
  // Values that stand at their default stay out of the address.
  form.addEventListener("formdata", (event) => {
    for (const field of form.elements) {
      if (field.name && field.value === (field.dataset.default ?? "")) event.formData.delete(field.name);
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = new URLSearchParams(new FormData(form)).toString();
    go(chosen ? `${location.pathname}?${chosen}` : location.pathname, replacing);
  });
};

// Beside a citation, what was read of the paper; its link still leads to the publisher.
const prepareCitations = (main) => {
  const cited = new Map();
  for (const item of main.querySelectorAll("#cited li")) {
    for (const link of item.querySelectorAll("a[rel]")) cited.set(link.href, item);
  }
  if (!cited.size) return;
  const about = document.createElement("aside");
  about.popover = "auto";
  about.className = "about";
  document.body.append(about);
  main.addEventListener("click", (event) => {
    const link = event.target.closest("a[rel]");
    const item = link && !link.closest("#cited") && cited.get(link.href);
    if (!item || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    about.replaceChildren(...[...item.childNodes].map((each) => each.cloneNode(true)));
    about.setAttribute("aria-label", "The cited paper");
    about.showPopover();
    const place = link.getBoundingClientRect(), width = about.offsetWidth;
    about.style.left = `${Math.max(8, Math.min(place.left, innerWidth - width - 8))}px`;
    const below = place.bottom + about.offsetHeight + 8 < innerHeight;
    about.style.top = `${Math.max(8, below ? place.bottom + 4 : place.top - about.offsetHeight - 4)}px`;
    about.querySelector("a")?.focus();
    about.addEventListener("toggle", () => link.focus({ preventScroll: true }), { once: true });
  });
};

const prepareFile = (field) => field.addEventListener("change", () => {
  const most = Number(field.dataset.mostBytes);
  const large = [...field.files].some((file) => file.size > most);
  field.setCustomValidity(large ? `This file is larger than ${Math.floor(most / 1e6)} MB.` : "");
  field.reportValidity();
});

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
  main.querySelectorAll("input[data-most-bytes]").forEach(prepareFile);
  main.querySelectorAll("table").forEach(prepareTable);
  main.querySelectorAll("form[data-sent-on-change]").forEach(prepareForm);
  main.querySelectorAll("form[data-sent-by-keys]").forEach(prepareKeys);
  main.querySelectorAll("figure.chart:has(.cursor)").forEach(prepareCursor);
  prepareCitations(main);
};

// Reading again must not take from under a reader what they type in or have chosen.
const isBusy = (main) => main.contains(document.activeElement)
  && document.activeElement.matches("input, select, textarea, [data-keep]");

// Put the page of an address in the place of this one: folds stay open, the focus where it was.
const put = async (address) => {
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  if (answer.redirected) { location.assign(answer.url); return; }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const main = document.querySelector("main"), fresh = page.querySelector("main");
  const opened = new Set([...main.querySelectorAll("details[open] > summary")].map((each) => each.textContent));
  for (const each of fresh.querySelectorAll("details > summary")) {
    if (opened.has(each.textContent)) each.parentElement.open = true;
  }
  const focused = main.contains(document.activeElement) ? document.activeElement.name : "";
  document.querySelectorAll("aside.about").forEach((each) => each.remove());
  main.replaceWith(fresh);
  document.querySelector("header.menu").replaceWith(page.querySelector("header.menu"));
  document.title = page.title;
  prepare(fresh);
  if (focused) fresh.querySelector(`[name="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
};

const go = async (address, replacing) => {
  try {
    await put(address);
    history[replacing ? "replaceState" : "pushState"](null, "", address);
  } catch {
    location.assign(address);
  }
};
addEventListener("popstate", () => put(location.href).catch(() => location.reload()));

const readAgain = async () => {
  const main = document.querySelector("main[data-live]");
  if (!main || document.hidden || isBusy(main)) return false;
  await put(location.href);
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
