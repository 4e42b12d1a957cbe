// Whether long lines of code are wrapped: each block has its switch, which needs no script. This browser remembers what was chosen
// last, for the blocks that come; those that stand there stay as they are, so that nothing moves under its reader.
const KEY = "wrap";
let wraps = remembered();

function remembered() {
  try {
    return localStorage.getItem(KEY) === "1";
  } catch {
    return false;
  }
}

function remember() {
  try {
    wraps ? localStorage.setItem(KEY, "1") : localStorage.removeItem(KEY);
  } catch {
    // It holds for this page.
  }
}

function wrap(element) {
  for (const one of element.querySelectorAll("input[data-wrap]")) one.checked = true;
}

document.addEventListener("change", ({ target }) => {
  if (!target.matches?.("input[data-wrap]")) return;
  wraps = target.checked;
  remember();
});

if (wraps) wrap(document);
new MutationObserver((changes) => {
  if (!wraps) return;
  for (const { addedNodes } of changes) for (const node of addedNodes) if (node.nodeType === Node.ELEMENT_NODE) wrap(node);
}).observe(document.body, { childList: true, subtree: true });
