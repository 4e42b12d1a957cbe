// What the letters of a growing answer will be: Markdown as shapes, the open end included. The server renders each block once it is
// finished and has the last word; this is only what stands there until then. A shape is a text, or [name, attributes, children].

const LONGEST = 64_000, DEEPEST = 12, MOST_CELLS = 10_000;
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
const QUOTE = /^ {0,3}> ?/;
const POINT = /^ {0,3}(?:([-+*])|(\d{1,9})([.)]))(?=[ ]|$)/;
const NOTE = /^ {0,3}\[\^([^\]\s]{1,40})\]:[ \t]*/;
const DEFINITION = /^ {0,3}\[[^\]^][^\]]*\]:[ \t]*<?(?:https?:|mailto:)\S*(?:[ \t]+["'(].*)?$/i;
const BETWEEN = /^ {0,3}[|:-][|: \t-]*$/;
const FOLD = /^ {0,3}<details>[ \t]*(.*)$/, FOLD_END = /^ {0,3}<\/details>[ \t]*$/;
const TITLE = /^[ \t]*<summary>([^\n]*?)(?:<\/summary>[ \t]*([^\n]*))?$/;
const BOX = /^\[([ xX])\][ \t]+/;
// A last line that may still become another thing.
const UNDECIDED = /^[ \t]*(?:[-=*+_#|`~$:\\>[ \t]+|\d{1,9}[.)]?|[-+*>\d.)][-+*>\d.) \t]*\[[ xX]?\]?|\[\^[^\]\s]*\]?|\[\d*\]?|<\/?(?:d[a-z]{0,6}|s[a-z]{0,6})?>?)[ \t]*$/;

// No longer line is only signs, or is looked at from its end for more than this.
const SHORT = 80;
const isUndecided = (line) => line.length <= SHORT && UNDECIDED.test(line);

export const CARET = ["i", { class: "caret" }, []];

// Blocks

export function shapes(source, knows = {}) {
  if (source.length > LONGEST) return { list: [["pre", { class: "plain" }, [source]]], notes: [] };
  const text = source.replace(/\r\n?/g, "\n");
  const at = { notes: [], marks: new Map(), depth: 0, ...knows };
  const list = blocks(text.split("\n").map(untabbed), true, at).list;
  return { list, notes: at.notes };
}

const untabbed = (line) => line.replace(/^[ \t]*\t/, (start) => start.replaceAll("\t", "    "));
const isBlank = (line) => !line.trim();
const indent = (line) => line.length - line.trimStart().length;
const isOpening = (line) => /^ {0,3}(?:\$\$|\\\[)/.test(line);

function interrupts(line) {
  const point = POINT.exec(line);
  if (point && !isBlank(line.slice(point[0].length)) && (point[1] || point[2] === "1")) return true;
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || isOpening(line) || NOTE.test(line);
}

// `open`: the last of these lines is the last of the text, and more may come to it.
function blocks(lines, open, at) {
  const list = [];
  let apart = false, place = 0, gap = false;
  if (++at.depth > DEEPEST) return at.depth--, { list: [paragraph(lines, open, at)], apart };
  const end = open && lines.length && isUndecided(lines.at(-1)) && !inFence(lines) ? lines.length - 1 : lines.length;
  while (place < end) {
    if (isBlank(lines[place])) {
      gap = list.length > 0;
      place++;
      continue;
    }
    const [made, next] = block(lines, place, end, open, at);
    if (made.length && gap) apart = true;
    list.push(...made);
    place = next;
    gap = false;
  }
  at.depth--;
  return { list, apart };
}

// Whether the last line stands in a fence that is open.
function inFence(lines) {
  const see = fences();
  return lines.slice(0, -1).reduce((_, line) => see(line), false);
}

// Told line after line: whether a fence is open behind it.
function fences() {
  let fence = "";
  return (line) => {
    if (!fence) fence = FENCE.exec(line)?.[1] ?? "";
    else if (closes(line, fence)) fence = "";
    return Boolean(fence);
  };
}

const closes = (line, fence) => indent(line) < 4 && line.trim().startsWith(fence) && !line.trim().replaceAll(fence[0], "");

// One block from this line on, and the line behind it.
function block(lines, place, end, open, at) {
  const line = lines[place];
  const isLast = (next) => open && (next >= lines.length || (next === lines.length - 1 && isBlank(lines[next])));
  let found;
  if (indent(line) >= 4) return indented(lines, place, end);
  if ((found = FENCE.exec(line))) return fenced(lines, place, found, open);
  if (isOpening(line) && (found = formula(lines, place, end, open, at))) return found;
  if ((found = HEADING.exec(line))) {
    return [[leaf(`h${found[1].length}`, headed(found[2] ?? ""), open && place === lines.length - 1, at)], place + 1];
  }
  if (RULE.test(line)) return [[["hr", {}, []]], place + 1];
  if (QUOTE.test(line)) return quoted(lines, place, end, open, at);
  if (NOTE.test(line)) return noted(lines, place, end, isLast, at);
  if (POINT.test(line)) return pointed(lines, place, end, open, at);
  if ((found = table(lines, place, end, open, at))) return found;
  if (at.depth === 1 && FOLD.test(line) && (found = folded(lines, place, end, open, at))) return found;
  if (DEFINITION.test(line)) return [[], place + 1];
  return paragraphs(lines, place, end, isLast, at);
}

// What folds, from its sign to the one that ends it, others inside. Nobody has opened it yet.
function folded(lines, place, end, open, at) {
  const inner = [FOLD.exec(lines[place])[1]];
  let next = place + 1, depth = 1;
  for (; next < end && depth; next++) {
    depth += FOLD.test(lines[next]) ? 1 : FOLD_END.test(lines[next]) ? -1 : 0;
    if (depth) inner.push(lines[next]);
  }
  if (depth && !open) return null;
  while (inner.length && isBlank(inner[0])) inner.shift();
  const found = TITLE.exec(inner[0] ?? "");
  const title = found ? [["summary", {}, inline(found[1], open && depth > 0 && inner.length === 1 && found[2] === undefined, at)]] : [];
  const rest = found ? [found[2] ?? "", ...inner.slice(1)] : inner;
  return [[["details", {}, [...title, ...blocks(rest, open && depth > 0, at).list]]], next];
}

function paragraphs(lines, place, end, isLast, at) {
  let next = place + 1;
  for (; next < end && !isBlank(lines[next]); next++) {
    const line = UNDERLINE.exec(lines[next]);
    if (line) return [[leaf(line[1][0] === "=" ? "h1" : "h2", joined(lines.slice(place, next)), false, at)], next + 1];
    if (interrupts(lines[next]) || begins(lines, next, end, isLast(next + 1))) break;
  }
  // A line that is held back may go on with this paragraph.
  return [[paragraph(lines.slice(place, next), isLast(next) || (next === end && isLast(end + 1)), at)], next];
}

// Without the signs that close it.
function headed(words) {
  const text = words.trimEnd();
  let end = text.length;
  while (text[end - 1] === "#") end--;
  return end === 0 || /[ \t]/.test(text[end - 1]) ? text.slice(0, end).trimEnd() : text;
}

const joined = (lines) => lines.map((line) => line.trimStart()).join("\n").trimEnd();
const paragraph = (lines, open, at) => leaf("p", open ? lines.map((line) => line.trimStart()).join("\n") : joined(lines), open, at);

function leaf(name, words, open, at) {
  const known = open ? undefined : at.known?.get(`${name} ${words}`);
  const shape = known ?? [name, {}, inline(words, open, at)];
  if (!open) at.fresh?.set(`${name} ${words}`, shape);
  return shape;
}

function indented(lines, place, end) {
  let next = place;
  while (next < end && (isBlank(lines[next]) || indent(lines[next]) >= 4)) next++;
  const text = lines.slice(place, next).map((line) => line.slice(4)).join("\n").trimEnd();
  return [[well("", `${text}\n`)], next];
}

const well = (name, text, open) => ["well", { name }, open ? [text, CARET] : [text]];
const LANGUAGE = /^\{?\.?([\w+#.-]{1,24})/;

function fenced(lines, place, [line, fence, info], open) {
  let next = place + 1;
  while (next < lines.length && !closes(lines[next], fence)) next++;
  const isOpen = open && next >= lines.length;
  const inner = lines.slice(place + 1, next);
  // Its end, half written, is no code.
  if (isOpen && inner.length && /^ {0,3}(?:`+|~+)$/.test(inner.at(-1)) && inner.at(-1).trim()[0] === fence[0]) inner[inner.length - 1] = "";
  const margin = indent(line);
  const text = inner.map((each) => each.slice(Math.min(margin, indent(each)))).join("\n");
  const name = (LANGUAGE.exec(info.trim())?.[1] ?? "").toLowerCase();
  return [[well(name, text && !isOpen ? `${text}\n` : text, isOpen)], next + 1];
}

function formula(lines, place, end, open, at) {
  const first = lines[place].trim(), opener = first.slice(0, 2), closer = opener === "$$" ? "$$" : "\\]";
  const rest = first.slice(2);
  if (rest.includes(closer)) {
    const whole = rest.endsWith(closer) && rest.indexOf(closer) === rest.length - 2 && rest !== closer;
    return whole && [[drawn(first, at)], place + 1];
  }
  for (let next = place + 1; next < lines.length && next < place + 100; next++) {
    const line = lines[next].trim();
    if (line.endsWith(closer)) return [[drawn(lines.slice(place, next + 1).map((each) => each.trim()).join("\n"), at)], next + 1];
    if ((!line && rest) || FENCE.test(line) || isOpening(line)) return null;
  }
  return open && [[FORMING_DISPLAY], lines.length];
}

const FORMING = ["span", { class: "forming" }, ["a formula"]];
const WIDE = { class: "wide", tabindex: "0", role: "group", "aria-label": "Formula" };
const FORMING_DISPLAY = ["div", { class: "wide", role: "group", "aria-label": "A formula is being written" }, [["span", { class: "forming", "data-display": "" }, ["a formula"]]]];
const drawn = (source, at) => (at.pieces?.has(source) ? ["div", WIDE, [["piece", { source }, []]]] : FORMING_DISPLAY);

// Lines of a container: those that bear its sign, and those that go on with a paragraph in it without one.
function quoted(lines, place, end, open, at) {
  const inner = new Inner();
  let next = place;
  for (; next < end; next++) {
    const sign = QUOTE.exec(lines[next]);
    if (sign) inner.add(lines[next].slice(sign[0].length));
    else if (!inner.addLazy(lines[next])) break;
  }
  const isOpen = open && (next === lines.length || (next === end && next === lines.length - 1) || (next === lines.length - 1 && isBlank(lines[next])));
  return [[["blockquote", {}, blocks(inner.lines, isOpen, at).list]], next];
}

class Inner {
  constructor() {
    [this.lines, this.see, this.fenced] = [[], fences(), false];
  }

  add(line) {
    this.lines.push(line);
    this.fenced = this.see(line);
  }

  // Whether it goes on with a paragraph in here. It underlines nothing.
  addLazy(line) {
    const last = this.lines.at(-1) ?? "";
    if (this.fenced || isBlank(line) || isBlank(last) || interrupts(line) || POINT.test(line) || HEADING.test(last) || indent(last) >= 4) return false;
    this.add(UNDERLINE.test(line) ? `\\${line.trimStart()}` : line.trimStart());
    return true;
  }
}

function noted(lines, place, end, isLast, at) {
  const [sign, label] = NOTE.exec(lines[place]);
  const inner = new Inner();
  inner.add(lines[place].slice(sign.length));
  let next = place + 1;
  for (; next < end; next++) {
    if (indent(lines[next]) >= 4) inner.add(lines[next].slice(4));
    else if (!inner.addLazy(lines[next])) break;
  }
  at.notes.push([label, blocks(inner.lines, isLast(next), at).list]);
  return [[], next];
}

const kindOf = (found) => found[1] ?? found[3];

function pointed(lines, place, end, open, at) {
  const first = POINT.exec(lines[place]), items = [];
  let next = place, apart = false, gap = false;
  while (next < end) {
    const found = POINT.exec(lines[next]);
    if (!found || kindOf(found) !== kindOf(first) || RULE.test(lines[next])) break;
    apart ||= gap && items.length > 0;
    const [inner, after] = itemLines(lines, next, end, found);
    const isOpen = open && (after === lines.length || after === end);
    gap = isBlank(inner.at(-1) ?? "") && inner.length > 1;
    items.push(blocks(inner, isOpen, at));
    next = after;
  }
  apart ||= items.some((item) => item.apart);
  const attributes = first[2] && Number(first[2]) !== 1 ? { start: String(Number(first[2])) } : {};
  return [[[first[1] ? "ul" : "ol", attributes, items.map(({ list }) => ["li", {}, item(list, apart)])]], next];
}

function itemLines(lines, place, end, found) {
  const rest = lines[place].slice(found[0].length), spaces = indent(rest);
  const width = found[0].length + (isBlank(rest) || spaces > 4 ? 1 : spaces);
  const inner = new Inner();
  inner.add(lines[place].slice(width));
  let next = place + 1;
  for (; next < end; next++) {
    const line = lines[next];
    if (isBlank(line)) inner.add("");
    else if (indent(line) >= width) inner.add(line.slice(width));
    else if (!inner.addLazy(line)) break;
  }
  // A last line that is held back is still of this point, where it stands in it.
  if (next === end && end < lines.length && indent(lines[end]) >= width) inner.add(lines[end].slice(width)), next++;
  return [inner.lines, next];
}

function item(list, apart) {
  const [first, ...others] = list;
  if (first?.[0] !== "p") return list.flatMap((shape) => (shape[0] === "p" && !apart ? shape[2] : [shape]));
  const found = typeof first[2][0] === "string" && BOX.exec(first[2][0]);
  let words = first[2];
  if (found) {
    const done = found[1] !== " ";
    const box = { type: "checkbox", disabled: "", ...(done ? { checked: "" } : {}), "aria-label": done ? "Done" : "To do" };
    words = [["input", box, []], ` ${words[0].slice(found[0].length)}`, ...words.slice(1)];
  }
  const start = apart ? [["p", {}, words]] : words;
  return [...start, ...others.flatMap((shape) => (shape[0] === "p" && !apart ? shape[2] : [shape]))];
}

// Tables

function cells(line) {
  const found = [];
  let cell = "";
  for (const sign of line.trim()) {
    if (sign === "|" && cell.endsWith("\\")) cell = `${cell.slice(0, -1)}|`;
    else if (sign === "|") found.push(cell), (cell = "");
    else cell += sign;
  }
  found.push(cell);
  if (found[0] === "") found.shift();
  return found;
}

function columns(line) {
  const found = cells(line);
  if (found.at(-1) === "") found.pop();
  return found;
}

function sides(line) {
  if (!BETWEEN.test(line) || /^ {0,3}- /.test(line)) return null;
  const found = columns(line).map((cell) => /^(:?)-+(:?)$/.exec(cell.trim()));
  return found.every(Boolean) ? found.map(([, left, right]) => (left && right ? "center" : right ? "right" : left ? "left" : "")) : null;
}

// Whether a table begins at this line. A row at the end of the text is taken for one, and so is one with half a rule below it.
function begins(lines, place, end, isLast) {
  const line = lines[place];
  if (!line.includes("|")) return null;
  const count = columns(line).length;
  const rule = lines[place + 1];
  const none = Array(count).fill("");
  if (rule === undefined || (place + 1 >= end && isLast)) return isLast && /^ {0,3}\|[^|]/.test(line) ? none : null;
  const found = sides(rule);
  if (found?.length === count) return found;
  const half = place + 1 === lines.length - 1 && isLast !== undefined && /^[ \t|:-]*$/.test(rule);
  return half && /^ {0,3}\|[^|]/.test(line) ? none : null;
}

function table(lines, place, end, open, at) {
  const aligned = begins(lines, place, end, open && (place + 1 >= end ? true : place + 2 >= lines.length ? true : undefined));
  if (!aligned) return null;
  const row = (line, name, isOpen) => {
    const found = isOpen ? cells(line) : columns(line);
    const made = aligned.map((side, column) => {
      const grows = isOpen && column === Math.min(found.length, aligned.length) - 1;
      const words = found[column] ?? "";
      const attributes = side ? { align: side } : {};
      return [name, attributes, inline(grows ? words.trimStart() : words.trim(), grows, at)];
    });
    return ["tr", {}, made];
  };
  const isOpen = (which) => open && which === lines.length - 1;
  const head = ["thead", {}, [row(lines[place], "th", isOpen(place))]];
  const rows = [];
  let next = place + 2;
  for (; next < end && !isBlank(lines[next]) && !interrupts(lines[next]) && indent(lines[next]) < 4; next++) {
    if (rows.length * aligned.length < MOST_CELLS) rows.push(row(lines[next], "td", isOpen(next)));
  }
  const whole = rows.length > (isOpen(next - 1) ? 1 : 0);
  const body = rows.length ? [["tbody", {}, rows]] : [];
  const outside = { class: "wide", tabindex: "0", role: "group", "aria-label": "Table", ...(whole ? { whole } : {}) };
  return [[["div", outside, [["table", {}, [head, ...body]]]]], Math.min(next, Math.max(end, place + 1))];
}

// Lines of words

const PUNCTUATION = /[\p{P}\p{S}]/u;
const ESCAPED = /[!-/:-@[-`{-~]/;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00A0", copy: "©", mdash: "—", ndash: "–", hellip: "…", times: "×", rarr: "→" };
const ENTITY = /&(?:([a-z]{2,6})|#(\d{1,7})|#x([\da-f]{1,6}));/iy;
const ADDRESS = /https?:\/\/[^\s<>|]+/iy;
const ADDRESSED = /<((?:https?:\/\/|mailto:)[^\s<>]*|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})>/iy;
const TAG = /<(sub|sup|kbd|mark)>/y;
const BREAK = /<br ?\/?>/iy;
const TARGET = /\((?:<[^<>\n]*>|[^\s()<]*(?:\([^\s()]*\)[^\s()]*)*)(?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'))?[ \t]*\)/y;
const HALF_TARGET = /\([^\s)]{0,400}(?:[ \t]+["'][^"'\n]*["']?)?[ \t]*$/y;
const REFERENCE = /\[(?:[^[\]\n^][^[\]\n]{0,79})?\]/y;
const HALF_REFERENCE = /\[[^[\]\n^]{0,80}$/y;
const LONGEST_LINK = 400, LONGEST_FORMULA = 300, LONGEST_STRESS = 240;
const MONEY = /^\d[^\\^_={}<>+*/|\s]*\s[^\\^_={}<>+*/|]*$/;
const NO_FORMULA = /^(?:[A-Z]{2,}|[\d.,]+(?!\d*(?:[\\^_{=+<>*]|[a-z](?![a-z])))|[\d.,]+[kmb]\b)|(?:^|[^\\a-z{])[a-z]{3,}[,;.]? [a-z]{2,}|\n/;

function sticky(pattern, text, place) {
  pattern.lastIndex = place;
  return pattern.exec(text);
}

// What nobody can tell yet at the end of a line.
const UNSURE = /(?:[*_~`$\\ \t]|!?\[|<(?:b?r? ?\/?|ht{0,2}|\/?(?:s|su|k|kb|m|ma|mar|sub|sup|kbd|mark)))+$/;

// `open`: more may come, so that what is begun is taken for what it will be.
export function inline(source, open, at) {
  const text = open ? source.slice(0, -SHORT) + source.slice(-SHORT).replace(UNSURE, "") : source;
  const line = new Line(text, open, at);
  const list = line.read();
  if (open) (line.deepest ?? list).push(CARET);
  return list;
}

class Line {
  constructor(text, open, at) {
    [this.text, this.open, this.at] = [text, open, at];
    [this.place, this.words, this.list, this.runs] = [0, "", [], []];
    this.deepest = null;
    this.lacking = new Set();
  }

  read() {
    const { text } = this;
    while (this.place < text.length) {
      const sign = text[this.place];
      const read = READERS[sign];
      if (!(read && read(this, sign))) this.words += text[this.place++];
    }
    this.flush();
    return this.stressed();
  }

  flush() {
    if (this.words) this.list.push(this.words);
    this.words = "";
  }

  push(shape, place) {
    this.flush();
    this.list.push(shape);
    this.place = place;
    return true;
  }

  // Runs of * and _ and ~ become stress, by CommonMark's rules; what is left open at the open end is stress already.
  stressed() {
    const { list, runs } = this;
    if (runs.length > MOST_RUNS) return merged(list.flatMap(plain));
    for (let at = 0; at < runs.length; at++) {
      const closer = runs[at];
      if (!closer.closes) continue;
      while (closer.left > 0) {
        const opener = partner(runs, at);
        if (!opener) break;
        const used = closer.sign === "~" ? 2 : Math.min(2, opener.left, closer.left);
        opener.left -= used;
        closer.left -= used;
        const from = list.indexOf(opener), to = list.indexOf(closer);
        list.splice(from + 1, to - from - 1, [NAMES[closer.sign + used] ?? "em", {}, list.slice(from + 1, to).flatMap(plain)]);
        for (const between of runs.slice(runs.indexOf(opener) + 1, at)) between.left = between.closes = between.opens = 0;
      }
    }
    if (this.open) this.leftOpen();
    return merged(list.flatMap(plain));
  }

  leftOpen() {
    const { list, runs, text } = this;
    for (const run of runs.toReversed()) {
      if (!run.left || !run.opens || run.inside || (run.sign === "~" && run.left < 2)) continue;
      if (run.left === 1 && (text.length - run.place > LONGEST_STRESS || text.includes("\n", run.place))) continue;
      const from = list.indexOf(run);
      let kids = merged(list.slice(from + 1).flatMap(plain));
      if (!kids.length) continue;
      const inner = this.deepest ?? kids;
      for (let left = Math.min(run.left, 3); left > 0; ) {
        const used = run.sign === "~" || left >= 2 ? 2 : 1;
        kids = [[NAMES[run.sign + used], {}, kids]];
        left -= used;
      }
      this.deepest = inner;
      run.left = 0;
      list.splice(from, list.length - from, run, ...kids);
    }
  }
}

const NAMES = { "*1": "em", "*2": "strong", _1: "em", _2: "strong", "~2": "s" };
const plain = (shape) => (shape.sign ? (shape.left ? [shape.sign.repeat(shape.left)] : []) : [shape]);

function merged(list) {
  const found = [];
  for (const shape of list) {
    if (typeof shape === "string" && typeof found.at(-1) === "string") found[found.length - 1] += shape;
    else found.push(shape);
  }
  return found;
}

const REACH = 200, MOST_RUNS = 2000;
function partner(runs, at) {
  const closer = runs[at];
  for (let before = at - 1; before >= Math.max(0, at - REACH); before--) {
    const run = runs[before];
    if (run.sign !== closer.sign || !run.opens || !run.left) continue;
    if (run.sign === "~" && (run.left < 2 || closer.left < 2)) continue;
    const odd = (run.closes || closer.opens) && (run.size + closer.size) % 3 === 0 && (run.size % 3 || closer.size % 3);
    if (!odd) return run;
  }
  return null;
}

// Scripts that part no words by blanks, with their marks: there a run of stars need not stand at one.
const WIDE_LETTER = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303f\uff00-\uffef]/u;
function run(line, sign) {
  const { text, place } = line;
  let end = place;
  while (text[end] === sign) end++;
  const before = place ? text[place - 1] : " ", after = text[end] ?? " ";
  const spaceBefore = /\s/.test(before), spaceAfter = /\s/.test(after);
  const markBefore = PUNCTUATION.test(before), markAfter = PUNCTUATION.test(after);
  const wideBefore = WIDE_LETTER.test(before), wideAfter = WIDE_LETTER.test(after);
  const left = !spaceAfter && (!markAfter || wideAfter || spaceBefore || markBefore || wideBefore);
  const right = !spaceBefore && (!markBefore || wideBefore || spaceAfter || markAfter || wideAfter);
  const word = sign === "_";
  const found = {
    sign, place, size: end - place, left: end - place,
    opens: left && (!word || !right || markBefore), closes: right && (!word || !left || markAfter),
    // Between letters of our script it is more often no stress at all.
    inside: /[\w]/.test(before),
  };
  line.flush();
  line.list.push(found);
  line.runs.push(found);
  line.place = end;
  return true;
}

function code(line) {
  const { text, place } = line;
  let start = place;
  while (text[start] === "`") start++;
  const size = start - place;
  for (let from = start; !line.lacking.has(size); ) {
    const end = text.indexOf("`", from);
    if (end < 0) break;
    let after = end;
    while (text[after] === "`") after++;
    if (after - end === size) return line.push(["code", {}, [codeWords(text.slice(start, end))]], after);
    from = after;
  }
  line.lacking.add(size);
  if (!line.open || start >= text.length) return (line.words += text.slice(place, start)), (line.place = start), true;
  const kids = [text.slice(start).replaceAll("\n", " ")];
  line.deepest = kids;
  return line.push(["code", {}, kids], text.length);
}

function codeWords(words) {
  const text = words.replaceAll("\n", " ");
  return text.startsWith(" ") && text.endsWith(" ") && text.trim() ? text.slice(1, -1) : text;
}

function escaped(line) {
  const { text, place } = line, next = text[place + 1];
  if (next === "\n") return (line.place += 1), true;
  if (next === "(" || next === "[") {
    if (paired(line, next === "(" ? "\\)" : "\\]")) return true;
  }
  if (!next || !ESCAPED.test(next)) return false;
  line.words += next;
  line.place += 2;
  return true;
}

function dollars(line) {
  const { text, place, at } = line;
  if (text[place + 1] === "$") return paired(line, "$$");
  const start = place + 1, before = text[place - 1] ?? " ";
  if (start >= text.length || /\s/.test(text[start]) || /[\p{L}\p{N}$]/u.test(before)) return false;
  let end = text.indexOf("$", start + 1);
  while (end > 0 && text[end - 1] === "\\") end = text.indexOf("$", end + 1);
  if (end > 0) {
    const latex = text.slice(start, end);
    if (/[\s\\$]/.test(text[end - 1]) || /[\d$]/.test(text[end + 1] ?? "") || MONEY.test(latex) || latex.includes("`")) return false;
    return line.push(formulaShape(text.slice(place, end + 1), at), end + 1);
  }
  return line.open && forming(line, start);
}

function paired(line, closer) {
  const { text, place, at } = line, start = place + 2;
  const end = line.lacking.has(closer) ? -1 : text.indexOf(closer, start);
  if (end < 0) line.lacking.add(closer);
  if (end > 0 && text.slice(start, end).trim() && !text.slice(start, end).includes("`")) {
    return line.push(formulaShape(text.slice(place, end + 2), at), end + 2);
  }
  if (end >= 0 || !line.open || text.length - start > LONGEST_FORMULA || text.slice(start).includes("`")) return false;
  return line.push(FORMING, text.length);
}

function forming(line, start) {
  const rest = line.text.slice(start);
  if (rest.length > LONGEST_FORMULA || rest.includes("`") || NO_FORMULA.test(rest)) return false;
  // The name of a variable begins like this, too.
  if (/^[A-Z]$/.test(rest)) return (line.place = line.text.length), true;
  return line.push(FORMING, line.text.length);
}

const formulaShape = (source, at) => (at.pieces?.has(source) ? ["piece", { source }, []] : FORMING);

function bracket(line) {
  const { text, place, at } = line;
  if (text[place + 1] === "^") return mark(line);
  const end = partnerOf(text, place);
  if (end < 0) {
    const rest = text.slice(place + 1);
    if (!line.open || !/^[\p{L}`*_"'“(]/u.test(rest) || rest.length > LONGEST_LINK || rest.includes("\n")) return false;
    return words(line, rest, text.length, true);
  }
  const inner = text.slice(place + 1, end) || (text[place - 1] === "!" ? "image" : "");
  const target = sticky(TARGET, text, end + 1);
  if (target) return link(line, inner, target[0], end + 1 + target[0].length);
  if (line.open && (end + 1 === text.length ? /^[\p{L}`*"]/u.test(inner) && inner.length > 1 : sticky(HALF_TARGET, text, end + 1))) {
    return words(line, inner, text.length, true);
  }
  if (line.open && awaits(inner, text[place - 1]) && sticky(HALF_REFERENCE, text, end + 1)) return words(line, inner, text.length, true);
  const reference = awaits(inner, text[place - 1]) && sticky(REFERENCE, text, end + 1);
  if (reference) return words(line, inner, end + 1 + reference[0].length, false);
  return false;
}

// Whether its address may be told later. In `a[i][j]` and `[1][2]` none is meant.
const awaits = (inner, before = " ") => /^[\p{L}`*"][^[\]\n]+$/u.test(inner) && !/[\p{L}\p{N}_\])]/u.test(before);

function partnerOf(text, place) {
  let depth = 0;
  for (let at = place; at < text.length && at < place + LONGEST_LINK; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "[") depth++;
    else if (text[at] === "]" && --depth === 0) return at;
  }
  return -1;
}

function words(line, inner, end, open) {
  const kids = nested(line, inner, false);
  const shape = ["span", { class: "fresh" }, kids];
  line.push(shape, end);
  if (open) line.deepest = kids;
  return true;
}

function nested(line, inner) {
  if (++line.at.depth > DEEPEST) return line.at.depth--, [inner];
  const list = new Line(inner, line.open && !inner.includes("]"), line.at).read();
  line.at.depth--;
  return list;
}

// A path on a page, or a file, of its own writer's: only its words are shown.
const NOWHERE = /^\(<?(?:#|(?!\/\/)[^:/?#\s]*(?:\/|\.[a-z][a-z0-9]{0,7}[?#>\s)])|[\s>]*\))/i;
function link(line, inner, target, end) {
  const source = line.text.slice(line.place, end);
  if (line.at.pieces?.has(source)) return line.push(["piece", { source }, []], end);
  if (/^\(<?(?:https?:|mailto:)/i.test(target)) return words(line, inner, end, false);
  if (!NOWHERE.test(target)) return false;
  line.flush();
  line.list.push(...nested(line, inner));
  line.place = end;
  return true;
}

const LABEL = /^(?:\d{1,3}|[a-z]{3}[\w-]{0,30})$/i;
function mark(line) {
  const { text, place } = line, near = text.slice(place, place + SHORT), end = place + near.indexOf("]");
  if (end < place) return line.open && /^\[\^[^\s[\]]{0,40}$/.test(near) && ((line.place = text.length), true);
  const label = text.slice(place + 2, end), { marks } = line.at;
  if (!LABEL.test(label)) return false;
  if (!marks.has(label)) marks.set(label, String(marks.size + 1));
  const number = /^\d/.test(label) ? label : marks.get(label);
  return line.push(["sup", {}, [["span", { class: "fresh" }, [number]]]], end + 1);
}

function angle(line) {
  const { text, place } = line;
  const found = sticky(BREAK, text, place);
  if (found) return line.push(["br", {}, []], place + found[0].length);
  const tag = sticky(TAG, text, place);
  if (tag) return tagged(line, tag[1], place + tag[0].length);
  const address = sticky(ADDRESSED, text, place);
  if (address) return line.push(["span", { class: "fresh" }, [address[1].replace(/^mailto:/i, "")]], place + address[0].length);
  const half = line.open && /^<(https?:?\/?\/?[^\s<>]*)$/i.exec(text.slice(place, place + LONGEST_LINK));
  if (!half || text.length - place > LONGEST_LINK) return false;
  const kids = [half[1]];
  line.deepest = kids;
  return line.push(["span", { class: "fresh" }, kids], text.length);
}

// With its partner, or open at the open end.
function tagged(line, name, start) {
  const { text } = line, closer = `</${name}>`, end = line.lacking.has(closer) ? -1 : text.indexOf(closer, start);
  if (end >= 0) return line.push([name, {}, nested(line, text.slice(start, end))], end + closer.length);
  line.lacking.add(closer);
  if (!line.open || text.length - start > LONGEST_STRESS) return false;
  const kids = nested(line, text.slice(start));
  line.deepest = kids;
  return line.push([name, {}, kids], text.length);
}

function entity(line) {
  const found = sticky(ENTITY, line.text, line.place);
  if (!found) return false;
  const sign = found[1] ? ENTITIES[found[1]] : point(found[2] ? Number(found[2]) : Number.parseInt(found[3], 16));
  if (!sign) return false;
  line.words += sign;
  line.place += found[0].length;
  return true;
}

const point = (number) => (number && number < 0x110000 && number >> 11 !== 27 ? String.fromCodePoint(number) : "\uFFFD");

function address(line) {
  if (/\w/.test(line.text[line.place - 1] ?? " ")) return false;
  const found = sticky(ADDRESS, line.text, line.place);
  if (!found) return false;
  const url = found[0].slice(0, -SHORT) + found[0].slice(-SHORT).replace(/[.,;:!?)\]"'*_~`]+$/, "");
  return line.push(["span", { class: "fresh" }, [url]], line.place + url.length);
}

function lineBreak(line) {
  line.words = line.words.trimEnd();
  line.push(["br", {}, []], line.place + 1);
  line.words = "\n";
  while (line.text[line.place] === " ") line.place++;
  return true;
}

const picture = (line) => line.text[line.place + 1] === "[" && ((line.place += 1), bracket(line) || ((line.place -= 1), false));
const READERS = {
  "*": run, _: run, "~": run, "`": code, "\\": escaped, $: dollars, "[": bracket, "<": angle, "&": entity,
  h: address, H: address, "\n": lineBreak, "!": picture,
};
