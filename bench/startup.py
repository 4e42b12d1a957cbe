"""How long `./start` takes from the command to the first page, when everything is there already.

Run it with `python -m bench.startup`. Whole starts and starts with marks take turns, since marks cost a little too.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.support.readme import settings_in_readme

PROJECT = Path(__file__).resolve().parents[1]
MARKS = Path(__file__).parent / "marks"
MOST_SECONDS = 2.0
ANNOUNCED = "Thoughtline is at "


@dataclass(frozen=True)
class Server:
    """`began`: when its command was given."""

    process: subprocess.Popen[str]
    address: str
    began: float

    def page(self) -> None:
        """The first page; whoever has not signed in is led to the one that asks for that."""
        with urllib.request.urlopen(self.address) as answer:
            assert answer.status == 200 and answer.read()


@contextmanager
def serving(folder: Path, **more: str) -> Iterator[Server]:
    """A server as `./start` makes it, on a free port, with its data in this folder and nothing else set."""
    ours = settings_in_readme()
    clean = {name: value for name, value in os.environ.items() if name not in ours}
    environment = clean | {"DATA_DIR": str(folder), "LOCAL_MODEL": "0"} | more
    command = ["./start", "--port", str(free_port())]
    with open(folder / "log", "w") as log:
        began = time.monotonic()
        process = subprocess.Popen(
            command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        yield Server(process, announced(process, folder / "log"), began)
    finally:
        process.terminate()
        process.communicate()


def announced(process: subprocess.Popen[str], log: Path) -> str:
    assert process.stdout
    for line in process.stdout:
        if line.startswith(ANNOUNCED):
            return line.removeprefix(ANNOUNCED).strip()
    sys.exit(f"The server did not start:\n{log.read_text()}")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def whole_start(folder: Path) -> tuple[float, float]:
    """Seconds from the command to the first page, and for a second one."""
    with serving(folder) as server:
        server.page()
        first = time.monotonic()
        server.page()
        return first - server.began, time.monotonic() - first


def steps(folder: Path) -> dict[str, float]:
    """Milliseconds of each step."""
    marks = folder / "marks"
    marks.unlink(missing_ok=True)
    with serving(folder, PYTHONPATH=str(MARKS), BENCH_MARKS=str(marks)) as server:
        announced_at = time.monotonic()
        server.page()
        served_at = time.monotonic()
    lines = [line.split(" ", 1) for line in marks.read_text().splitlines()]
    moments = [("", server.began), *((name, float(at)) for at, name in lines)]
    moments += [("address printed", announced_at), ("first page served", served_at)]
    return {name: (at - before) * 1000 for (_, before), (name, at) in pairwise(moments)}


def measured(folder: Path, runs: int) -> tuple[list[tuple[float, float]], list[dict[str, float]]]:
    wholes, marked = [], []
    for _ in range(runs):
        wholes.append(whole_start(folder))
        marked.append(steps(folder))
    return wholes, marked


def show(wholes: list[tuple[float, float]], marked: list[dict[str, float]]) -> float:
    print(f"{'step':40} {'ms':>7}")
    for name in marked[0]:
        print(f"{name:40} {median(run.get(name, 0.0) for run in marked):7.0f}")
    print(f"{'all of it, with marks':40} {median(sum(run.values()) for run in marked):7.0f}")
    firsts = [first for first, _ in wholes]
    print(f"\nfrom ./start to the first page, without marks, {len(firsts)} starts:", end=" ")
    print(f"median {median(firsts):.2f} s, best {min(firsts):.2f} s, worst {max(firsts):.2f} s", end="; ")
    print(f"a second page {median(second for _, second in wholes) * 1000:.0f} ms")
    return median(firsts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    with TemporaryDirectory() as folder:
        whole_start(Path(folder))
        took = show(*measured(Path(folder), runs))
    print(f"at most {MOST_SECONDS} s")
    sys.exit(took > MOST_SECONDS)


if __name__ == "__main__":
    main()
