"""What an idle server holds in memory after its first page, and which packages took it.

Run it with `python -m bench.memory`. It reads /proc, so it needs Linux.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader, SourceFileLoader
from operator import itemgetter
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from bench.startup import serving

MOST_MB = 110
PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1e6
SHOWN = 16


def held(process: int) -> dict[str, float]:
    """Megabytes. RSS counts shared pages fully, PSS its share of them, USS none."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    kb = {name: int(value.split()[0]) for name, value in (line.split(":") for line in lines)}
    own = kb["Private_Clean"] + kb["Private_Dirty"]
    return {
        name: value * 1024 / 1e6 for name, value in (("RSS", kb["Rss"]), ("PSS", kb["Pss"]), ("USS", own))
    }


def of_server(pages: int) -> dict[str, float]:
    with TemporaryDirectory() as folder, serving(Path(folder)) as server:
        for _ in range(pages):
            server.page()
        return held(server.process.pid)


class Scales:
    """Weighs each module while it is loaded, without those that it loads itself."""

    def __init__(self) -> None:
        self.found: dict[str, float] = defaultdict(float)
        self._inside = [0.0]
        for loader, name in ((SourceFileLoader, "exec_module"), (ExtensionFileLoader, "create_module")):
            setattr(loader, name, self._weighed(getattr(loader, name)))

    def _weighed(self, load: Callable[..., Any]) -> Callable[..., Any]:
        def weighed(loader: Any, module: ModuleType) -> Any:
            before = resident()
            self._inside.append(0.0)
            made = load(loader, module)
            grown = resident() - before
            self.found[loader.name.partition(".")[0]] += grown - self._inside.pop()
            self._inside[-1] += grown
            return made

        return weighed


def resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_MB


def weigh_imports() -> None:
    """Loads what the server loads; run in a process that has loaded nothing yet."""
    start, scales = resident(), Scales()
    os.environ["DJANGO_SETTINGS_MODULE"] = "chatapp.settings"
    import django
    from django.core.management import load_command_class

    django.setup()
    load_command_class("chatapp", "serve")
    import chatapp.asgi
    import chatapp.urls

    assert chatapp.asgi and chatapp.urls
    print(f"{'Python and this program':28} {start:6.1f}")
    largest = sorted(scales.found.items(), key=itemgetter(1), reverse=True)
    for package, mb in largest[:SHOWN]:
        print(f"{package:28} {mb:6.1f}")
    print(f"{'the rest':28} {sum(mb for _, mb in largest[SHOWN:]):6.1f}")
    print(f"{'everything':28} {resident():6.1f}")


def show(runs: int) -> float:
    print(f"{'idle server, MB':28} {'RSS':>6} {'PSS':>6} {'USS':>6}")
    for name, pages in (("before any page", 0), ("after one page", 1), ("after a hundred pages", 100)):
        found = [of_server(pages) for _ in range(runs)]
        middle = {kind: median(run[kind] for run in found) for kind in found[0]}
        print(f"{name:28} {middle['RSS']:6.1f} {middle['PSS']:6.1f} {middle['USS']:6.1f}")
        if pages == 1:
            after_one = middle["RSS"]
    return after_one


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--imports", action="store_true", help="only the packages, in this process")
    chosen = parser.parse_args()
    if chosen.imports:
        weigh_imports()
        return
    rss = show(chosen.runs)
    print("\nwhat each package adds while it is imported, MB", flush=True)
    with TemporaryDirectory() as folder:
        environment = os.environ | {"DATA_DIR": folder, "LOCAL_MODEL": "0"}
        subprocess.run([sys.executable, "-m", "bench.memory", "--imports"], env=environment, check=True)
    print(f"\nRSS after one page: {rss:.1f} MB (at most {MOST_MB})")
    sys.exit(rss > MOST_MB)


if __name__ == "__main__":
    main()
