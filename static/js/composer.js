// The keys of the composer: Enter sends, keeps for later or breaks the line, Escape stops, arrow-up edits the last question; and its height.
// A question that is being edited is sent by the same keys, and left by Escape.
const touch = matchMedia("(pointer: coarse)");
const button = (box) => box.form.querySelector("#send button");
const waits = (form) => "next" in form.elements && !("instead" in form.elements);
const stops = (box) => button(box)?.hasAttribute("formaction");
// An input method takes these keys for itself.
const composing = (event) => event.isComposing || event.keyCode === 229;

const sends = (event) => {
  const enter = document.getElementById("message")?.hasAttribute("data-enter-sends");
  return event.ctrlKey || event.metaKey || (enter && !touch.matches && !event.altKey);
};

const keys = {
  Enter(event, box) {
    if (event.shiftKey || !sends(event)) return false;
    if (!stops(box)) box.form.requestSubmit(button(box));
    else if (box.value.trim()) box.form.elements.keep.click();
    return true;
  },
  Escape(event, box) {
    if (stops(box)) button(box).click();
    return stops(box);
  },
  ArrowUp(event, box) {
    const edit = [...document.querySelectorAll('article[data-role="user"] [aria-label="Edit"]')].at(-1);
    if (box.value === "") edit?.click();
    return box.value === "" && Boolean(edit);
  },
};

document.addEventListener("keydown", (event) => {
  const box = event.target.closest?.("#message");
  if (box && !composing(event) && keys[event.key]?.(event, box)) event.preventDefault();
});

const editKeys = {
  Enter(event, box) {
    if (event.shiftKey || !sends(event)) return false;
    box.form.requestSubmit(box.form.querySelector("button[data-main]"));
    return true;
  },
  Escape(event, box) {
    box.form.querySelector("[data-cancel-edit]").click();
    return true;
  },
};

document.addEventListener("keydown", (event) => {
  const box = event.target.closest?.(".edit textarea");
  if (box && !composing(event) && editKeys[event.key]?.(event, box)) event.preventDefault();
});

// Whoever opens a page to ask can type at once.
const thread = document.getElementById("thread");
if (!touch.matches && (!thread || "answering" in thread.dataset) && document.activeElement === document.body) {
  document.getElementById("message")?.focus({ preventScroll: true });
}

// The second click of a double click would meet what has taken the place of the first: Stop that of Send, a question the one before.
document.addEventListener("click", (event) => {
  if (event.detail > 1 && event.target.closest?.("#send, .asks .row")) event.stopImmediatePropagation(), event.preventDefault();
}, true);

document.addEventListener("submit", (event) => {
  if (event.target.id !== "composer") return;
  const box = event.target.elements.text;
  // Later: htmx forgets which button was pressed when that loses the focus.
  if (!touch.matches) setTimeout(() => box.focus());
  if (box.value.trim() || waits(event.target) || event.submitter?.name === "example" || event.submitter?.hasAttribute("formaction")) return;
  event.preventDefault();
  event.stopPropagation();
}, true);

if (!CSS.supports("field-sizing", "content")) {
  document.addEventListener("input", (event) => {
    if (event.target.id !== "message") return;
    event.target.style.height = "auto";
    event.target.style.height = `${event.target.scrollHeight}px`;
  });
}
