// The open end of an answer: letters take their shape as they come. It makes text and the few elements of the list below, and nothing
// else; links and formulas come from the server as pieces, and each block once more from there when it is finished.
import { letters, marked } from "./seams.js";
import { shapes } from "./shapes.js";

const NAMES = new Set("p h1 h2 h3 h4 h5 h6 hr ul ol li blockquote div span small pre code strong em s sup sub kbd mark details summary br i input table thead tbody tr th td".split(" "));
const ATTRIBUTES = new Set("class align start type disabled checked tabindex role aria-label colspan data-display data-said".split(" "));
// Each takes the side of its own script.
const DIRECTED = new Set("p h1 h2 h3 h4 h5 h6 li blockquote th td summary".split(" "));
// Of each body: its letters behind the finished blocks, what the server made of pieces of them, and what was known at the last look.
const ends = new WeakMap();
const made = new WeakMap();
// Tables that keep their columns.
const held = new Set();

const parsed = (html) => {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
};
const growing = (body) => [...body.children].filter((child) => "growing" in child.dataset);
const end = (body) => {
  if (!ends.has(body)) ends.set(body, { source: "", seams: [], pieces: new Map(), marks: new Map(), known: new Map() });
  return ends.get(body);
};

export function write(body, said) {
  end(body).source += said;
}

// What stands behind the finished blocks from now on. `cut`: where in it the text was cut, and when, in words.
export function begin(body, said, cut = []) {
  const it = end(body);
  it.source = said;
  it.seams = cut.map(([place, words]) => [letters(shapes(said.slice(0, place)).list), words]);
}

// HTML of the server for a link or a formula that stands in these letters.
export function piece(body, source, html) {
  const { pieces, known } = end(body);
  pieces.set(source, parsed(html));
  known.clear();
}

export function paint(body) {
  const it = end(body), fresh = new Map();
  const { list, notes } = shapes(it.source, { pieces: it.pieces, marks: it.marks, known: it.known, fresh });
  it.known = fresh;
  const old = growing(body);
  const seamed = it.seams.reduce((made, [count, words]) => marked(made, count, words), list);
  const shown = [...seamed, ...footnotes(it, notes)];
  shown.forEach((shape, place) => {
    const node = fitted(old[place], shape, it);
    if (node === old[place]) return;
    node.dataset.growing = "";
    old[place] ? old[place].replaceWith(node) : body.append(node);
  });
  for (const child of old.slice(shown.length)) child.remove();
  for (const table of body.querySelectorAll("[data-growing] table, table[data-growing]")) if (isWhole(table)) hold(table);
}

// Notes are told at the end of all; until then they stand behind what grows, in the order in which they came.
function footnotes(it, notes) {
  it.notes ??= new Map();
  for (const [label, list] of notes) it.notes.set(label, list);
  const points = [...it.notes.values()].map((list) => ["li", {}, list]);
  return points.length ? [["div", { class: "footnotes" }, [["ol", {}, points]]]] : [];
}

// The node itself where it can take this shape, else another.
function fitted(node, shape, it) {
  if (typeof shape === "string") {
    if (node?.nodeType !== Node.TEXT_NODE) return document.createTextNode(shape);
    if (node.data !== shape) shape.startsWith(node.data) ? node.appendData(shape.slice(node.data.length)) : (node.data = shape);
    return node;
  }
  const before = node && made.get(node);
  if (before === shape) return node;
  const [name, attributes, kids] = shape;
  const same = before && before[0] === name && (name !== "piece" || before[1].source === attributes.source);
  const element = same ? node : created(name, attributes, it);
  made.set(element, shape);
  if (name === "piece") return element;
  if (name === "well") return named(element, attributes.name), filled(element.querySelector("code"), kids, it), element;
  for (const { name: old } of [...element.attributes]) if (ATTRIBUTES.has(old) && !(old in attributes)) element.removeAttribute(old);
  for (const [key, value] of Object.entries(attributes)) {
    if (ATTRIBUTES.has(key) && element.getAttribute(key) !== value) element.setAttribute(key, value);
  }
  filled(element, kids, it);
  return element;
}

