// A question that was not sent, since the answer before it was stopped, failed or asks, comes back into the composer where nothing is
// written there. What waits on the server stays what it is until it is sent, saved or removed: another page may do that, too.
const box = () => document.getElementById("message");
const card = () => document.querySelector("#next .next[data-back]");
const words = (one) => one?.querySelector(".words").textContent;
const own = box()?.dataset.draft;
// For what it came back: once for each end of an answer, so that it can be put away again.
let came = null, removed = null;

function look() {
  const one = card(), field = box();
  if (!field?.dataset.asks || !(one || came || "begun" in field.dataset)) return;
  if ("begun" in field.dataset && words(one) !== field.dataset.begun) leave(field, one);
  if (one && one.dataset.back !== came && !field.value) take(field, one);
  came = one ? one.dataset.back : null;
  mark(field, one);
}

function take(field, one) {
  rename(field, one.dataset.words, words(one));
  field.value = words(one);
  field.dispatchEvent(new Event("renamed", { bubbles: true }));
  grown(field);
}

// Nothing typed is lost: where the answer goes on it is saved with what waits, else it stays there as one's own.
function leave(field, one) {
  // Changed by another page: it comes back once more.
  if (field.value === field.dataset.begun) came = null;
  const typed = [field.dataset.begun, removed].includes(field.value) ? "" : field.value;
  write(field, "");
  rename(field, own);
  // Another page may have typed something there, which an empty box would make forgotten.
  if (typed) write(field, typed);
  const waits = document.querySelector("#next .next[data-saves]");
  if (typed.trim() && waits && !one) save(field, waits, typed);
}

async function save(field, waits, typed) {
  await globalThis.htmx.ajax("POST", waits.dataset.saves, { source: "#next-acts", swap: "none", values: { next_text: typed } });
  const kept = document.querySelector("#next .words")?.textContent;
  if (kept === typed.trim() && field.value === typed) write(field, "");
}

// The words stand in the composer: above it only why, and how they are taken away. Who empties the box sees them above again, since they
// still wait.
function cover(field, one) {
  one?.toggleAttribute("data-taken", "begun" in field.dataset && field.value !== "");
}

function mark(field, one) {
  const back = one && "begun" in field.dataset;
  document.querySelector("#next [name=instead]")?.remove();
  cover(field, one);
  if (back) field.setAttribute("aria-describedby", "next-when");
  else field.removeAttribute("aria-describedby");
  if (!back) return;
  const hidden = Object.assign(document.createElement("input"), { type: "hidden", name: "instead", value: one.dataset.edition });
  hidden.setAttribute("form", "composer");
  one.append(hidden);
}

function rename(field, name, begun) {
  field.dataset.draft = name;
  if (begun === undefined) delete field.dataset.begun;
  else field.dataset.begun = begun;
}

const grown = (field) => field.dispatchEvent(new Event("input", { bubbles: true }));

function write(field, value) {
  field.value = value;
  grown(field);
}

document.addEventListener("submit", ({ target, submitter }) => {
  removed = target.id === "next-acts" && submitter?.matches("[data-remove]") ? box().value : null;
});
document.addEventListener("asked", () => {
  if ("begun" in (box()?.dataset ?? {})) leave(box(), card()), look();
});
box()?.addEventListener("input", () => cover(box(), card()));
document.addEventListener("news", look);
document.addEventListener("htmx:afterSettle", look);
look();
