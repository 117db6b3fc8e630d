// Sorting of tables, submission of forms, and reloading of pages after changes.
"use strict";

const number = (text) => {
  const plain = text.replace(/^(under|over) /, "").replace(/,/g, "").replace("−", "-");
  const spans = [...plain.matchAll(/([\d.]+) (h|min|s)(?= |$)/g)];
  if (spans.length && spans.map(([span]) => span).join(" ") === plain) {
    return spans.reduce((sum, [, count, unit]) => sum + count * { h: 3600, min: 60, s: 1 }[unit], 0);
  }
  const digits = /^[+-]?[\d.]+/.exec(plain);
  return digits ? Number(digits[0]) : NaN;
};

const sortBy = (table, column, descending) => {
  const rows = [...table.tBodies[0].rows];
  const key = (row) => row.cells[column]?.textContent.trim() ?? "";
  const sortable = rows.filter((row) => !["", "–", "unscored"].includes(key(row)));
  const missing = rows.filter((row) => !sortable.includes(row));  // always last
  const numbers = sortable.every((row) => !Number.isNaN(number(key(row))));
  sortable.sort((a, b) => numbers
    ? number(key(a)) - number(key(b))
    : key(a).localeCompare(key(b), undefined, { numeric: true }));
  if (descending) sortable.reverse();
  table.tBodies[0].append(...sortable, ...missing);
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
  let replacing = false;  // else each change of a weight would be a history entry
  form.addEventListener("change", (event) => {
    replacing = event.target.matches("input");
    form.requestSubmit();
  });
  // Default values are left out of the URL.
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

// A popup with passages of a cited paper; its link leads to the publisher.
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

// Submit a form only once.
const sendOnce = (form) => form.addEventListener("submit", (event) => {
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "1";
});

// Answers to requests are sent after ten seconds and can be undone until then. Leaving the page sends
// them at once. An answer is sent again only if the server could not be reached.
const UNDO_SECONDS = 10;
const pending = new Map();

const button = (words, onClick) => {
  const element = document.createElement("button");
  element.type = "button";
  element.append(words);
  element.addEventListener("click", onClick);
  return element;
};

const say = (answer, words, ...buttons) => {
  const left = document.createElement("span");
  left.setAttribute("aria-hidden", "true");
  answer.line.replaceChildren(`${words} `, ...buttons, left);
  answer.left = left;
};

const forget = (answer) => {
  clearInterval(answer.clock);
  answer.line.remove();
  pending.delete(answer.request);
  markHeld(document);
};

const send = async (answer) => {
  if (answer.sent) return;
  answer.sent = true;
  clearInterval(answer.clock);
  say(answer, `${answer.words}.`);
  try {
    const reply = await fetch(answer.action, { method: "POST", body: answer.data, redirect: "manual", keepalive: true });
    if (reply.type === "opaqueredirect") {
      await reload().catch(() => false);
      forget(answer);
      return;
    }
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const why = page.querySelector("[role=alert], [role=status], blockquote") ?? page.body;
    say(answer, `Not taken: ${answer.words}. ${why.textContent.trim()}`, button("Close", () => forget(answer)));
  } catch {
    answer.sent = false;
    say(answer, `Not sent, for the server did not answer: ${answer.words}.`, button("Send again", () => send(answer)));
  }
};

const hold = (form, pressed) => {
  const data = new FormData(form, pressed);
  const request = data.get("request");
  if (pending.has(request)) return;
  data.set("confirmed", "1");
  form.reset();  // else isBusy would block the reload
  const bar = document.querySelector("#held") ?? document.createElement("div");
  if (!bar.id) {
    bar.id = "held";
    bar.setAttribute("role", "status");
    document.body.append(bar);
  }
  const answer = {
    request, data, action: form.action, line: document.createElement("p"),
    words: `${pressed.dataset.done}: ${form.dataset.title}`, ends: Date.now() + UNDO_SECONDS * 1000,
  };
  const undo = async () => {
    forget(answer);
    await go(`/decide?${new URLSearchParams({ request })}`);
    const remark = document.querySelector("main [name=reason]");
    if (remark) remark.value = data.get("reason");
  };
  say(answer, answer.words, button("Undo", undo));
  const tell = () => {
    const seconds = Math.ceil((answer.ends - Date.now()) / 1000);
    answer.left.textContent = ` ${seconds} s`;
    if (seconds <= 0) send(answer);
  };
  answer.clock = setInterval(tell, 500);
  tell();
  bar.append(answer.line);
  pending.set(request, answer);
  markHeld(document);
  const listed = [...document.querySelectorAll("main [data-request]")];
  const here = listed.findIndex((each) => each.dataset.request === request);
  const next = [...listed.slice(here + 1), ...listed.slice(0, here + 1)].find((each) => !pending.has(each.dataset.request));
  if (!next) return;
  document.activeElement.blur();  // else the same button of the next request would get the focus
  go(next.querySelector("a").href).then(() => scrollTo(0, 0));
};

const markHeld = (main) => {
  for (const each of main.querySelectorAll("[data-request]")) {
    each.classList.toggle("given", pending.has(each.dataset.request));
  }
  for (const form of main.querySelectorAll("form[data-held]")) {
    form.inert = pending.has(form.elements.request.value);
  }
};

const prepareHeld = (form) => form.addEventListener("submit", (event) => {
  event.preventDefault();
  const remark = form.elements.reason;
  if (event.submitter.value === "commented" && !remark.value.trim()) {
    remark.placeholder = "Write the comment first";
    remark.focus();
    return;
  }
  hold(form, event.submitter);
});

// Leaving the page would send pending answers; moving within it does not.
const prepareStep = (link) => link.addEventListener("click", (event) => {
  if (!pending.size || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.href);
});

addEventListener("pagehide", () => {
  for (const answer of pending.values()) {
    if (!answer.sent) answer.sent = navigator.sendBeacon(answer.action, answer.data);
  }
});
addEventListener("pageshow", (event) => {
  if (event.persisted && (pending.size || document.querySelector("form[data-sent]"))) location.reload();
});

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !event.key) return;
  if (event.target.matches?.("input, select, textarea")) return;
  const shortcut = [...document.querySelectorAll("main button[data-key]")]
    .find((each) => each.dataset.key === event.key.toLowerCase() && each.checkVisibility() && !each.closest("[inert]"));
  if (!shortcut) return;
  event.preventDefault();
  shortcut.click();
});

