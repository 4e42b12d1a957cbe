// The listening socket: brings operations, does them once per frame, says how far it has come, and comes back when it was lost.
// A command that answers with operations is done the same way. The operations are those of chatapp/pages/operations.py.
import * as open from "./growing.js";

const HIDDEN_MS = 100, CALM_MS = 40, SILENCE_MS = 60_000, TOLD_AFTER_MS = 1200, LONGEST_MS = 5000;
// What was read is told now and then, at once when it is much: the server sends only so much ahead.
const EXPECTED_MS = 4000, READ_MS = 2000, MUCH = 32 * 1024;
const byId = (id) => document.getElementById(id);
const thread = () => byId("thread");

// Elements

const letters = new WeakMap();
const touched = new WeakSet();
const grown = new Set();

function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return [...template.content.children];
}

function adopted(element) {
  globalThis.htmx?.process(element);
  return element;
}

// Whoever has the focus in what goes gets it in what comes: on the same thing where it can be pressed there, else on the first that can.
const PRESSED = "summary, button:enabled, a[href], textarea, input:enabled:not([type=hidden])";
const focusedIn = (old) => (old.contains(document.activeElement) ? document.activeElement : null);

function stand(element) {
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

function inherit(focused, fresh) {
  const name = focused.getAttribute("aria-label");
  const same = (focused.id && byId(focused.id)) || (name && fresh.querySelector(`[aria-label="${CSS.escape(name)}"]:not(:disabled)`));
  const alike = [fresh, ...fresh.querySelectorAll(focused.localName)].find((one) => one.localName === focused.localName && one.tabIndex >= 0);
  stand(same || (!name && alike) || fresh.querySelector(PRESSED) || fresh);
}

function swap(old, fresh) {
  const focused = focusedIn(old);
  old.replaceWith(fresh);
  adopted(fresh);
  if (focused) inherit(focused, fresh);
}

// Nothing comes in its place: of a question the next one has the focus, else where it came from; of all else what it was a part of,
// or what is beside it.
function drop(old) {
  const focused = focusedIn(old);
  const question = focused?.closest("[data-heir]");
  const around = old.parentElement.closest("article");
  const beside = (old.nextElementSibling ?? old.previousElementSibling)?.querySelector(PRESSED);
  old.remove();
  if (!focused) return;
  const next = question && (around?.querySelector("[data-heir]") ?? byId(question.dataset.heir));
  const heir = next ?? around ?? beside ?? byId("message");
  if (heir) stand(heir);
}

// The attributes and children of `fresh`; a body keeps what it holds, and a disclosure what its reader made of it.
function morph(old, fresh) {
  // Without its tabindex, whoever stands on it would fall off.
  const stays = (name) => (name === "open" && touched.has(old)) || (name === "tabindex" && old === document.activeElement);
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !stays(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value && !stays(name)) old.setAttribute(name, value);
  if ("body" in old.dataset) return;
  let before = null;
  const left = new Set(old.children);
  for (const child of [...fresh.children]) {
    const twin = [...left].find((one) => (child.id ? one.id === child.id : !one.id && one.localName === child.localName));
    left.delete(twin);
    if (!twin) before ? before.after(child) : old.prepend(child), adopted(child);
    else if (twin.localName === child.localName && (twin.matches("[data-body]") || twin.querySelector("[data-body]"))) morph(twin, child);
    else if (!twin.isEqualNode(child)) swap(twin, child);
    before = child.isConnected ? child : twin;
  }
  for (const one of left) drop(one);
}

// Where letters stay as they are: at the end of an open fence, or of what is no Markdown.
function rawText(body) {
  const known = letters.get(body);
  if (known?.isConnected) return known;
  let place = [...body.children].findLast((child) => "growing" in child.dataset);
  if (!place) {
    place = document.createElement("span");
    place.dataset.growing = "";
    body.append(place);
  }
  place = place.matches("[data-grows]") ? place : (place.querySelector("[data-grows]") ?? place);
  const span = document.createElement("span");
  span.className = "raw";
  const node = span.appendChild(document.createTextNode(""));
  place.append(span);
  letters.set(body, node);
  return node;
}

const isRaw = (body) => body.matches("pre") || Boolean(body.querySelector("[data-growing][data-grows], [data-growing] [data-grows]"));

// Operations

const operations = {
  add(container, html) {
    const [fresh] = parsed(html);
    const old = byId(fresh.id);
    old ? morph(old, fresh) : byId(container)?.append(adopted(fresh));
  },
  shell(html) {
    const [fresh] = parsed(html);
    const old = byId(fresh.id);
    if (old) morph(old, fresh);
  },
  put(html) {
    const [fresh] = parsed(html);
    const old = byId(fresh.id);
    if (old && !old.isEqualNode(fresh)) swap(old, fresh);
  },
  row(html, moved) {
    const old = byId(parsed(html)[0].id);
    const first = document.querySelector("#conversations section li");
    old && !(moved && old !== first) ? operations.put(html) : operations.relist();
  },
  relist: () => byId("conversations")?.dispatchEvent(new Event("relist")),
  text(id, more) {
    const body = byId(id);
    if (!body) return;
    isRaw(body) ? rawText(body).appendData(more) : open.write(body, more);
    grown.add(body);
  },
  piece(id, source, html) {
    if (byId(id)) open.piece(byId(id), source, html), grown.add(byId(id));
  },
  blocks(id, changes, total, growing, rest, last, cut) {
    const body = byId(id);
    if (!body) return;
    const focused = body === document.activeElement ? null : focusedIn(body);
    const stood = [...body.children].findIndex((child) => child.contains(focused));
    if (growing || isRaw(body)) open.stop(body);
    for (const [place, html] of changes) open.finish(body, place, html, swap);
    for (const child of [...body.children].slice(total)) if (!("growing" in child.dataset)) child.remove();
    for (const child of parsed(growing)) {
      child.dataset.growing = "";
      body.append(child);
    }
    if (last) open.settle(body);
    else if (growing) rawText(body).data = rest;
    else open.begin(body, rest, cut);
    // What is finished now stands there already: what grows behind it does not wait.
    tired.delete(body);
    if (focused && !body.contains(document.activeElement)) inherit(focused, body.children[stood] ?? body.lastElementChild ?? body);
    grown.add(body);
  },
  keep(id, ids) {
    const container = byId(id);
    if (!container) return;
    for (const child of [...container.children]) if (!ids.includes(child.id)) drop(child);
    ids.map(byId).filter((child) => child?.parentElement === container).forEach((child, place) => {
      if (container.children[place] !== child) container.insertBefore(child, container.children[place]);
    });
  },
  gone: (id) => byId(id) && drop(byId(id)),
  expect(id) {
    const page = thread();
    setTimeout(() => thread() === page && !byId(id) && connect(), EXPECTED_MS);
  },
  say(words) {
    if (byId("news")) byId("news").textContent = words;
  },
  changed: (what) => document.dispatchEvent(new CustomEvent("changed", { detail: what })),
  state(name, value) {
    if (name === "stale") return (byId("refused").textContent = stale = value);
    if (name === "title" && byId("title")) byId("title").textContent = title = value;
    else if (thread()) value ? (thread().dataset[name] = value) : delete thread().dataset[name];
    showTitle();
  },
};

// What takes long to paint is painted less often: it never takes more than a part of the time.
const LONG_MS = 25, REST = 5;
const tired = new WeakMap();

function paint(body) {
  const began = performance.now(), known = tired.get(body);
  if (known?.until > began) return void (known.timer ||= setTimeout(() => (tired.delete(body), paint(body)), known.until - began));
  open.paint(body);
  const took = performance.now() - began;
  took > LONG_MS ? tired.set(body, { until: began + REST * took }) : tired.delete(body);
}

function perform(list) {
  let calm = true;
  for (const [name, ...rest] of list) {
    operations[name]?.(...rest);
    calm &&= name === "text";
  }
  for (const body of grown) {
    if (!isRaw(body)) paint(body);
    follow(body);
  }
  grown.clear();
  open.release();
  document.dispatchEvent(new CustomEvent("news", { detail: { calm } }));
}

// While it streams, a thought is a window that follows its end, unless its reader scrolled up.
const up = new WeakSet();
function follow(body) {
  if (body.scrollHeight > body.clientHeight && body.matches("[data-open] > *") && !up.has(body)) body.scrollTop = body.scrollHeight;
}
document.addEventListener("scroll", ({ target }) => {
  if (!target.matches?.("[data-open] > [data-body]")) return;
  target.scrollHeight - target.clientHeight - target.scrollTop > 24 ? up.add(target) : up.delete(target);
}, true);
document.addEventListener("click", ({ target }) => {
  const summary = target.closest?.("summary");
  if (summary) touched.add(summary.parentElement);
});

// What was said of a branch that is not on screen any more
let stale = "";
document.addEventListener("htmx:afterSettle", () => {
  if (stale && byId("refused")?.textContent === stale && thread() !== listening) byId("refused").textContent = stale = "";
});

// The title of the tab

let title = byId("title")?.textContent ?? "";
const plainTitle = document.title;
const MARKS = { waits: "● asks you · ", 1: "● answering · " };
function showTitle() {
  const words = title ? `${title} · Thoughtline` : plainTitle;
  document.title = (MARKS[thread()?.dataset.answering] ?? "") + words;
}
showTitle();

// The socket

let socket = null, listening = null, tries = 0, heard = 0, lost = 0, again = 0;
let waiting = [], planned = false, acted = 0;
// How many messages came and how many were done, how much was read since that was told, and the timer that tells it.
let came = 0, done = 0, untold = 0, telling = 0;
// The pieces so far of a frame that is too long for one message, and the body that was named last.
let pieces = "", named = "";

function address() {
  const page = thread();
  const base = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/`;
  if (!page) return base;
  const { conversation, leaf = "", version = "", along } = page.dataset;
  return `${base}c/${conversation}/?${new URLSearchParams({ leaf, version, ...(along && { along }) })}`;
}

function connect() {
  clearTimeout(again);
  const old = socket;
  const mine = (socket = new WebSocket(address()));
  old?.close();
  listening = thread();
  clearTimeout(telling);
  [waiting, came, done, untold, telling, pieces, named, heard] = [[], 0, 0, 0, 0, "", "", performance.now()];
  mine.onopen = () => byId("paused") && (byId("paused").hidden = true);
  mine.onmessage = ({ data }) => {
    if (mine !== socket) return;
    [heard, tries] = [performance.now(), 0];
    connected(true);
    waiting.push(...said(data));
    came++;
    untold += data.length;
    plan();
  };
  mine.onclose = ({ code }) => {
    if (mine !== socket) return;
    connected(false);
    if (code >= 4000) return ended(code);
    again = setTimeout(connect, Math.min(LONGEST_MS, 250 * 2 ** tries++) * (0.75 + Math.random() / 2));
  };
}

// The operations of a message, as chatapp/live/window.py words them.
function said(data) {
  if (data[0] === "+") return (pieces += data.slice(1)), [];
  const frame = JSON.parse(pieces + (data[0] === "=" ? data.slice(1) : data));
  pieces = "";
  const list = typeof frame === "string" ? [["text", "", frame]] : frame;
  for (const one of list) if (["text", "piece", "blocks"].includes(one[0])) named = one[1] ||= named;
  return list;
}

function plan() {
  if (planned) return;
  planned = true;
  if (document.hidden) return setTimeout(act, HIDDEN_MS);
  // Every third picture is enough for letters, and costs a third.
  const wait = acted + CALM_MS - performance.now();
  wait > 0 ? setTimeout(() => requestAnimationFrame(act), wait) : requestAnimationFrame(act);
}

function act() {
  [planned, acted] = [false, performance.now()];
  const list = waiting;
  waiting = [];
  // Another branch stands there already, and its own socket is on the way.
  if (thread() !== listening) return;
  perform(list);
  done = came;
  if (untold > MUCH || document.hidden) tell();
  else telling ||= setTimeout(tell, READ_MS);
}

function tell() {
  clearTimeout(telling);
  [telling, untold] = [0, 0];
  if (socket.readyState === WebSocket.OPEN) socket.send(String(done));
}

function connected(yes) {
  const line = byId("line");
  if (yes) {
    clearTimeout(lost);
    lost = 0;
    if (line) line.hidden = true;
  } else {
    lost ||= setTimeout(() => line && (line.hidden = false), TOLD_AFTER_MS);
  }
}

// Closed for good: signed out, or not there any more. Or until somebody looks at this page again: too many others are open.
function ended(code) {
  clearTimeout(lost);
  if (code === 4429) return byId("paused") && (byId("paused").hidden = false);
  operations.say(code === 4404 ? "This conversation is not there any more." : "You are signed out. Reload the page.");
}

const comeBack = () => {
  if (socket && socket.readyState > WebSocket.OPEN) (tries = 0), connect();
};
addEventListener("online", comeBack);
addEventListener("focus", comeBack);
addEventListener("pageshow", ({ persisted }) => persisted && connect());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) comeBack();
  if (planned) planned = false, plan();
});
setInterval(() => {
  if (socket?.readyState === WebSocket.OPEN && performance.now() - heard > SILENCE_MS) socket.close(), socket.onclose({ code: 1006 });
}, SILENCE_MS / 4);
addEventListener("pagehide", () => socket?.close());
connect();

// Commands

// What the socket brings need not come twice.
document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (came && socket.readyState === WebSocket.OPEN && thread() === listening) detail.headers.Listening = "1";
});

// The socket was quicker: what the reply adds is there already, and may have gone on since.
function isKnown(list) {
  const added = list.filter(([name]) => name === "add");
  return added.length > 0 && added.every(([, , html]) => byId(parsed(html)[0].id));
}

document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr } = event.detail;
  if (!xhr.getResponseHeader("Content-Type")?.startsWith("application/json")) return;
  event.detail.shouldSwap = false;
  const list = JSON.parse(xhr.responseText);
  if (!isKnown(list)) perform(list);
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const form = byId("composer");
  const path = detail.pathInfo?.requestPath;
  if (detail.successful && form && path === form.getAttribute("action")) document.dispatchEvent(new Event("asked"));
});
document.addEventListener("htmx:afterSettle", () => {
  if (thread() === listening) return;
  title = byId("title")?.textContent ?? "";
  showTitle();
  connect();
});
