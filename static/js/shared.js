// A page that others let somebody read asks now and then, and when there is news, whether they still do, while somebody looks at it.
// When it does not, the page is loaded anew, and nothing of it stays.
const EVERY_MS = 5000;
// What a form does may close the page that it is on: then nothing may come before the page to which it leads.
let leaving = false;
const address = document.querySelector("[data-open]")?.dataset.open;

async function look() {
  if (document.hidden || leaving) return;
  const answer = await fetch(address, { method: "HEAD", cache: "no-store" }).catch(() => null);
  // Sent on to the sign-in page: they were signed out, or their account was closed.
  if ((answer?.status === 404 || answer?.redirected) && !leaving) location.reload();
}

if (address) {
  setInterval(look, EVERY_MS);
  document.addEventListener("visibilitychange", look);
  document.addEventListener("news", look);
  document.addEventListener("submit", () => (leaving = true));
  document.addEventListener("htmx:afterRequest", () => (leaving = false));
  addEventListener("pageshow", ({ persisted }) => {
    leaving = false;
    if (persisted) look();
  });
}
