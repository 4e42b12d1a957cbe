// A chosen theme is seen at once; that it is kept is the form's work.
document.addEventListener("change", (event) => {
  if (event.target.name !== "theme") return;
  document.documentElement.dataset.theme = event.target.value;
});
