// What the page can do beyond links and forms: views that change in place, a timeline that
// fetches what scrolls into sight, zoom by wheel and mouse, keys. Everything it does is an
// address that also works without it.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
const main = $("#main");

// ---- Views in place -------------------------------------------------------------------------

let newest = 0; // The request whose answer counts.
let pending = null;

async function part(address, signal) {
  const answer = await fetch(address, { headers: { "x-part": "1" }, signal });
  return { text: await answer.text(), isGood: answer.ok };
}

// Shows the view of an address; `entry` says what becomes of the history.
async function show(address, entry = "push", keep = null) {
  const number = ++newest;
  pending?.abort();
  pending = new AbortController();
  document.body.classList.add("loading");
  try {
    const { text } = await part(address, pending.signal);
    if (number !== newest) return;
    if (entry === "push") history.pushState(null, "", address);
    if (entry === "replace") history.replaceState(null, "", address);
    const target = keep ? $(keep) : main;
    const parsed = new DOMParser().parseFromString(text, "text/html");
    const inside = keep ? $(keep, parsed) : parsed.body;
    target?.replaceChildren(...(inside ?? parsed.body).childNodes);
    begin();
  } catch (error) {
    if (error.name !== "AbortError") say("the page's server does not answer");
  } finally {
    if (number === newest) document.body.classList.remove("loading");
  }
}

function say(text) {
  const status = $("#status");
  status.textContent = text;
  status.classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => status.classList.remove("shown"), 2500);
}

addEventListener("popstate", () => show(location.href, "none"));

// ---- Timeline: sections fetch their records as they come near --------------------------------

let watcher = null;
let near = new Set();
let queue = [];
let fetching = 0;
const FETCHES = 3;

function beginSections() {
  watcher?.disconnect();
  near = new Set();
  queue = [];
  const sections = $$("section.span[data-cells]");
  if (!sections.length) return;
  watcher = new IntersectionObserver(changed, { rootMargin: "900px 0px" });
  watch(sections);
  const link = $("a[data-sections]");
  if (link) addOlder(link);
}

function watch(sections) {
  measure(sections);
  for (const section of sections) watcher.observe(section);
}

// The sections of older records come after the view itself, in place of the link to them.
async function addOlder(link) {
  let lines = [];
  try {
    const { text, isGood } = await part(link.dataset.sections);
    if (isGood) lines = text.split("\n").filter(Boolean);
  } catch { /* The link stays. */ }
  const place = link.parentElement;
  // In steps, so that no scrolling waits for hundreds.
  for (let at = 0; at < lines.length; at += 60) {
    if (!place.isConnected) return;
    const parsed = new DOMParser().parseFromString(lines.slice(at, at + 60).join(""), "text/html");
    const sections = $$("section", parsed);
    place.before(...parsed.body.childNodes);
    watch(sections);
    await new Promise(requestAnimationFrame);
  }
  if (lines.length) place.remove();
}

// Each section gets its height before its records are here, so that the scroll bar is right.
function measure(sections) {
  const list = $("ol.cells", sections[0]);
  const style = getComputedStyle(list);
  const columns = style.gridTemplateColumns.split(" ").length;
  const row = parseFloat(style.gridAutoRows) || 236;
  const gap = parseFloat(style.rowGap) || 12;
  const heights = sections.map((section) => {
    const rows = Math.max(1, Math.ceil(section.dataset.count / columns));
    return `${rows * row + (rows - 1) * gap}px`;
  });
  sections.forEach((section, at) => { section.lastElementChild.style.height = heights[at]; });
}

function changed(entries) {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) {
      near.add(target);
      if (!target.lastElementChild.firstElementChild) queue.push(target);
    } else {
      near.delete(target);
      const list = target.lastElementChild;
      // What is far away goes; its height stays.
      if (list.firstElementChild && !list.contains(document.activeElement)) list.replaceChildren();
    }
  }
  fetchNext();
}

