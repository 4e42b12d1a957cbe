// Finds a model while one types, and gives the found one to the select Model.
const ROWS = "a[data-model]";
const found = (place) => [...place.querySelectorAll(`section:not([hidden]) li:not([hidden]) > ${ROWS}`)];
const texts = new WeakMap();

document.addEventListener("input", (event) => {
  const place = event.target.closest?.("[data-find]");
  if (place && event.target.type === "search") filter(place, event.target.value);
});

document.addEventListener("submit", (event) => {
  const place = event.target.closest("[data-find]");
  const row = place && event.target.querySelector("[type=search]")?.value && found(place)[0];
  if (!row) return;
  event.preventDefault();
  event.stopPropagation();
  row.click();
}, true);

document.addEventListener("keydown", (event) => {
  const place = event.target.closest?.("[data-find]");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!place || !step) return;
  event.preventDefault();
  const rows = found(place);
  const at = rows.indexOf(event.target) + step;
  (rows[Math.min(at, rows.length - 1)] ?? place.querySelector("[type=search]")).focus();
});

document.addEventListener("click", (event) => {
  const row = event.target.closest?.(ROWS);
  const select = document.querySelector("select[data-models]");
  if (!row || !select) return;
  event.preventDefault();
  choose(select, row.dataset);
  row.closest("dialog")?.close();
  (document.getElementById("message") ?? select).focus();
});

// The dialog is kept, so that what is chosen may have changed since it was open before.
document.addEventListener("opened", ({ target }) => {
  const chosen = document.querySelector("select[data-models]")?.value;
  for (const row of target.querySelectorAll(ROWS)) {
    if (row.dataset.model === chosen) row.ariaCurrent = "true";
    else row.removeAttribute("aria-current");
  }
  target.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
});

function filter(place, text) {
  const words = text.toLowerCase().split(/\s+/);
  let count = 0;
  for (const section of place.querySelectorAll("section")) {
    let some = false;
    for (const item of section.querySelectorAll("li")) {
      if (!texts.has(item)) texts.set(item, `${section.dataset.label} ${item.textContent}`.toLowerCase());
      const fits = words.every((word) => texts.get(item).includes(word));
      if (item.hidden === fits) item.hidden = !fits;
      if (fits) count += 1, (some = true);
    }
    section.hidden = text.trim() !== "" && !some;
  }
  place.querySelector("#unlisted").replaceChildren();
  place.querySelector("[role=status]").textContent = text.trim() ? counted(count) : "";
}

function counted(count) {
  if (count === 0) return "No model here is called that. Press Enter to look for one by its full name.";
  return count === 1 ? "1 model" : `${count} models`;
}

function choose(select, { model, label, provider, efforts, usual }) {
  if (![...select.options].some((option) => option.value === model)) {
    const option = new Option(label, model);
    option.dataset.efforts = efforts;
    if (usual) option.dataset.usual = usual;
    group(select, provider).append(option);
  }
  select.value = model;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}

function group(select, label) {
  const there = [...select.querySelectorAll("optgroup")].find((one) => one.label === label);
  const made = there ?? Object.assign(document.createElement("optgroup"), { label });
  if (!there) select.append(made);
  return made;
}
