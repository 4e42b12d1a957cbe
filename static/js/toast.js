// What was deleted can be put back for a while: the toast goes after 20 seconds in which nobody pointed at it or stood in it.
// Its mark leaves the address, so that a reload or a bookmark does not bring it again.
const PATIENCE = 20000;
const toast = () => document.querySelector("[data-toast]");
let timer = 0;

const remove = () => {
  toast()?.remove();
};

const wait = () => {
  clearTimeout(timer);
  timer = setTimeout(() => (toast()?.matches(":hover, :focus-within") ? wait() : remove()), PATIENCE);
};

const appear = () => {
  for (const button of document.querySelectorAll("[data-dismiss]")) button.hidden = false;
  wait();
};

document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-dismiss]")) remove();
});
for (const swapped of ["htmx:afterSwap", "htmx:oobAfterSwap"]) {
  document.addEventListener(swapped, (event) => {
    if (toast() && event.detail.target.id === "toast") appear();
  });
}
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful && event.detail.requestConfig?.elt?.closest?.("[data-toast]")) remove();
});

const here = new URL(location.href);
if (here.searchParams.has("deleted")) {
  here.searchParams.delete("deleted");
  history.replaceState(history.state, "", here);
}
if (toast()) appear();
