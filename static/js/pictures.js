// A diagram as a picture, above its code. Whoever draws it is shut in: a frame without an origin, whose own policy lets it reach nothing.
const FRAME = "/picture/", TALLEST = 4000;

document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("[data-picture]");
  if (!button) return;
  const block = button.closest(".code"), shown = block.querySelectorAll(":scope > :is(iframe, .problem)");
  button.setAttribute("aria-expanded", String(!shown.length));
  if (shown.length) for (const one of shown) one.remove();
  else block.querySelector("header").after(frame());
});

function frame() {
  const made = document.createElement("iframe");
  made.setAttribute("sandbox", "allow-scripts");
  made.title = "Picture of the diagram";
  made.src = FRAME;
  return made;
}

const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "")) === "dark";

addEventListener("message", ({ source, data }) => {
  const asked = [...document.querySelectorAll(".code > iframe")].find((one) => one.contentWindow === source);
  if (!asked) return;
  if (data?.ready) asked.contentWindow.postMessage({ diagram: asked.parentElement.querySelector("pre").textContent, dark: isDark() }, "*");
  else if (Number.isFinite(data?.height)) asked.style.height = `${Math.min(Math.max(data.height, 16), TALLEST)}px`;
  else if (typeof data?.problem === "string") asked.replaceWith(problem(data.problem));
});

function problem(words) {
  const made = document.createElement("p");
  made.className = "problem";
  made.setAttribute("role", "status");
  made.textContent = `This diagram cannot be drawn. ${words.slice(0, 1000)}`;
  return made;
}