function created(name, { source }, it) {
  if (name === "piece") return it.pieces.get(source).cloneNode(true);
  if (name === "well") return document.getElementById("well").content.firstElementChild.cloneNode(true);
  const element = document.createElement(NAMES.has(name) ? name : "span");
  if (DIRECTED.has(name)) element.dir = "auto";
  return element;
}

function filled(element, kids, it) {
  const old = [...element.childNodes];
  kids.forEach((kid, place) => {
    const node = fitted(old[place], kid, it);
    if (node === old[place]) return;
    old[place] ? old[place].replaceWith(node) : element.append(node);
  });
  for (const node of old.slice(kids.length)) node.remove();
}

// The head of the well that the page brings along says `text`.
function named(well, name) {
  if (well.dataset.lang === name) return;
  const words = document.createTreeWalker(well.querySelector("header"), NodeFilter.SHOW_TEXT), old = well.dataset.lang || "text";
  while (words.nextNode()) {
    if (words.currentNode.data.trim() === old) words.currentNode.data = words.currentNode.data.replace(old, () => name || "text");
  }
  well.dataset.lang = name;
}

// Tables

// Once its first row is there, a table keeps its columns until the answer is complete.
const isWhole = (table) => !held.has(table) && made.get(table.parentElement)?.[1].whole;

function hold(table) {
  const whole = table.getBoundingClientRect().width;
  const heads = [...table.rows[0].cells], widths = heads.map((cell) => cell.getBoundingClientRect().width);
  if (!whole) return;
  heads.forEach((cell, place) => cell.setAttribute("width", `${((100 * widths[place]) / whole).toFixed(2)}%`));
  table.className = "held";
  held.add(table);
}

const LIVE = new Set(["queued", "running", "waiting"]);

export function release() {
  for (const table of held) {
    if (table.isConnected && LIVE.has(table.closest("article")?.dataset.status)) continue;
    table.removeAttribute("class");
    for (const cell of table.rows[0].cells) cell.removeAttribute("width");
    held.delete(table);
  }
}

// Finished blocks

// The block at that place: what grew there becomes it, node by node, so that who has selected some of it keeps that.
export function finish(body, place, html, swap) {
  const fresh = parsed(html), old = body.children[place];
  if (!old) return body.append(fresh);
  if (!("growing" in old.dataset)) {
    if (!old.isEqualNode(plain(fresh, old))) swap(old, fresh);
    return;
  }
  adopt(old, fresh);
}

// A table that is held is another by its widths alone.
function plain(fresh, old) {
  const tables = [...old.querySelectorAll("table")].filter((table) => held.has(table));
  if (!tables.length) return fresh;
  const copy = fresh.cloneNode(true), twins = copy.querySelectorAll("table");
  [...old.querySelectorAll("table")].forEach((table, at) => {
    if (!held.has(table) || !twins[at]) return;
    twins[at].className = table.className;
    [...table.rows[0].cells].forEach((cell, column) => twins[at].rows[0].cells[column]?.setAttribute("width", cell.getAttribute("width")));
  });
  return copy;
}

// How a table is held, and what its reader has opened.
const KEPT = { table: "class", th: "width", details: "open" };
const isGap = (node) => node.nodeType === Node.TEXT_NODE && !node.data.trim();

function adopt(old, fresh) {
  made.delete(old);
  if (old.nodeName !== fresh.nodeName) return old.replaceWith(fresh);
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !(KEPT[old.localName] === name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  // A node that stays is not moved, since that would end a selection in it.
  let next = old.firstChild;
  const dropped = () => {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  };
  for (const child of [...fresh.childNodes]) {
    if (isGap(child)) {
      old.insertBefore(child, next);
      continue;
    }
    while (next && isGap(next)) dropped();
    if (next?.nodeName === child.nodeName) {
      adopt(next, child);
      next = next.nextSibling;
    } else {
      old.insertBefore(child, next);
      if (next?.nextSibling) dropped();
    }
  }
  while (next) dropped();
}

// All is said: nothing grows any more.
export function settle(body) {
  for (const child of growing(body)) child.remove();
  ends.delete(body);
}

export const stop = (body) => {
  for (const child of growing(body)) child.remove();
};
