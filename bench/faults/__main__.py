"""Plays faults on two processes that serve and two that work, with a hundred answers at a time, and proves that nothing is lost, doubled,
stuck or somebody else's.

Run it as root with `python -m bench.faults --faults 500 --seed 1`: it starts a PostgreSQL and a Redis of its own, and plays machines with
network namespaces, which all go away. What was played is kept in a journal, stretch by stretch; with `--resume` a run that was stopped is
taken up where it was. With `--broken without-fence` or `--broken heartbeat-on-the-loop` the house is a broken build, which must end with
a breach (code 1).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import django

from bench.faults.broken import BROKEN, broken_copy
from bench.faults.house import MACHINES, housing
from bench.faults.journal import Journal
from bench.faults.network import network
from tests.browser.served import ROOT

# Faults between two looks at everything.
STRETCH = 25


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--faults", type=int, default=500)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--resume", action="store_true", help="goes on where a run of this seed was stopped")
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--stretch", type=int, default=STRETCH, help="faults between two looks at everything")
    parser.add_argument("--only", default="", help="faults whose names have this in them")
    parser.add_argument("--journal", type=Path, help="another file than one named for the seed")
    parser.add_argument("--broken", choices=BROKEN)
    chosen = parser.parse_args()
    # Told to end, it still takes everything away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    journal = Journal(
        chosen.journal or Path(gettempdir()) / f"faults-{chosen.seed}.jsonl", resumes=chosen.resume
    )
    if journal.faults < chosen.faults:
        _play(journal, chosen)
    journal.report()
    print(f"seed {chosen.seed}")
    sys.exit(1 if journal.breaches else 0)


def _play(journal: Journal, chosen: argparse.Namespace) -> None:
    with TemporaryDirectory(prefix="faults-") as name:
        folder = Path(name)
        checkout = broken_copy(chosen.broken, folder) if chosen.broken else ROOT
        with network(MACHINES) as machines, housing(machines, folder, checkout) as house:
            os.environ["DJANGO_SETTINGS_MODULE"] = "chatapp.settings"
            # Settings read the environment when they are first imported.
            django.setup()
            from bench.faults.run import run

            try:
                asyncio.run(run(house, journal, chosen))
            finally:
                journal.keep_logs(folder)


if __name__ == "__main__":
    main()
