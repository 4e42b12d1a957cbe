// Words of what is read: which are selected, and where those stand that notes speak of. A place is kept as the words themselves and
// how many letters of their item stand before them, so that it is found again also where the page shows the item a little otherwise.
const NO_WORDS = "header, button, annotation, .unseen, .passage > a";
const ITEMS = ["user_message", "assistant_message", "reasoning"].map((kind) => `.reading [data-kind=${kind}]`).join();
const BLOCKS = "p, li, blockquote, pre, h1, h2, h3, h4, h5, h6, td, th";
const body = (item) => (item.matches("[data-body]") ? item : item.querySelector("[data-body]"));

function texts(item) {
  const walker = document.createTreeWalker(body(item), NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(NO_WORDS)) found.push(walker.currentNode);
  return found;
}

// What is selected: its item, its words, and how many letters stand before them.
export function chosen() {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const begin = range.startContainer;
  const item = (begin.nodeType === Node.TEXT_NODE ? begin.parentElement : begin).closest(ITEMS);
  return item && body(item)?.contains(begin) ? { item, range, ...within(item, range) } : null;
}

function within(item, range) {
  let begins = -1, quote = "", before = 0;
  for (const node of texts(item)) {
    const from = node === range.startContainer ? range.startOffset : 0;
    const to = node === range.endContainer ? range.endOffset : node.length;
    if (range.intersectsNode(node) && from < to) {
      if (begins < 0) begins = before + from;
      quote += node.data.slice(from, to);
    }
    before += node.length;
  }
  return { begins: begins + quote.length - quote.trimStart().length, quote: quote.trim() };
}

// For whoever has no mouse: one paragraph after the other; the arrows with Shift make it shorter or longer.
export function chooseNext(article) {
  const all = [...article.querySelectorAll(BLOCKS)].filter(
    (one) => one.closest(ITEMS) && one.checkVisibility() && !one.querySelector(BLOCKS) && one.textContent.trim(),
  );
  const selection = getSelection();
  const here = all.findLastIndex((one) => selection.rangeCount && selection.containsNode(one, true));
  const next = all[here + 1] ?? all[0];
  if (!next) return false;
  selection.selectAllChildren(next);
  next.scrollIntoView({ block: "nearest" });
  return true;
}

export function unmark(note) {
  for (const mark of document.querySelectorAll(`mark[data-of="${note.id}"]`)) {
    mark.querySelector("a")?.remove();
    const parent = mark.parentElement;
    mark.replaceWith(...mark.childNodes);
    parent.normalize();
  }
}

// Marks what this note speaks of, where it still stands.
export function mark(note, article) {
  const { item: key, quote, begins } = note.dataset;
  const item = article?.querySelector(`[data-item-key="${CSS.escape(key)}"]`);
  if (!item || !body(item)) return;
  const nodes = texts(item);
  const begin = place(nodes.map((node) => node.data).join(""), quote, Number(begins));
  if (begin < 0) return;
  const marks = [...wrapped(nodes, begin, begin + quote.length)];
  for (const one of marks) {
    one.dataset.of = note.id;
    if ("new" in note.dataset) one.dataset.new = "";
  }
  if (!marks.length) return;
  marks[0].id = note.id.replace("note", "passage");
  const way = document.createElement("a");
  way.href = `#${note.id}`;
  marks.at(-1).append(way);
}

function place(words, quote, begins) {
  if (words.startsWith(quote, begins)) return begins;
  const [before, after] = [words.lastIndexOf(quote, begins), words.indexOf(quote, begins)];
  return before < 0 || (after >= 0 && after - begins < begins - before) ? after : before;
}

function* wrapped(nodes, begin, end) {
  let before = 0;
  for (const node of nodes) {
    const [from, to] = [Math.max(begin - before, 0), Math.min(end - before, node.length)];
    before += node.length;
    // White space between blocks has no place for a mark, and neither has a formula.
    if (from >= to || !node.data.slice(from, to).trim() || node.parentElement.closest("math")) continue;
    const range = document.createRange();
    range.setStart(node, from);
    range.setEnd(node, to);
    const one = document.createElement("mark");
    one.className = "passage";
    range.surroundContents(one);
    yield one;
  }
}

// Each note on words and those words have a letter in common.
export function letter() {
  document.querySelectorAll(".note[data-quote]").forEach((note, place) => {
    const sign = String.fromCharCode(97 + (place % 26)) + (place >= 26 ? Math.floor(place / 26) : "");
    note.querySelector(".place b").textContent = sign;
    const way = document.querySelector(`mark[data-of="${note.id}"] > a`);
    if (way) [way.textContent, way.ariaLabel] = [sign, `Note ${sign}`];
  });
}