async function fetchNext() {
  while (fetching < FETCHES && queue.length) {
    // The last to come near is what is looked at now.
    const section = queue.pop();
    if (!near.has(section) || !section.isConnected) continue;
    fetching += 1;
    fill(section).finally(() => { fetching -= 1; fetchNext(); });
  }
}

async function fill(section) {
  try {
    const { text, isGood } = await part(section.dataset.cells);
    if (!isGood || !near.has(section)) return;
    const list = section.lastElementChild;
    if (list.firstElementChild) return;
    const parsed = new DOMParser().parseFromString(`<ol>${text}</ol>`, "text/html");
    const cells = [...parsed.body.firstElementChild.children];
    // In steps, so that no scrolling waits for a section of hundreds.
    for (let at = 0; at < cells.length; at += 60) {
      list.append(...cells.slice(at, at + 60));
      markPicked(list);
      if (at + 60 < cells.length) await new Promise(requestAnimationFrame);
    }
  } catch { /* Fetched again when it comes near again. */ }
}

// ---- Timeline: the strip ---------------------------------------------------------------------

function beginStrip() {
  const strip = $("#strip");
  if (!strip) return;
  const from = +strip.dataset.from;
  const to = +strip.dataset.to;
  const at = (event) => {
    const box = strip.getBoundingClientRect();
    return from + (to - from) * Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const brush = $(".brush", strip);
  let start = null;
  let isDragged = false;
  strip.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    start = event.clientX;
    isDragged = false;
  });
  strip.addEventListener("dragstart", (event) => event.preventDefault());
  strip.addEventListener("pointermove", (event) => {
    if (start === null || Math.abs(event.clientX - start) < 5) return;
    if (!isDragged) strip.setPointerCapture(event.pointerId);
    isDragged = true;
    const box = strip.getBoundingClientRect();
    const ends = [start, Math.min(box.right, Math.max(box.left, event.clientX))].sort((a, b) => a - b);
    brush.hidden = false;
    brush.style.left = `${ends[0] - box.left}px`;
    brush.style.width = `${ends[1] - ends[0]}px`;
  });
  strip.addEventListener("pointerup", (event) => {
    if (start === null) return;
    const box = strip.getBoundingClientRect();
    const first = from + (to - from) * (start - box.left) / box.width;
    start = null;
    if (!isDragged) return;
    const ends = [first, at(event)].sort((a, b) => a - b);
    showWindow(ends[0], Math.max(ends[1], ends[0] + 1), "push");
  });
  // A drag that ends on a bar is no click on it.
  strip.addEventListener("click", (event) => { if (isDragged) event.preventDefault(); }, true);
  strip.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY) && !event.deltaY) return;
    event.preventDefault();
    const span = to - from;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = span * event.deltaX / strip.clientWidth;
      later(from + by, to + by);
      return;
    }
    const by = Math.exp(event.deltaY / 300);
    const centre = at(event);
    later(centre - (centre - from) * by, centre + (to - centre) * by);
  }, { passive: false });
}

// Turns of a wheel come by dozens; one view answers them.
let wheel = null;
function later(from, to) {
  clearTimeout(wheel);
  wheel = setTimeout(() => showWindow(from, Math.max(to, from + 1), "replace"), 60);
}

function showWindow(from, to, entry) {
  const address = new URL(location.href);
  address.searchParams.set("from", Math.max(0, from).toFixed(to - from > 20 ? 0 : 3));
  address.searchParams.set("to", to.toFixed(to - from > 20 ? 0 : 3));
  show(address.href, entry);
}

// Marks on the strip what is looked at below.
let marking = false;
addEventListener("scroll", () => {
  if (marking) return;
  marking = true;
  requestAnimationFrame(() => { marking = false; mark(); });
}, { passive: true });

function mark() {
  const strip = $("#strip");
  if (!strip) return;
  const top = Math.max(64, strip.getBoundingClientRect().bottom + 42);
  let seen = null;
  for (const section of near) {
    const box = section.getBoundingClientRect();
    if (box.bottom > top && (!seen || box.top < seen.box.top)) seen = { section, box };
  }
  const here = $(".here", strip);
  here.hidden = !seen || scrollY < 40;
  if (!seen) return;
  const { from, to } = seen.section.dataset;
  const share = Math.min(1, Math.max(0, (top - seen.box.top) / seen.box.height));
  const time = +to - (to - from) * share;
  const whole = strip.dataset.to - strip.dataset.from;
  here.style.left = `${100 * (time - strip.dataset.from) / whole}%`;
}

