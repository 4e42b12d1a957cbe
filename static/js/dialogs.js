// Opens what a link or a form's button leads to as a dialog over the page. Without this script it is a page of its own,
// and it becomes that when no dialog comes back.
const kept = new Map();
// The server could not make it just now, and said so beside the composer: what is being written there stays.
const LATER = "later";

document.addEventListener("click", (event) => {
  const opener = event.target.closest?.("[data-dialog]");
  if (!opener || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  open(opener, opener.href ?? (opener.hasAttribute("formaction") ? opener.formAction : opener.form.action));
});

// A form in one may say that it closes when what it sent has worked; a button, that it closes.
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const dialog = detail.elt.closest?.("form[data-closes]")?.closest("dialog");
  if (detail.successful) dialog?.close();
});
document.addEventListener("click", ({ target }) => {
  if (target.closest?.("[data-close]")) target.closest("dialog")?.close();
});

async function open(opener, url) {
  const dialog = kept.get(url) ?? (await load(opener, url));
  if (dialog === LATER) return;
  if (!dialog) return location.assign(url);
  opener.closest("[popover]")?.hidePopover();
  document.body.append(dialog);
  globalThis.htmx?.process(dialog);
  dialog.showModal();
  dialog.dispatchEvent(new Event("opened", { bubbles: true }));
}

// The opener may have been in a menu that is closed, or have been replaced: then what opens the menu, its row, or where one writes.
function goBack(opener) {
  if (document.activeElement !== document.body) return;
  const row = document.getElementById(opener.closest("li[id]")?.id)?.querySelector("a");
  const menu = document.querySelector(`[popovertarget="${CSS.escape(opener.closest("[popover]")?.id ?? "")}"]`);
  const heir = opener.checkVisibility?.() ? opener : row ?? menu ?? document.getElementById("message");
  heir?.focus({ preventScroll: true });
}

async function load(opener, url) {
  opener.ariaBusy = "true";
  try {
    const reply = await fetch(url, { headers: { "HX-Request": "true" } });
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const place = document.getElementById("refused");
    if (reply.status === 503 && place) return (place.textContent = page.body.textContent), LATER;
    const dialog = reply.ok ? page.querySelector("dialog:not(#keys)") : null;
    dialog?.addEventListener("close", () => (dialog.remove(), goBack(opener)));
    if (dialog && "keep" in dialog.dataset) kept.set(url, dialog);
    return dialog && document.adoptNode(dialog);
  } catch {
    return null;
  } finally {
    opener.ariaBusy = null;
  }
}
