"""Kills a serving process again and again, at random moments and at every write, and proves that nothing is lost or doubled.

Run it with `python -m bench.kill --rounds 200 [--database postgres://postgres@127.0.0.1:5432/postgres]`. Between
whiles the database takes nothing, for as long as `--shut` says. With `--without-fence` the process is a broken build, in which a
frozen process writes on after others took over; with `--without-start-records` one in which calls run without being written down
before; with `--without-journal` one in which what waits for the database is lost with its process. Then the run must end with a
breach (code 1).
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
import time
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import django

from .own_database import own_database


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=math.inf, help="no round begins after so many")
    parser.add_argument(
        "--database", default="", help="a PostgreSQL server; a database is made there and dropped again"
    )
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--without-fence", action="store_true", help="the broken build, which must be caught")
    parser.add_argument("--without-start-records", action="store_true", help="another one")
    parser.add_argument("--without-journal", action="store_true", help="and a third")
    parser.add_argument(
        "--shut", type=float, nargs=2, default=(0.7, 1.5), help="seconds at least and at most", metavar="S"
    )
    chosen = parser.parse_args()
    # Told to end, it still takes its database away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with TemporaryDirectory(prefix="kill-") as folder, own_database(chosen.database, "kill") as url:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "chatapp.settings",
            "DATA_DIR": folder,
            "DATABASE_URL": url,
            "LOCAL_MODEL": "0",
            "LOG_LEVEL": "error",
        }
        # Settings read the environment when they are first imported.
        django.setup()
        from .kill_rounds import run

        breaches = run(
            Path(folder),
            Random(chosen.seed),
            chosen.rounds,
            minutes=chosen.minutes,
            shut=tuple(chosen.shut),
            fenced=not chosen.without_fence,
            begun=not chosen.without_start_records,
            noted=not chosen.without_journal,
        )
    print(f"seed {chosen.seed}")
    sys.exit(1 if breaches else 0)


if __name__ == "__main__":
    main()
