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
  const { efforts, usual = "" } = models.selectedOptions[0].dataset;
  // What was chosen goes along to another model; what was only proposed makes place for its proposal.
  const wanted = select.value === select.dataset.usual ? usual : select.value;
  const values = choices(efforts);
  for (const option of [...select.options]) option.remove();
  select.append(...values.map((value) => new Option(words[value] ?? value, value)));
  select.value = values.includes(wanted) ? wanted : values.includes(usual) ? usual : "";
  select.dataset.usual = usual;
  place.hidden = values.length === 0;
}

function choices(efforts) {
  const known = efforts.split(" ").filter(Boolean);
  const off = known.filter((value) => value === "off");
  return known.length ? [...off, "", ...known.filter((value) => value !== "off")] : [];
}
