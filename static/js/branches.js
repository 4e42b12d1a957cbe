// After another branch has taken the place of the one on screen, the reader is where they were: same height, same button.
let left = null, focused = false;

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  focused = document.activeElement !== document.body;
  const asked = detail.requestConfig;
  const link = asked?.elt.matches("a") ? asked.elt : null;
  const pressed = asked?.triggeringEvent?.submitter ?? link;
  const stands = document.activeElement;
  // A key presses a button from afar: whoever stands on a picker stays there. And what was pressed may be gone, since its answer ended.
  const button = stands.closest("[data-place]") || !pressed?.isConnected ? stands : pressed;
  const article = button?.closest?.("article");
  if (detail.target?.id !== "thread" || !article) return (left = null);
  const group = button.closest("[data-place]");
  left = {
    place: group?.dataset.place,
    label: button.matches("[data-cancel-edit]") ? "Edit" : button.getAttribute("aria-label"),
    id: article.id,
    top: article.getBoundingClientRect().top,
    stood: stands === article,
  };
});

document.addEventListener("htmx:afterSettle", ({ detail }) => {
  if (detail.target?.id !== "thread" && detail.elt?.id !== "thread") return;
  detail.elt.closest?.("dialog")?.close();
  setTimeout(keepFocus);
  if (!left) return;
  const group = left.place === undefined ? null : document.querySelector(`[data-place="${CSS.escape(left.place)}"]`);
  const article = group?.closest("article") ?? document.getElementById(left.id) ?? [...document.querySelectorAll("article")].at(-1);
  if (!article) return;
  document.scrollingElement.scrollTop += article.getBoundingClientRect().top - left.top;
  const wanted = article.querySelector(`[aria-label="${CSS.escape(left.label ?? "")}"]`);
  const heir = wanted && !wanted.disabled ? wanted : group?.querySelector("button:not(:disabled)");
  if (left.stood && !heir) article.tabIndex = -1;
  (heir ?? (left.stood ? article : null))?.focus({ preventScroll: true });
  keepFocus();
  left = null;
});

// What had the focus is gone for good: where one writes is never far.
function keepFocus() {
  if (focused && document.activeElement === document.body) document.getElementById("message")?.focus({ preventScroll: true });
}

// The question that is being edited is written on where it ends.
document.addEventListener("htmx:afterSettle", ({ detail }) => {
  const box = detail.target?.querySelector?.(".edit textarea");
  if (!box) return;
  box.focus();
  box.setSelectionRange(box.value.length, box.value.length);
});
