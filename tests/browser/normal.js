// An element as text that two ways to the same page must share: one line a tag or a text, attributes in order.
(root) => {
  const VOLATILE = new Set(["open", "data-elapsed-ms"]);
  const SECRET = new Set(["csrfmiddlewaretoken", "key"]);
  const lines = [];
  const say = (node, depth) => {
    const indent = " ".repeat(depth);
    if (node.nodeType === Node.TEXT_NODE) {
      const words = node.data.replace(/\s+/g, " ");
      if (node.parentElement.closest("pre")) lines.push(indent + JSON.stringify(node.data));
      else if (words.trim()) lines.push(indent + JSON.stringify(words.trim()));
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    const attributes = [...node.attributes]
      // Whoever stands on an element is given a place there.
      .filter((a) => !VOLATILE.has(a.name) && !(a.name === "tabindex" && a.value === "-1") && !(a.name === "class" && !classes(node)))
      .map((a) => [a.name, a.name === "class" ? classes(node) : secret(node, a)])
      .sort()
      .map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
    lines.push(`${indent}<${node.localName}${attributes.join("")}>`);
    for (const child of node.childNodes) say(child, depth + 1);
  };
  const classes = (node) => [...node.classList].filter((name) => !name.startsWith("htmx-")).sort().join(" ");
  const secret = (node, attribute) => (attribute.name === "value" && SECRET.has(node.name) ? "…" : attribute.value);
  const copy = root.cloneNode(true);
  copy.normalize();
  say(copy, 0);
  return lines.join("\n");
}
