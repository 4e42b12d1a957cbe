// What the file will be called and about how large it will be, as it is chosen. Switches that a format has no use for are off.
const OUR_JSON = "json";
const MARKDOWN = "markdown";

document.addEventListener("opened", ({ target }) => tell(target.querySelector?.("[data-export]")));
document.addEventListener("change", ({ target }) => tell(target.closest?.("[data-export]")));
// The dialog has done what it was opened for; a page of its own stays.
document.addEventListener("submit", ({ target }) => {
  if (target.matches?.("dialog [data-export]")) setTimeout(() => target.closest("dialog").close());
});
tell(document.querySelector("[data-export]"));

function tell(form) {
  if (!form) return;
  const extent = form.querySelector("[name=extent]:checked").dataset;
  const format = form.querySelector("[name=format]:checked");
  const [thoughts, tools] = ["thoughts", "tools"].map((name) => form.elements[name]);
  for (const box of [thoughts, tools]) box.disabled = format.value !== MARKDOWN;
  const parts = [extent.words, thoughts.checked && extent.thoughts, tools.checked && extent.tools];
  const words = parts.reduce((sum, part) => sum + Number(part || 0), 0);
  const size = format.value === MARKDOWN ? words : Number(extent.json) * (format.value === OUR_JSON ? 1 : 1.5);
  const piece = form.querySelector("[data-piece]");
  piece.textContent = `${piece.dataset.piece}.${format.dataset.ending}, ${inWords(size)}`;
}

function inWords(size) {
  if (size < 950) return "under 1 kB";
  const [value, unit] = size < 999_500 ? [size / 1e3, "kB"] : [size / 1e6, "MB"];
  return `about ${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}
