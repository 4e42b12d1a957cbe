// Buttons that stand outside of their form say themselves where it goes and what they add to it.
document.addEventListener("htmx:configRequest", ({ detail }) => {
  const button = detail.triggeringEvent?.submitter;
  if (!button || detail.elt !== button.form || detail.elt.contains(button)) return;
  if (button.hasAttribute("formaction")) detail.path = button.getAttribute("formaction");
  if (button.name) detail.formData.set(button.name, button.value);
});
