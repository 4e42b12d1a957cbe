// Whoever has the focus in what goes away gets it near by: a page that forgets where one is says nothing to those who listen, and the
// next letter would be a key of the page. And what an address names has it from the start.
const PLACES = "article, li, .notes, [role=group], main";
let last = null, near = [];

document.addEventListener("focusin", ({ target }) => {
  last = target;
  near = [];
  for (let one = target; (one = one.parentElement?.closest("[id]")); ) if (one.matches(PLACES)) near.push(one.id);
});

// Who leaves it by a click beside it wants to be nowhere.
document.addEventListener("focusout", ({ target }) => {
  setTimeout(() => {
    if (target === last && target.isConnected && document.activeElement === document.body) last = null;
  });
});

function keep() {
  if (!last || last.isConnected || document.activeElement !== document.body || document.querySelector("dialog[open]")) return;
  const heir = near.map((id) => document.getElementById(id)).find(Boolean);
  if (heir) stand(heir);
}

function stand(place) {
  if (!place.matches("a[href], button, input, textarea, select, summary, [tabindex]")) place.tabIndex = -1;
  place.focus({ preventScroll: true });
}

// After those that know better where it belongs.
const soon = () => setTimeout(() => setTimeout(keep));
document.addEventListener("news", soon);
document.addEventListener("htmx:afterSettle", soon);
document.addEventListener("htmx:afterRequest", soon);

const named = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
if (named && document.activeElement === document.body) stand(named);
