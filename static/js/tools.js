// The switches of the tools: each is saved when it is moved, and goes back where that was refused. They are asked for anew when
// they are opened, since another page may have moved them. Among many, a field finds one.
const pop = () => document.getElementById("tools");
const switches = () => [...document.querySelectorAll("#tools-list [name=tools]")];

function count() {
  const button = document.querySelector("[data-tools]");
  if (!button) return;
  const on = switches().filter((one) => one.checked).length;
  button.querySelector("b").textContent = on;
  button.ariaLabel = `Tools, ${on} on`;
}

document.addEventListener("change", (event) => event.target.closest?.("#tools-list") && count());

// Only the one that was moved is told: the others may stand here as they were before somebody else moved them.
let moves = 0;
document.addEventListener("htmx:configRequest", ({ detail }) => {
  const moved = detail.triggeringEvent?.target;
  detail.moves = moves;
  if (!detail.elt.matches("[data-switches]") || moved?.name !== "tools") return;
  detail.formData.delete("tools");
  detail.formData.set("tool", moved.value);
  if (moved.checked) detail.formData.set("on", "1");
  moves += 1;
});

// A list that was asked for before would show it as it was.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { elt, moves: before } = detail.requestConfig;
  if (elt.id === "tools-list" && before !== moves) detail.shouldSwap = false;
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!detail.requestConfig?.elt.matches("[data-switches]") || detail.successful) return;
  const moved = detail.requestConfig.triggeringEvent?.target;
  if (moved?.name !== "tools") return;
  moved.checked = !detail.requestConfig.formData.has("on");
  count();
});

document.addEventListener("toggle", (event) => {
  if (event.target !== pop() || event.newState !== "open") return;
  document.getElementById("tools-told").textContent = "";
  globalThis.htmx?.trigger("#tools-list", "refresh");
}, true);

document.addEventListener("htmx:afterSwap", () => (count(), find()));

function find() {
  const words = (pop()?.querySelector("[data-find-tool]")?.value ?? "").toLowerCase().split(/\s+/);
  for (const group of document.querySelectorAll("#tools-list fieldset")) {
    const rows = [...group.querySelectorAll("label")];
    for (const row of rows) {
      const text = `${row.dataset.tool} ${row.textContent}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    group.hidden = rows.every((row) => row.hidden);
  }
}

document.addEventListener("input", (event) => event.target.matches?.("[data-find-tool]") && find());
count();
