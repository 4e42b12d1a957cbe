"""What each kind of process takes of the machine while it rests, for a question, for a letter, and for a notice that is not for it: points
from which `bench.capacity` works out what a crowd needs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from bench.crowd.ours import Ours
from bench.crowd.scene import Scene
from bench.processes.deployment import Many
from bench.processes.notified import CHANNEL

SCENES = {
    "short": Scene(people=60, pace=50, plain=True, seconds=0.42, asking=3, reloaded=False),
    "many short": Scene(people=120, pace=50, plain=True, seconds=0.42, asking=6, reloaded=False),
    "fast": Scene(people=60, pace=50, plain=True, seconds=10, asking=3, reloaded=False),
    "slow": Scene(people=60, pace=10, plain=True, seconds=20, asking=3, reloaded=False),
    "mixed": Scene(people=100, pace=20, plain=True, seconds=10, asking=5, reloaded=False),
}
REST_SECONDS = 15
NOTICES, NOTICES_A_SECOND = 4000, 400


def measure(many: Ours, file: Path) -> None:
    """Written as rows of JSON, one for each point."""
    houses = many.served
    assert isinstance(houses, Many)
    many.play(Scene(people=8, plain=True, seconds=1, reloaded=False))
    with psycopg.connect(houses.database, autocommit=True) as line:
        line.execute(f"LISTEN {CHANNEL}")
        found = [_point(houses, line, "rest", _rested(houses))]
        found.append(_point(houses, line, "notices", _noticed(houses)))
        for name, scene in SCENES.items():
            run = many.play(scene)
            print(
                f"{name:12} {run.per_thousand:.3f} s of CPU for 1,000, {run.frames} frames for {run.deltas} letters,",
                end=" ",
            )
            print(f"{len(run.refused) + len(run.lost)} refused or lost", flush=True)
            what = {"questions": scene.people, "letters": run.deltas, "frames": run.frames}
            what["answering"] = round(scene.people * scene.seconds)
            found.append(_point(houses, line, name, houses.seconds(), **what))
    _write(found, file)


def _point(
    many: Many, line: psycopg.Connection[Any], name: str, seconds: float, **what: int
) -> dict[str, Any]:
    """`notices`: how many each process heard."""
    cpu = {part: round(used, 2) for part, used in many.taken().items()}
    point = {"name": name, "web": len(many.webs), "work": len(many.workers), "seconds": round(seconds, 2)}
    counted = {
        "questions": 0,
        "letters": 0,
        "frames": 0,
        "answering": 0,
        "notices": len(list(line.notifies(timeout=0.5))),
    }
    return point | counted | what | {"cpu": cpu}


def _rested(many: Many) -> float:
    with _looked(many):
        time.sleep(REST_SECONDS)
    return many.seconds()


def _noticed(many: Many) -> float:
    """Of conversations that nobody looks at."""
    with _looked(many), psycopg.connect(many.database, autocommit=True) as line:
        began = time.monotonic()
        for number in range(NOTICES):
            told = [uuid4().hex, uuid4().hex, "turn began", uuid4().hex, 0]
            line.execute("SELECT pg_notify(%s, %s)", [CHANNEL, json.dumps(told)])
            time.sleep(max(0.0, began + number / NOTICES_A_SECOND - time.monotonic()))
    return many.seconds()


@contextmanager
def _looked(many: Many) -> Iterator[None]:
    many.use()
    yield
    many.use()


def _write(found: list[dict[str, Any]], file: Path) -> None:
    day = datetime.now(UTC).date().isoformat()
    rows = ",\n".join(f"  {json.dumps(point)}" for point in found)
    file.write_text(f'{{"day": "{day}", "points": [\n{rows}\n]}}\n')
    print(f"written: {file}")