// ---- Map: an area is drawn from its centre ---------------------------------------------------

function beginMap() {
  const svg = $("#map svg");
  if (!svg) return;
  const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  let centre = null;
  let circle = null;
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  svg.addEventListener("pointerdown", (event) => { if (event.button === 0) centre = at(event); });
  svg.addEventListener("pointermove", (event) => {
    if (!centre) return;
    const edge = at(event);
    const radius = Math.hypot(edge.x - centre.x, edge.y - centre.y);
    if (!circle) {
      if (radius * svg.getScreenCTM().a < 6) return;
      $(".area", svg)?.remove();
      circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      circle.setAttribute("class", "area");
      svg.append(circle);
      svg.setPointerCapture(event.pointerId);
    }
    for (const [name, value] of [["cx", centre.x], ["cy", centre.y], ["r", radius]]) circle.setAttribute(name, value);
  });
  svg.addEventListener("pointerup", () => {
    const drawn = circle && [centre.x, -centre.y, +circle.getAttribute("r")].map((it) => it.toFixed(2));
    centre = circle = null;
    if (!drawn) return;
    const address = new URL(location.href);
    address.searchParams.set("area", drawn.join(","));
    show(address.href);
  });
}

// ---- Picking records -------------------------------------------------------------------------

const picked = new Set();
let lastPicked = null;

main.addEventListener("change", (event) => {
  const box = event.target;
  if (box.name !== "ids" || !box.closest(".cell")) return;
  pick(box, box.checked);
});
main.addEventListener("click", (event) => {
  const box = event.target.closest?.(".pick input");
  if (!box || !event.shiftKey || !lastPicked?.isConnected) { if (box) lastPicked = box; return; }
  const boxes = $$(".pick input");
  const ends = [boxes.indexOf(lastPicked), boxes.indexOf(box)].sort((a, b) => a - b);
  for (const between of boxes.slice(ends[0], ends[1] + 1)) pick(between, box.checked);
  lastPicked = box;
});

function pick(box, isPicked) {
  box.checked = isPicked;
  if (isPicked) picked.add(box.value); else picked.delete(box.value);
  box.closest(".cell").classList.toggle("picked", isPicked);
  showPicked();
}

function markPicked(within) {
  if (!picked.size) return;
  for (const cell of $$(".cell", within)) {
    if (!picked.has(cell.dataset.id)) continue;
    cell.classList.add("picked");
    $(".pick input", cell).checked = true;
  }
}

function showPicked() {
  document.body.classList.toggle("picking", picked.size > 0);
  const count = $("#picked-count");
  if (count) count.textContent = `${picked.size} selected`;
}

main.addEventListener("reset", (event) => {
  if (event.target.id !== "picked") return;
  picked.clear();
  for (const cell of $$(".cell.picked")) {
    cell.classList.remove("picked");
    $(".pick input", cell).checked = false;
  }
  showPicked();
});

// ---- Links and forms in place ----------------------------------------------------------------

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey
    || event.shiftKey || event.altKey || link.target || link.hasAttribute("download")) return;
  const address = new URL(link.href.baseVal ?? link.href, location.href);
  if (address.origin !== location.origin || address.pathname !== location.pathname || !link.closest("main")) return;
  if (address.hash && address.search === location.search) return;
  event.preventDefault();
  show(address.href);
});

function addressOf(form) {
  const address = new URL(form.getAttribute("action") || location.pathname, location.href);
  for (const [name, value] of new FormData(form)) {
    if (value !== "") address.searchParams.append(name, value);
  }
  return address.href;
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.id === "picked") {
    event.preventDefault();
    location.href = `/forget?scope=episodic&ids=${[...picked].join(",")}`;
    return;
  }
  if (!form.hasAttribute("data-live")) return;
  event.preventDefault();
  show(addressOf(form), "push", form.dataset.live || null);
});

