// The efforts that can be chosen are those of the chosen model.
document.addEventListener("change", (event) => {
  if (event.target.matches("select[data-models]")) follow(event.target);
});
// A browser may bring back what was chosen before a reload.
document.querySelectorAll("select[data-models]").forEach(follow);

function follow(models) {
  const place = models.form.querySelector("[data-effort]");
  if (!place) return;
  const select = place.querySelector("select");
  const words = JSON.parse(select.dataset.words);
  const before = select.value;
  const values = choices(models.selectedOptions[0].dataset.efforts);
  for (const option of [...select.options]) option.remove();
  select.append(...values.map((value) => new Option(words[value] ?? value, value)));
  select.value = values.includes(before) ? before : "";
  place.hidden = values.length === 0;
}

function choices(efforts) {
  const known = efforts.split(" ").filter(Boolean);
  const off = known.filter((value) => value === "off");
  return known.length ? [...off, "", ...known.filter((value) => value !== "off")] : [];
}
