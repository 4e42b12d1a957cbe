// In a frame that can do nothing else: draws the diagram that the page around it hands over, and says how tall it is, or why it is not.
const MOST = 50_000;
const tell = (news) => parent.postMessage(news, "*");

addEventListener("message", async ({ source, data }) => {
  if (source !== parent || typeof data?.diagram !== "string") return;
  document.documentElement.style.colorScheme = data.dark ? "dark" : "light";
  Object.assign(document.body.style, { margin: "0", padding: "12px 0", display: "grid", justifyItems: "center" });
  mermaid.initialize({
    startOnLoad: false, securityLevel: "strict", suppressErrorRendering: true, maxTextSize: MOST, theme: data.dark ? "dark" : "default",
  });
  try {
    const { svg } = await mermaid.render("picture", data.diagram);
    document.body.innerHTML = svg;
    tell({ height: document.body.getBoundingClientRect().height });
  } catch (problem) {
    document.body.replaceChildren();
    tell({ problem: String(problem?.message ?? problem).slice(0, 1000) });
  }
});
tell({ ready: true });
