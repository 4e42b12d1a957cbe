// When the server refuses what htmx sent, or cannot be reached, a sentence stands where the form says (data-refused: an id),
// else beside the composer. What was typed stays where it is.
const OLD = "You were signed out, or the page is too old. Reload it; what you wrote waits here.";
const AWAY = "The server cannot be reached. Nothing was changed and nothing is lost; try again in a moment.";
const BROKEN = "The server could not do that. What you wrote is still here; try again in a moment.";

const plain = (html) => new DOMParser().parseFromString(html, "text/html").body.textContent;

const place = (event) => {
  const asked = event.detail.requestConfig?.elt ?? event.detail.elt;
  return document.getElementById(asked.closest("[data-refused]")?.dataset.refused ?? "refused");
};

const tell = (event, sentence) => {
  if (place(event)) place(event).textContent = sentence;
};

document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr } = event.detail;
  const page = /^\s*<!doctype/i.test(xhr.responseText);
  if (/^\/accounts\/(login|signup)\//.test(new URL(xhr.responseURL).pathname) || (xhr.status === 403 && page)) {
    Object.assign(event.detail, { shouldSwap: false, isError: true });
    tell(event, OLD);
  } else if (xhr.status === 503 && !page && xhr.responseText) {
    tell(event, plain(xhr.responseText));
  } else if (xhr.status >= 500 || (xhr.status >= 400 && page)) {
    tell(event, BROKEN);
  } else if (xhr.status >= 400 && place(event)) {
    Object.assign(event.detail, { shouldSwap: true, target: place(event), swapOverride: "innerHTML", selectOverride: "unset" });
  }
});

document.addEventListener("htmx:beforeRequest", (event) => tell(event, ""));
document.addEventListener("htmx:sendError", (event) => tell(event, AWAY));
