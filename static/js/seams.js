// The mark where a text was cut and went on, in shapes that still grow: behind the letters that had been said by then, as the server
// puts it into finished blocks (markdown/seams.py).

const LONGEST_WORD = 40;
const LETTER = /[\p{L}\p{N}]/u;

// So many letters the shapes show; a formula counts as one, whether it is drawn or not.
export function letters(list) {
  let count = 0;
  for (const shape of list) count += typeof shape === "string" ? signs(shape) : weight(shape);
  return count;
}

const signs = (text) => text.replace(/\s+/g, "").length;

function weight([name, { class: kind, source = "" }, kids]) {
  if (name === "piece") return source[0] === "[" ? signs(source.slice(1, source.lastIndexOf("]("))) : 1;
  return kind === "forming" ? 1 : letters(kids);
}

// The shapes with the mark behind so many letters, if more have come since.
export function marked(list, count, words) {
  return letters(list) > count ? new Seam(count, words).list(list) : list;
}

class Seam {
  constructor(left, words) {
    this.left = left;
    this.mark = ["span", { class: "seam" }, [["small", words ? { "data-said": words } : {}, []]]];
    this.isPut = false;
  }

  list(shapes, inCode = false) {
    return shapes.flatMap((shape) => {
      if (this.isPut) return [shape];
      return typeof shape === "string" ? this.words(shape, inCode) : this.shape(shape);
    });
  }

  // A row is followed by a row, and neither a formula nor a link is parted.
  shape(shape) {
    const [name, attributes, kids] = shape;
    if (name === "tr") return this.behind(shape, ["tr", { class: "seam-row" }, [["td", { colspan: String(kids.length) }, [this.mark]]]]);
    if (name === "piece" || attributes.class === "forming" || attributes.class === "fresh") return this.behind(shape, this.mark);
    return [[name, attributes, this.list(kids, name === "well")]];
  }

  behind(shape, mark) {
    const size = weight(shape);
    if (this.left > size) return (this.left -= size), [shape];
    this.isPut = true;
    return [shape, mark];
  }

  words(text, inCode) {
    const size = signs(text);
    if (!size || this.left > size) return (this.left -= size), [text];
    let place = 0;
    for (; this.left > 0; place++) if (/\S/.test(text[place])) this.left--;
    place = inCode ? endOfLine(text, place) : endOfWord(text, place);
    this.isPut = true;
    return [text.slice(0, place), this.mark, text.slice(place)].filter((piece) => piece !== "");
  }
}

const endOfLine = (text, place) => (text.indexOf("\n", place) < 0 ? text.length : text.indexOf("\n", place));

function endOfWord(text, place) {
  if (/[\uDC00-\uDFFF]/.test(text[place] ?? "")) place++;
  const most = place + LONGEST_WORD;
  if (place && LETTER.test(text[place - 1])) while (place < most && LETTER.test(text[place] ?? "")) place++;
  return place;
}
