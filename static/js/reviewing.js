// The page of a review: a note begins where one can write at once and is never lost, what others say appears by itself, and keys lead
// through messages, notes and verdict.
import { current, keys } from "./keys.js";
import { chooseNext, chosen, letter, mark, unmark } from "./passages.js";

const byId = (id) => document.getElementById(id);
const reading = document.querySelector(".reading");
const over = byId("over"), blank = byId("passage-form");
const articleOf = (note) => note.closest(".notes")?.previousElementSibling;
const boxIn = (place) => place.querySelector("textarea");

// Writing

// At once: what is typed next belongs into it.
function write(details) {
  details.open = true;
  boxIn(details).focus();
  return true;
}

reading.addEventListener("click", (event) => {
  const details = event.target.closest("summary")?.parentElement;
  if (details?.matches(".writing") && !details.open) event.preventDefault(), write(details);
  const fresh = event.target.closest("[data-discard]")?.closest(".note");
  if (fresh) discard(fresh);
});

reading.addEventListener("keydown", (event) => {
  const box = event.target;
  if (!box.matches("textarea") || event.isComposing) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.preventDefault(), box.form.requestSubmit();
  if (event.key === "Escape") leave(box), event.preventDefault();
});

// It stays as it was written.
function leave(box) {
  const details = box.closest(".writing");
  if (!details) return void stand(box.closest(".note, .card"));
  details.open = false;
  details.querySelector("summary").focus();
}

// A note on words

const names = ["message", "item", "begins", "quote"];
let made = 0;

function beginNote(place, text = "") {
  const notes = document.querySelector(`[data-notes="${place.message}"]`);
  if (!notes) return false;
  const note = blank.content.firstElementChild.cloneNode(true);
  const form = note.querySelector("form");
  note.id = `note-new-${++made}`;
  Object.assign(note.dataset, { item: place.item, quote: place.quote, begins: place.begins });
  note.querySelector("q").textContent = place.quote.replace(/\s+/g, " ");
  for (const name of names) form.elements.namedItem(name).value = place[name];
  form.querySelector(".error").id = form.dataset.refused = `refused-${note.id}`;
  boxIn(form).dataset.draft = form.dataset.places + encodeURIComponent(JSON.stringify(place));
  boxIn(form).value = text;
  notes.querySelector(".threads").append(note);
  globalThis.htmx?.process(note);
  mark(note, articleOf(note));
  letter();
  return boxIn(form);
}

function noteOnChosen() {
  const found = chosen();
  if (!found?.quote || !blank) return false;
  const message = found.item.closest("article").dataset.messageId;
  const box = beginNote({ message, item: found.item.dataset.itemKey, begins: found.begins, quote: found.quote });
  getSelection().removeAllRanges();
  box.focus();
  return true;
}

function discard(note) {
  const heir = articleOf(note);
  boxIn(note).value = "";
  drop(note);
  stand(heir);
}

// With its draft.
function drop(note) {
  boxIn(note)?.dispatchEvent(new Event("input", { bubbles: true }));
  unmark(note);
  note.remove();
  letter();
}

function bringBackNotes() {
  const prefix = `draft:${blank.content.querySelector("form").dataset.places}`;
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(prefix)) beginNote(JSON.parse(decodeURIComponent(key.slice(prefix.length))), localStorage.getItem(key));
  }
}

// The words that are selected, and what can be done with them

function showOver() {
  const found = chosen();
  over.hidden = !found?.quote;
  if (over.hidden) return;
  const [words, around] = [found.range.getBoundingClientRect(), reading.getBoundingClientRect()];
  const left = Math.min(words.left - around.left, around.width - over.offsetWidth);
  over.style.left = `${Math.max(0, left)}px`;
  over.style.top = `${words.top - around.top - over.offsetHeight - 6}px`;
}

if (blank) {
  reading.append(over);
  document.addEventListener("selectionchange", showOver);
  over.addEventListener("pointerdown", (event) => event.preventDefault());
  over.addEventListener("click", ({ target }) => {
    if (target.closest("[data-note]")) noteOnChosen();
    else if (target.closest("[data-copy-words]")) navigator.clipboard?.writeText(getSelection().toString());
  });
}

// What comes

const inside = (place) => place.contains(document.activeElement);

// The notes that the page did not have, and what stands otherwise now; what is being written stays. The last thing that came, if any.
function merge(html, { mine = false } = {}) {
  const page = new DOMParser().parseFromString(html, "text/html");
  if (isDecided(page) && !isDecided(document)) return location.reload();
  const came = [...page.querySelectorAll(".threads > .note")].flatMap(comeIn);
  const otherwise = [...page.querySelectorAll("[data-stands]")].filter(standOtherwise);
  letter();
  if (came.length && !mine) tell(came);
  return came.at(-1) ?? otherwise[0];
}

// What all have said stands beside what they said it of: a reload has all of that, and what is being written.
const isDecided = (page) => "decided" in (page.getElementById("brief")?.dataset ?? {});

