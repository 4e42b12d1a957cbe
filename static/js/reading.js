// Reading is calm: the view follows the end only while the reader is there; earlier messages come in above without a jump.
const NEAR = 96;
const page = document.scrollingElement;
const latest = () => document.querySelector("[data-latest]");
const toEnd = () => page.scrollHeight - innerHeight - page.scrollTop;
let following = true;
let steady = null;

history.scrollRestoration = "manual";

function follow() {
  if (following && !dragging()) page.scrollTop = page.scrollHeight;
  show();
}

function dragging() {
  const chosen = getSelection();
  return chosen && !chosen.isCollapsed && document.getElementById("messages")?.contains(chosen.anchorNode) && pressed;
}

function show() {
  if (latest()) latest().hidden = toEnd() < NEAR * 2;
}

let pressed = false;
addEventListener("pointerdown", () => (pressed = true), true);
addEventListener("pointerup", () => (pressed = false), true);
addEventListener("scroll", () => {
  following = toEnd() < NEAR;
  show();
}, { passive: true });

// Whatever made the branch higher: letters, a fold, a font.
const sizes = new ResizeObserver(() => (steady ? hold() : follow()));
const watch = () => document.getElementById("messages") && sizes.observe(document.getElementById("messages"));

// An element that keeps its place on the screen while things above it come and go.
function hold() {
  if (!steady.element.isConnected) return (steady = null);
  page.scrollTop += steady.element.getBoundingClientRect().top - steady.top;
}
function keepInPlace(element) {
  steady = { element, top: element.getBoundingClientRect().top };
  following = false;
  setTimeout(() => (steady = null), 600);
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (!detail.target?.matches?.("[data-earlier]")) return;
  const first = detail.target.parentElement.querySelector("article");
  if (first) keepInPlace(first);
});
document.addEventListener("htmx:afterSettle", () => {
  watch();
  if (steady) hold();
  else show();
});
document.addEventListener("asked", () => {
  following = true;
  requestAnimationFrame(follow);
});
document.addEventListener("click", ({ target }) => {
  if (!target.closest?.("[data-latest]")) return;
  following = true;
  follow();
  document.getElementById("message")?.focus({ preventScroll: true });
});

watch();
if (location.hash) {
  following = false;
  const wanted = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (wanted) {
    wanted.scrollIntoView();
    keepInPlace(wanted);
  }
}
follow();
