// The running clock: the server's elapsed value plus the browser's monotonic clock, so that a wrong clock changes nothing.
// One text and one width a second; what is counted here is shown, never stored.
const bases = new WeakMap();

function inWords(seconds) {
  if (seconds < 60) return `${seconds} s`;
  const [large, small, units] = seconds < 3600 ? [seconds / 60, seconds % 60, ["min", "s"]] : [seconds / 3600, (seconds % 3600) / 60, ["h", "min"]];
  return Math.floor(small) ? `${Math.floor(large)} ${units[0]} ${Math.floor(small)} ${units[1]}` : `${Math.floor(large)} ${units[0]}`;
}

function tick(clock) {
  const told = clock.dataset.elapsedMs;
  if (bases.get(clock)?.told !== told) bases.set(clock, { told, base: Number(told) - performance.now() });
  const seconds = Math.max(Number(clock.dataset.least ?? 1), Math.floor((bases.get(clock).base + performance.now()) / 1000));
  const words = inWords(seconds);
  if (clock.textContent === words) return;
  clock.textContent = words;
  const ruler = clock.closest("summary")?.querySelector(".ruler");
  if (!ruler) return;
  ruler.setAttribute("width", seconds <= 60 ? seconds * 4 : Math.min(240, Math.floor(seconds / 10) * 4));
  if (seconds > 60) ruler.dataset.unit = "ten";
}

const tickAll = () => document.querySelectorAll("time[data-elapsed-ms]").forEach(tick);
tickAll();
setInterval(tickAll, 200);
document.addEventListener("news", ({ detail }) => detail.calm || tickAll());
