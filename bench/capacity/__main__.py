"""What so many people need: processes, connections, PostgreSQL and Redis, and what stops first.

Run it with `python -m bench.capacity --people 10000`. It works that out from what was measured (`bench/capacity/measured.json`), in cores
of the machine on which that was. With `--document` it writes its tables into `docs/scale.md`.
"""

from __future__ import annotations

import argparse

from bench.capacity.document import DOCUMENT, documented, limits, needs, prices
from bench.capacity.model import Crowd
from bench.capacity.points import costs, load_points


def main() -> None:
    usual = Crowd(people=0)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument(
        "--online", type=float, default=usual.online, help="the share that is there when most are"
    )
    parser.add_argument("--asks", type=float, default=usual.asks, help="questions of each of them in an hour")
    parser.add_argument("--seconds", type=float, default=usual.seconds, help="until an answer has ended")
    parser.add_argument("--pace", type=float, default=usual.pace, help="its letters a second")
    parser.add_argument("--tabs", type=float, default=usual.tabs, help="pages of each of them")
    parser.add_argument("--document", action="store_true")
    chosen = parser.parse_args()
    if chosen.document:
        DOCUMENT.write_text(documented(DOCUMENT.read_text()))
        return
    paid = costs(load_points())
    shape = {name: getattr(chosen, name) for name in ("online", "asks", "seconds", "pace", "tabs")}
    crowds = [Crowd(people=people, **shape) for people in chosen.people]
    print("\n\n".join([prices(paid), needs(crowds, paid), limits(crowds[0], paid)]))


if __name__ == "__main__":
    main()
