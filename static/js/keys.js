// The keys that work everywhere outside of fields: the list of them under "?", and one letter for each thing to do.
// Who is disturbed by letters switches them off, in this browser.
const SILENT = "letters";
const off = () => localStorage.getItem(SILENT) === "off";
const writing = (element) => element.closest?.("input, textarea, select, [contenteditable], [data-writing]");
const messages = () => [...document.querySelectorAll("article[data-message-id]")];
export const current = () => document.activeElement?.closest?.("article[data-message-id]");
const press = (element) => (element?.click(), Boolean(element));
// Whoever goes on before the next branch has come goes on from there; a key that is held down asks for no more than one.
const ahead = [];
const underway = () => document.querySelector("#act.htmx-request");
// Whoever goes from branch to branch stands on the picker, and is there again whatever comes in its place.
const turn = (way, held) => {
  if (underway()) return held || ahead.push(way), true;
  const one = button(":has(.branches)", `[aria-label="${way} branch"]`);
  one?.focus({ preventScroll: true });
  return press(one);
};
const button = (fits, name) => {
  const article = current() ?? messages().findLast((one) => one.matches(fits));
  return article?.querySelector(`:scope > .acts ${name}`);
};
const answer = () => {
  const chosen = current();
  return chosen?.dataset.role === "assistant" ? chosen : messages().findLast((one) => one.dataset.role === "assistant");
};

// A page may have other things to do.
export const keys = {
  "?": () => (document.getElementById("keys")?.showModal(), true),
  "/": () => find(document.querySelector(".list [type=search], .page [type=search]")),
  Escape: () => press(document.querySelector("#send [formaction], #leads [form=stop]")),
  i: () => find(document.getElementById("message")),
  n: () => press(document.querySelector(".list a.button")),
  j: () => step(1),
  k: () => step(-1),
  h: (held) => turn("Previous", held),
  l: (held) => turn("Next", held),
  m: () => press(document.querySelector('.top a[href$="/map/"]')),
  "[": () => press(document.querySelector('.page a[rel="prev"]')),
  "]": () => press(document.querySelector('.page a[rel="next"]')),
  u: () => press(document.querySelector(".page a[data-up]")),
  f: () => find(document.querySelector("[data-filters] select")),
  r: () => press(answer()?.querySelector('[aria-label="Ask again"]')),
  c: () => press(button("*", '[aria-label="Copy"]')),
  t: () => fold([...(answer()?.querySelectorAll("details.thought") ?? [])]),
  T: () => fold([...(answer()?.querySelectorAll(":scope > details.timeline") ?? [])]),
  End: () => press(document.querySelector("[data-latest]:not([hidden])")),
};

// A link that is a button is pressed with the space bar too.
document.addEventListener("keydown", (event) => {
  if (event.key !== " " || !event.target.matches?.('a[role="button"]')) return;
  event.preventDefault();
  event.target.click();
});

document.addEventListener("keydown", (event) => {
  const taken = event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented;
  // A popover closes by Escape; that is enough for one key.
  if (event.key === "Escape" && document.querySelector(":popover-open")) return;
  if (taken || off() || writing(event.target) || document.querySelector("dialog[open]")) return;
  if (keys[event.key]?.(event.repeat)) event.preventDefault();
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.requestConfig?.elt.id !== "act") return;
  if (!detail.successful) ahead.length = 0;
  while (ahead.length && !underway()) turn(ahead.shift());
});

document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-keys]")) document.getElementById("keys").showModal();
});

const switches = () => document.querySelectorAll("[data-letters]");
const show = () => switches().forEach((one) => (one.checked = !off()));
document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-letters]")) return;
  if (event.target.checked) localStorage.removeItem(SILENT);
  else localStorage.setItem(SILENT, "off");
  show();
});
show();

// From message to message; on a page without any, from row to row.
function step(by) {
  const rows = [...document.querySelectorAll("[data-rows] tbody th > a")];
  if (rows.length) return walk(rows, by);
  const all = messages();
  const from = all.indexOf(current());
  const next = all[from < 0 ? (by < 0 ? all.length - 1 : 0) : from + by];
  if (!next) return false;
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "start" });
  return true;
}

function walk(rows, by) {
  const from = rows.indexOf(document.activeElement);
  const next = rows[from < 0 ? (by < 0 ? rows.length - 1 : 0) : from + by];
  next?.focus();
  return Boolean(next);
}

function fold(details) {
  const open = details.some((one) => !one.open);
  for (const one of details) one.open = open;
  return details.length > 0;
}

function find(field) {
  const list = field?.closest("[popover]");
  if (list && !list.checkVisibility()) list.showPopover();
  field?.focus();
  return Boolean(field);
}
