// Copies what a button names: a message as Markdown (data-copy: its address), the code around it (data-copy-code), what stands in a
// field (data-copy-of: its id), or a link (data-copy-link: its path). Says that it did, or that the browser did not let it.
const SHOWN_MS = 2000;
const before = new WeakMap();

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy], [data-copy-code], [data-copy-of], [data-copy-link]");
  if (!button) return;
  try {
    await write(await wanted(button));
    say(button, "Copied");
  } catch (problem) {
    say(button, "Not copied", problem.words ?? "Your browser did not allow copying. Select the text and copy it by hand.");
  }
});

async function wanted(button) {
  if (button.hasAttribute("data-copy-code")) return codeOf(button.closest(".code"));
  if (button.hasAttribute("data-copy-of")) return document.getElementById(button.dataset.copyOf).value;
  if (button.hasAttribute("data-copy-link")) return new URL(button.dataset.copyLink, location.href).href;
  const answer = await fetch(button.dataset.copy).catch(() => ({ ok: false }));
  if (!answer.ok || answer.redirected) throw { words: "The server did not give the text. Try again." };
  return answer.text();
}

// What is folded is a piece of its own.
const codeOf = (block) => [...block.querySelectorAll("pre")].map((piece) => piece.textContent).join("");

// A page that came over plain HTTP has no clipboard of its own, only the old way.
async function write(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = Object.assign(document.createElement("textarea"), { value: text, className: "unseen" });
  const focused = document.activeElement;
  // Inside an open dialog nothing outside of it can be selected.
  (focused.parentElement ?? document.body).append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focused.focus();
  if (!done) throw new Error("refused");
}

function say(button, word, news = word) {
  const line = document.getElementById("news");
  if (line) line.textContent = news;
  if (!before.has(button)) before.set(button, { nodes: [...button.childNodes] });
  const kept = before.get(button);
  const icon = kept.nodes.map((node) => node.cloneNode(true));
  const said = Object.assign(document.createElement("span"), { className: "said", textContent: word });
  button.replaceChildren(...icon, said);
  clearTimeout(kept.timer);
  kept.timer = setTimeout(() => {
    button.replaceChildren(...kept.nodes);
    before.delete(button);
  }, SHOWN_MS);
}