main.addEventListener("change", (event) => {
  const form = event.target.form;
  if (form?.hasAttribute("data-live")) show(addressOf(form), "push", form.dataset.live || null);
});

let typing = null;
main.addEventListener("input", (event) => {
  const form = event.target.form;
  if (!form?.dataset.live || event.target.type !== "search") return;
  clearTimeout(typing);
  typing = setTimeout(() => show(addressOf(form), "replace", form.dataset.live), 120);
});

// ---- Keys ------------------------------------------------------------------------------------

const KEYS = [
  ["/", "search"], ["j k", "next and previous record"], ["Enter", "open it"], ["x", "select it"],
  ["Esc", "clear the selection"], ["+ −", "zoom in and out"], ["h l", "earlier and later"],
  ["0", "everything"], ["g t", "timeline"], ["g s", "search"], ["g m", "map"], ["g k", "kept"],
  ["g f", "forget"], ["g h", "health"], ["t", "dark or light"], ["?", "these keys"],
];
const PLACES = { t: "/", s: "/search", m: "/map", k: "/kept", f: "/forget", h: "/health" };
let isGoing = false;

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, key } = event;
  const isTyping = target.matches?.("input:not([type=checkbox]), textarea, select");
  if (isTyping) {
    if (key === "Escape") target.blur();
    return;
  }
  if ($("dialog[open]")) return;
  const wasGoing = isGoing;
  isGoing = false;
  if (wasGoing && PLACES[key]) { location.href = PLACES[key]; return; }
  const press = (id) => $(`#${id}`)?.click();
  const keys = {
    g: () => { isGoing = true; },
    "/": () => { const field = $("input[type=search]"); if (field) field.focus(); else location.href = "/search"; },
    "?": help, t: theme,
    j: () => step(1), k: () => step(-1),
    x: () => { const box = $(".pick input", target.closest?.(".cell") ?? undefined); if (target.closest?.(".cell") && box) pick(box, !box.checked); },
    "+": () => press("in"), "=": () => press("in"), "-": () => press("out"),
    h: () => press("earlier"), l: () => press("later"), 0: () => press("all"),
    "[": () => press("previous"), "]": () => press("next"),
    Escape: () => $("#picked")?.reset(),
  };
  if (!keys[key]) return;
  event.preventDefault();
  keys[key]();
});

function step(by) {
  const links = $$(".cell > a");
  if (!links.length) return;
  const at = links.indexOf(document.activeElement);
  const next = at < 0 ? links.find((it) => it.getBoundingClientRect().top > Math.max(60, $("#strip")?.getBoundingClientRect().bottom ?? 0)) : links[at + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function help() {
  let dialog = $("#keys");
  if (!dialog) {
    dialog = document.createElement("dialog");
    dialog.id = "keys";
    dialog.setAttribute("aria-label", "Keys");
    const list = document.createElement("dl");
    for (const [keys, what] of KEYS) {
      const term = document.createElement("dt");
      for (const key of keys.split(" ")) {
        const cap = document.createElement("kbd");
        cap.textContent = key;
        term.append(cap, " ");
      }
      const meaning = document.createElement("dd");
      meaning.textContent = what;
      list.append(term, meaning);
    }
    const close = document.createElement("button");
    close.textContent = "Close";
    close.addEventListener("click", () => dialog.close());
    dialog.append(list, close);
    document.body.append(dialog);
  }
  dialog.showModal();
}

function theme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
}

// ---- Begin -----------------------------------------------------------------------------------

function begin() {
  beginSections();
  beginStrip();
  beginMap();
  markPicked(document);
  showPicked();
}

const chosen = localStorage.getItem("theme");
if (chosen) document.documentElement.dataset.theme = chosen;
for (const [id, action] of [["theme", theme], ["help", help]]) {
  const button = $(`#${id}`);
  button.hidden = false;
  button.addEventListener("click", action);
}
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  const sections = $$("section.span[data-cells]");
  if (sections.length) measure(sections);
});
begin();