function comeIn(fresh) {
  const old = byId(fresh.id);
  if (!old) {
    const threads = byId(fresh.parentElement.id);
    if (!threads) return [];
    threads.insertBefore(fresh, threads.querySelector("[data-new]"));
    adopt(fresh);
    mark(fresh, articleOf(fresh));
    return [...fresh.querySelectorAll(".said-so")];
  }
  const said = [...fresh.querySelectorAll(".said-so")].filter((one) => !byId(one.id));
  old.querySelector(".writing").before(...said);
  return said;
}

function adopt(fresh) {
  globalThis.htmx?.process(fresh);
  fresh.dispatchEvent(new Event("came", { bubbles: true }));
}

function standOtherwise(fresh) {
  const old = byId(fresh.id);
  if (!old && fresh.parentElement?.id) byId(fresh.parentElement.id)?.append(fresh);
  if (!old || old.dataset.stands === fresh.dataset.stands) return false;
  const had = inside(old);
  old.replaceWith(fresh);
  adopt(fresh);
  if (had) stand(fresh);
  return true;
}

function tell(came) {
  for (const said of came) {
    const now = document.createElement("p");
    [now.className, now.textContent] = ["arrived", "came just now"];
    said.append(now);
  }
  const by = [...new Set(came.map((said) => said.dataset.by))].join(", ");
  byId("told").textContent = `${by}: ${came.length === 1 ? "a new note" : `${came.length} new notes`}`;
}

// What a form does may be the end of this page.
let leaving = false;
document.addEventListener("submit", ({ target }) => (leaving ||= !target.hasAttribute("hx-post")));

const page = (headers) => fetch(location.pathname + location.search, { cache: "no-store", headers }).catch(() => null);

// What is new may stand on another branch: it counts as seen when it came into this page.
let looking = false, missed = false, sending = 0;
async function look() {
  missed = looking || document.hidden || sending > 0;
  if (missed || leaving) return;
  looking = true;
  const answer = await page({ Looking: "1" });
  if (answer?.ok && !answer.redirected && merge(await answer.text())) await page();
  looking = false;
  if (missed) look();
}

document.addEventListener("changed", ({ detail }) => detail === "reviews" && look());
document.addEventListener("visibilitychange", () => missed && look());

// What was sent, and taken. Until the reply is there, that is how it comes into the page.

const isOurs = (form) => Boolean(form?.matches?.(".notes form, #rate"));

document.addEventListener("htmx:beforeSend", ({ detail }) => isOurs(detail.requestConfig.elt) && sending++);

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const form = detail.requestConfig?.elt;
  if (!isOurs(form)) return;
  sending = Math.max(0, sending - 1);
  if (detail.successful) form.id === "rate" ? rated(form, detail) : noted(form, detail);
  if (missed) look();
});

function noted(form, { xhr, requestConfig }) {
  const threads = form.closest(".threads");
  const box = boxIn(form), note = form.closest("[data-new]"), had = inside(form) || document.activeElement === document.body;
  // What was typed since then stays.
  if (box && box.value === requestConfig.formData.get(box.name)) taken(box, note);
  merge(xhr.responseText, { mine: true });
  if (!had) return;
  if (note && !note.isConnected) stand(threads.lastElementChild);
  else if (form.isConnected) box?.focus();
}

// Ratings are kept as they are made.
document.addEventListener("change", ({ target }) => target.form?.id === "rate" && target.form.requestSubmit());

function rated(form, { xhr, requestConfig }) {
  for (const box of form.elements) {
    if (box.localName !== "textarea" || box.value !== requestConfig.formData.get(box.name)) continue;
    box.defaultValue = box.value;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
  merge(xhr.responseText, { mine: true });
}

function taken(box, note) {
  box.value = "";
  if (note) drop(note);
  else box.dispatchEvent(new Event("input", { bubbles: true }));
}

// Keys

function stand(place) {
  if (!place) return false;
  if (place.tabIndex < 0) place.tabIndex = -1;
  place.focus({ preventScroll: true });
  place.scrollIntoView({ block: "nearest" });
  return true;
}

function stepToNote(by) {
  const all = [...document.querySelectorAll(".threads > .note")];
  const here = all.findIndex(inside);
  return stand(all[here < 0 ? (by < 0 ? all.length - 1 : 0) : here + by]);
}

function note() {
  if (noteOnChosen()) return true;
  const notes = document.activeElement.closest(".notes") ?? current()?.nextElementSibling ?? document.querySelector(".notes");
  const details = document.activeElement.closest(".note")?.querySelector(".writing") ?? notes?.querySelector(":scope > .writing");
  return details ? write(details) : false;
}

function verdict() {
  const place = byId("verdict");
  const first = place?.querySelector("input:enabled:not([type=hidden])");
  return first ? (first.focus(), true) : stand(place);
}

Object.assign(keys, {
  n: note,
  v: verdict,
  p: () => Boolean(blank) && chooseNext(current() ?? document.querySelector("article[data-role=assistant]")),
  ",": () => stepToNote(-1),
  ".": () => stepToNote(1),
});

// The label of a thought belongs to it.
for (const label of document.querySelectorAll(".mark[data-of]")) byId(label.dataset.of)?.after(label);
for (const one of document.querySelectorAll(".note[data-quote]")) mark(one, articleOf(one));
if (blank) bringBackNotes();
letter();
