// A notice of the system when a long thought has ended while nobody looks at the page: by choice, in this browser.
const CHOSEN = "notices", LONG_MS = 10_000;
const REFUSED = "Your browser does not let this page show notices. Allow it there, then switch this on.";
const may = () => globalThis.Notification?.permission === "granted";
const wanted = () => may() && localStorage.getItem(CHOSEN) === "on";

// Thoughts that are open, by their ids, with the moment in which each began.
const open = new Map();

function look() {
  for (const one of document.querySelectorAll('[data-kind="reasoning"][data-open]')) {
    const elapsed = Number(one.querySelector("[data-elapsed-ms]")?.dataset.elapsedMs ?? 0);
    if (!open.has(one.id)) open.set(one.id, performance.now() - elapsed);
  }
  for (const [id, since] of open) {
    const one = document.getElementById(id);
    if (one && "open" in one.dataset) continue;
    open.delete(id);
    if (one && performance.now() - since >= LONG_MS) tell(one);
  }
}

function tell(thought) {
  if (!document.hidden || !wanted()) return;
  const words = thought.querySelector("summary strong")?.textContent ?? "";
  const notice = new Notification(words, { body: document.getElementById("title")?.textContent ?? "", tag: thought.id });
  notice.onclick = () => (window.focus(), thought.scrollIntoView({ block: "nearest" }), notice.close());
}

document.addEventListener("news", look);
look();

const box = document.querySelector("[data-notices]");
if (box) box.checked = wanted();
box?.addEventListener("change", async () => {
  const allowed = !box.checked || (await globalThis.Notification?.requestPermission()) === "granted";
  box.checked &&= allowed;
  document.getElementById("notices-told").textContent = allowed ? "" : REFUSED;
  if (box.checked) localStorage.setItem(CHOSEN, "on");
  else localStorage.removeItem(CHOSEN);
});
