// The question that waits above the composer: its keys while it is edited, what is typed meanwhile, and where the focus goes.
const touch = matchMedia("(pointer: coarse)");
const message = () => document.getElementById("message");
const later = () => document.getElementById("later");
const shown = () => document.querySelector("#next .next");
// The box as it stood there the last time, and what was typed into it and not saved.
let box = later(), typed = box && box.value !== box.defaultValue ? box.value : "", place = 0;

const keys = {
  Enter(event) {
    if (event.shiftKey || !(event.ctrlKey || event.metaKey || (message().hasAttribute("data-enter-sends") && !touch.matches))) return;
    return "[data-save]";
  },
  Escape: () => "[data-leave]",
};

document.addEventListener("keydown", (event) => {
  if (event.target !== later() || event.isComposing || event.keyCode === 229 || event.altKey) return;
  const button = keys[event.key]?.(event);
  if (!button) return;
  event.preventDefault();
  shown().querySelector(button).click();
});

document.addEventListener("input", ({ target }) => {
  if (target === later()) [typed, place] = [target.value, target.selectionStart];
});

// Saved or left by this page: nothing typed is lost by it. Where that is refused, it stands there still.
document.addEventListener("submit", ({ target }) => {
  if (target.id === "next-acts") typed = "";
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!detail.successful && detail.elt.id === "next-acts" && later()) typed = later().value;
});

function look() {
  if (!message()?.dataset.asks) return;
  message().placeholder = shown() && !("begun" in message().dataset) ? message().dataset.adds : message().dataset.asks;
  if (later() !== box) exchanged(box, later());
  box = later();
  if (document.activeElement?.id === "next") message().focus({ preventScroll: true });
}

// What is typed goes on in the box that came in place of another; or in the composer, where another page saved or sent the question.
function exchanged(old, fresh) {
  if (fresh && typed) fresh.value = typed;
  if (fresh && fresh === document.activeElement) fresh.selectionStart = fresh.selectionEnd = old ? place : fresh.value.length;
  if (fresh || !typed) return;
  message().value = [message().value, typed].filter(Boolean).join("\n\n");
  typed = "";
  message().dispatchEvent(new Event("input", { bubbles: true }));
}

document.addEventListener("news", look);
document.addEventListener("htmx:afterSettle", look);
