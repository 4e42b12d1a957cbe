// What is being written survives a reload, a failed send and a sign-in: it stays in this browser until it was asked.
// So does a question in other words, until its form is left, and what is written in a review, until it is sent.
const PREFIX = "draft:";
const composer = document.querySelector("#message[data-draft]");
let sent = null;

const name = (box) => PREFIX + box.dataset.draft;
const forget = (box) => localStorage.removeItem(name(box));
// What an edit begins with is no draft. Into the composer a question comes back.
const begun = (box) => (box === composer ? (box.dataset.begun ?? "") : box.defaultValue);
const keep = (box) => (box.value && box.value !== begun(box) ? localStorage.setItem(name(box), box.value) : forget(box));

document.addEventListener("input", ({ target }) => target.matches?.("[data-draft]") && keep(target));

// What was typed before this script came is the newer draft.
function bringBack(box) {
  if (box.value !== begun(box)) return keep(box);
  const draft = localStorage.getItem(name(box));
  if (draft) write(box, draft);
}

function write(box, words) {
  box.value = words;
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

if (composer) bringBack(composer);
document.addEventListener("renamed", ({ target }) => bringBack(target));
// A question that waits, and was being edited. Where it is not saved, its box is still there.
const later = () => document.querySelector("#next [data-draft]");
if (later()) bringBack(later());
document.addEventListener("htmx:afterRequest", () => later() && keep(later()));

// Those of a review go when they were taken; a note that comes later brings a box of its own.
function bringBackOfReview(within) {
  for (const box of within.querySelectorAll(".notes [data-draft]")) {
    bringBack(box);
    if (box.value && box.closest("details")) box.closest("details").open = true;
  }
}
bringBackOfReview(document);
document.addEventListener("came", ({ target }) => bringBackOfReview(target));

document.addEventListener("htmx:afterSwap", ({ target, detail }) => {
  const left = detail.successful && detail.requestConfig?.elt.closest(".edit")?.querySelector("[data-draft]");
  if (left) forget(left);
  const opened = target.querySelector(".edit [data-draft]");
  if (opened) bringBack(opened);
});

document.addEventListener("submit", (event) => {
  if (event.target === composer?.form) sent = ["example", "alone"].includes(event.submitter?.name) ? null : composer.value;
  if (later()?.form === event.target) forget(later());
  if (new URL(event.target.action).pathname === "/accounts/logout/") forgetAll(document.querySelector("[data-user]").dataset.user);
});

// Said by whoever brings the server's yes into the page; a first question leads to another page.
document.addEventListener("asked", clear);
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => {
  if (detail.elt === composer?.form && detail.xhr.getResponseHeader("HX-Redirect")) clear();
});

// What was typed since then stays.
function clear() {
  if (composer && composer.value === sent) write(composer, "");
}

function forgetAll(user) {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(`${PREFIX}${user}/`)) localStorage.removeItem(key);
  }
}
