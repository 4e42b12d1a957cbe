// What is being written survives a reload, a failed send and a sign-in: it stays in this browser until it was asked.
const PREFIX = "draft:";
const box = document.querySelector("[data-draft]");
const name = PREFIX + box?.dataset.draft;
let sent = null;

const keep = () => (box.value ? localStorage.setItem(name, box.value) : localStorage.removeItem(name));

box?.addEventListener("input", keep);
// What was typed before this script came is the newer draft.
if (box?.value) keep();
else if (box && localStorage.getItem(name)) {
  box.value = localStorage.getItem(name);
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

document.addEventListener("submit", (event) => {
  if (event.target === box?.form) sent = event.submitter?.name === "example" ? null : box.value;
  if (new URL(event.target.action).pathname === "/accounts/logout/") forget(document.querySelector("[data-user]").dataset.user);
});

// Said by whoever brings the server's yes into the page; a first question leads to another page.
document.addEventListener("asked", clear);
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => {
  if (detail.elt === box?.form && detail.xhr.getResponseHeader("HX-Redirect")) clear();
});

// What was typed since then stays.
function clear() {
  if (!box || box.value !== sent) return;
  box.value = "";
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

function forget(user) {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(`${PREFIX}${user}/`)) localStorage.removeItem(key);
  }
}
