// Brings files in pieces, each where the one before ended; what was broken off goes on there. Files can be dropped on the whole field.
const PIECE = 8 * 1024 * 1024;
const AGAIN_MS = [500, 1000, 2000, 4000, 8000];
let busy = false;

document.addEventListener("change", ({ target }) => {
  if (target.matches?.("[data-bring] input[type=file]")) bring(target.form, [...target.files]);
});
document.addEventListener("dragover", (event) => {
  const drop = event.target.closest?.(".drop");
  if (drop) event.preventDefault();
});
document.addEventListener("drop", (event) => {
  const form = event.target.closest?.("[data-bring]");
  if (!form) return;
  event.preventDefault();
  bring(form, [...event.dataTransfer.files]);
});
addEventListener("beforeunload", (event) => busy && event.preventDefault());

async function bring(form, files) {
  if (busy || !files.length) return;
  busy = true;
  const token = form.elements.csrfmiddlewaretoken.value;
  try {
    for (const file of files) await bringOne(form, token, file);
    await show();
    document.querySelector("[data-check]")?.requestSubmit();
  } catch (problem) {
    await show();
    tell(problem.message);
  } finally {
    busy = false;
  }
}

async function bringOne(form, token, file) {
  const body = new URLSearchParams({ name: file.name, size: file.size });
  const begun = await asked(form.dataset.bring, { method: "POST", body }, token);
  await show();
  let { received } = begun;
  const place = `${form.dataset.bring}${begun.file}/`;
  for (let tries = 0; received < file.size; ) {
    try {
      const piece = file.slice(received, received + PIECE);
      const headers = { "Content-Type": "application/octet-stream" };
      ({ received } = await asked(`${place}?begins=${received}`, { method: "POST", body: piece, headers }, token));
      tries = 0;
      draw(begun.file, received);
    } catch (problem) {
      if (problem.final || tries >= AGAIN_MS.length) throw problem;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS[tries++]));
      ({ received } = await asked(place, {}, token).catch(() => ({ received })));
    }
  }
}

async function asked(url, options, token) {
  const headers = { "HX-Request": "true", "X-CSRFToken": token, ...options.headers };
  const reply = await fetch(url, { ...options, headers });
  if (reply.ok) return reply.json();
  const words = new DOMParser().parseFromString(await reply.text(), "text/html").body.textContent.trim();
  const problem = new Error(words || "That file could not be taken.");
  problem.final = reply.status < 500;
  throw problem;
}

// The page as the server has it, with what may have been typed elsewhere left alone.
async function show() {
  const place = document.getElementById("import");
  const reply = await fetch(location.pathname, { headers: { "HX-Request": "true" } });
  if (!reply.ok || !place) return;
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  const fresh = document.adoptNode(page.getElementById("import"));
  place.replaceWith(fresh);
  globalThis.htmx?.process(fresh);
}

function draw(file, received) {
  const gauge = document.querySelector(`[data-file="${CSS.escape(file)}"] progress`);
  if (gauge) gauge.value = received;
}

function tell(words) {
  const place = document.getElementById("import-refused");
  if (place) place.textContent = words;
}
