// The list of conversations: tells the server the zone in which days are counted here, and keeps the focus in the list
// when a row that was used goes away or comes anew.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const known = document.cookie.split("; ").includes(`zone=${zone}`);
const list = () => document.querySelector("[data-list]");

if (zone && !known) {
  document.cookie = `zone=${zone}; path=/; max-age=31536000; samesite=lax`;
  // In the administration no list stands beside the page.
  addEventListener("load", () => list() && globalThis.htmx?.trigger(list(), "relist"));
}

let left = [];

document.addEventListener("submit", (event) => {
  const row = event.submitter?.closest(".titles > li");
  if (row) left = [row, row.nextElementSibling, row.previousElementSibling].map((one) => one?.id);
});

document.addEventListener("gone", (event) => document.getElementById(event.detail.row)?.remove());

document.addEventListener("htmx:afterRequest", (event) => {
  if (event.target.id !== "list-commands" || document.activeElement !== document.body) return;
  const row = left.map((id) => id && document.getElementById(id)).find(Boolean);
  (row?.querySelector("a") ?? list())?.focus({ preventScroll: true });
});