const prepareFile = (field) => field.addEventListener("change", () => {
  const most = Number(field.dataset.mostBytes);
  const large = [...field.files].some((file) => file.size > most);
  field.setCustomValidity(large ? `This file is larger than ${Math.floor(most / 1e6)} MB.` : "");
  field.reportValidity();
});

// A cursor over all panels of a chart, moved by pointer or arrow keys.
const prepareCursor = (chart) => {
  const last = Math.max(...[...chart.querySelectorAll(".cursor")].map((each) => Number(each.dataset.at)));
  let at = last;
  const show = (place) => {
    at = Math.max(0, Math.min(last, place));
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

// Ctrl+Enter submits a multi-line text.
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
  main.querySelectorAll("form[data-once]").forEach(sendOnce);
  main.querySelectorAll("form[data-held]").forEach(prepareHeld);
  main.querySelectorAll("[data-request] a").forEach(prepareStep);
  markHeld(main);
  prepareCitations(main);
};

// Reloading must not discard what a reader is typing or choosing.
const isBusy = (main) => main.contains(document.activeElement)
  && document.activeElement.matches("input, select, textarea, [data-keep]")
  || [...main.querySelectorAll("textarea")].some((each) => each.value !== each.defaultValue);

// Replace this page by another one; open folds and focus are kept.
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

const reload = async () => {
  const main = document.querySelector("main[data-live]");
  if (!main || document.hidden || isBusy(main)) return false;
  await put(location.href);
  return true;
};

prepare(document.querySelector("main"));

if (document.querySelector("main[data-live]")) {
  let pageVersion = "", newestVersion = "";
  const follow = async () => {
    if (newestVersion !== pageVersion && await reload().catch(() => false)) pageVersion = newestVersion;
  };
  const changes = new EventSource("/changes");
  changes.addEventListener("change", (event) => { newestVersion = event.data; follow(); });
  addEventListener("focusout", () => setTimeout(follow));
  document.addEventListener("visibilitychange", follow);
}
