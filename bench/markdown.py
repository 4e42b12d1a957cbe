"""What Markdown costs: a whole answer, one flush of a growing one, a way to another process and back, and what bombs do.

Run it with `python -m bench.markdown`. It ends with code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median, quantiles

from chatapp.markdown import Growing, render_blocks, render_blocks_within
from chatapp.markdown.renderers import Renderers

TOPICS = Path(__file__).parents[1] / "chatapp/providers/demo/topics"
SIZE = 20_000
DELTA = 40
MOST_WHOLE_MS = 40
MOST_FLUSH_US = 1_000
MOST_STALL_MS = 50
BOMBS = {
    "[": "[" * 16_384,
    "![": "![" * 8_192,
    "[a][": "[a][" * 4_096,
    "empty table": "a|" * 1_000 + "\n" + "-|" * 1_000 + "\n" + "x\n" * 6_000,
    "lazy quote": ">" * 50 + "a\n" * 8_000,
    "longest of [": "[" * 262_144,
    "longest quote": ">" * 50 + "a\n" * 130_000,
}


def answer() -> str:
    texts = "\n\n".join(path.read_text() for path in sorted(TOPICS.glob("*.md")))
    return (texts * (SIZE // len(texts) + 1))[:SIZE]


def took(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def whole(text: str, runs: int) -> float:
    render_blocks(text)
    ms = median(took(lambda: render_blocks(text)) for _ in range(runs)) * 1_000
    print(
        f"{'whole answer':28} {ms:8.1f} ms   {len(''.join(render_blocks(text))) / len(text):.2f} times its length"
    )
    return ms


def flushes(text: str) -> float:
    """Microseconds of a flush: what is new and finished, and the open end."""
    growing, fed, opened = Growing(), [], []
    for end in range(0, len(text), DELTA):
        fed.append(took(lambda end=end: growing.feed(text[:end])) * 1e6)
        opened.append(took(growing.open) * 1e6)
    finish = took(lambda: growing.finish(text)) * 1_000
    for name, costs in (("finding finished blocks", fed), ("rendering the open end", opened)):
        print(f"{name:28} {sum(costs) / len(costs):8.0f} µs   worst {max(costs):.0f}")
    print(f"{'finish':28} {finish:8.1f} ms")
    return (sum(fed) + sum(opened)) / len(fed)


def list_of_lines(runs: int) -> None:
    """The worst shape for a flush: one block that never ends."""
    text = "- one line of a very long list, with `code`\n" * (SIZE // 44)
    growing = Growing()
    fed = [took(lambda end=end: growing.feed(text[:end])) * 1e6 for end in range(0, len(text), DELTA)]
    ms = median(took(growing.open) for _ in range(runs)) * 1_000
    print(f"{'one list of 20 kB: a feed':28} {sum(fed) / len(fed):8.0f} µs   its open end {ms:.1f} ms")


async def away(renderers: Renderers, text: str, runs: int) -> None:
    async def asked(size: int) -> float:
        began = time.perf_counter()
        await render_blocks_within(text[:size] + str(began), renderers=renderers)
        return (time.perf_counter() - began) * 1_000

    print(f"{'first job, process started':28} {await asked(2_000):8.0f} ms")
    for size in (1_000, 4_000, SIZE):
        there = median([await asked(size) for _ in range(runs)])
        here = median(took(lambda size=size: render_blocks(text[:size])) for _ in range(runs)) * 1_000
        print(f"{f'{size} signs in a process':28} {there:8.1f} ms   here {here:.1f}")


async def bombed(renderers: Renderers) -> float:
    """The longest that the event loop was not there, while every bomb was rendered."""
    late: list[float] = []

    async def watch() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.002)
            late.append((time.perf_counter() - began - 0.002) * 1_000)

    watcher = asyncio.create_task(watch())
    for name, text in BOMBS.items():
        began = time.perf_counter()
        html = "".join(await render_blocks_within(text, renderers=renderers))
        kind = "as it is" if html.startswith("<pre") else "rendered"
        print(f"{'bomb: ' + name:28} {(time.perf_counter() - began) * 1_000:8.0f} ms   {kind}")
    watcher.cancel()
    print(f"{'event loop late':28} {max(late):8.1f} ms   p99 {quantiles(late, n=100)[-1]:.1f}")
    return max(late)


async def in_processes(text: str, runs: int) -> float:
    renderers = Renderers()
    try:
        await away(renderers, text, runs)
        return await bombed(renderers)
    finally:
        renderers.close()


def main(arguments: Iterable[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args([*arguments]).runs
    text = answer()
    figures = (whole(text, runs), flushes(text))
    list_of_lines(runs)
    stall = asyncio.run(in_processes(text, runs))
    if figures[0] > MOST_WHOLE_MS or figures[1] > MOST_FLUSH_US or stall > MOST_STALL_MS:
        sys.exit("A target was missed.")


if __name__ == "__main__":
    main(sys.argv[1:])
