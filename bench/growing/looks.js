// Looks at the second answer many times a second: its visible signs, the shape of each, and where its lines stand.
(every) => {
  const SHAPES = { STRONG: "b", EM: "i", CODE: "c", A: "l", S: "s", LI: "p", TD: "t", TH: "t", BLOCKQUOTE: "q", PRE: "f", SUP: "n" };
  const PLACES = "p, li, tr, h1, h2, h3, h4, h5, h6, pre, blockquote, hr, .wide";
  const LEFT_OUT = "header, .caret, [hidden], .unseen, .footnotes";
  const body = () => document.querySelectorAll("article[data-role=assistant]")[1]?.querySelector("[data-kind=assistant_message][data-body], [data-kind=assistant_message] [data-body]");
  const drawn = (node) => node.localName === "math" || node.classList.contains("forming");

  function look(root) {
    const base = root.getBoundingClientRect().top;
    const text = [], shapes = [], places = [];
    let at = 0;
    const say = (signs, shape) => {
      if (!signs) return;
      text.push(signs);
      at += signs.length;
      shapes.push([signs.length, shape]);
    };
    const walk = (node, shape) => {
      if (node.nodeType === Node.TEXT_NODE) return say(node.data.replace(/\s+/g, ""), shape);
      if (node.nodeType !== Node.ELEMENT_NODE || node.matches(LEFT_OUT)) return;
      if (node.matches(PLACES)) places.push([at, node.localName, node.getBoundingClientRect().top - base]);
      if (node.matches("th, td") && node.closest("table").rows.length > 2) places.push([at, "across", node.getBoundingClientRect().left]);
      if (drawn(node)) return say("\uFFFC", "");
      if (node.localName === "input") return say("\u2610", "");
      const heading = /^H[1-6]$/.test(node.tagName) ? "h" : "";
      const fresh = node.classList.contains("fresh") ? "l" : "";
      const own = SHAPES[node.tagName] ?? (heading || fresh);
      for (const child of node.childNodes) walk(child, shape + own);
    };
    for (const child of root.childNodes) walk(child, "");
    return { text: text.join(""), shapes, places, ended: root.closest("article").dataset.status !== "running" };
  }

  window.looks = [];
  let last = "";
  const timer = setInterval(() => {
    const root = body();
    if (!root) return;
    const found = look(root);
    const words = JSON.stringify(found);
    looks.push(words === last ? null : found);
    last = words;
  }, every);
  window.lastLook = () => {
    clearInterval(timer);
    return look(body());
  };
}
