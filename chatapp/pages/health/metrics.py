"""The figures of this process and of its database, as Prometheus reads them. Numbers only: no names, no words."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from django.db import Error

from ... import store
from ...store.models import LIVE
from .counters import REQUESTS

# What rooms count beside the turns: the name of a gauge, what it is, and its number now.
ALSO: list[tuple[str, str, Callable[[], int]]] = []


def render_metrics() -> str:
    return "".join(_metric_lines())


def _metric_lines() -> Iterator[str]:
    yield from _family(
        "http_responses_total", "counter", "Answers to requests, by status.", "status", REQUESTS
    )
    yield from _family("process_memory_bytes", "gauge", "Memory of this process.", "", {"": _memory()})
    try:
        turns, beside = store.count_turns(), [(name, words, count()) for name, words, count in ALSO]
    except Error:
        yield from _family("database_answers", "gauge", "1 when the database answers.", "", {"": 0})
        return
    yield from _family("database_answers", "gauge", "1 when the database answers.", "", {"": 1})
    yield from _family("turns", "gauge", "Turns in the database, by status.", "status", turns)
    running = sum(turns.get(status, 0) for status in LIVE)
    yield from _family("turns_live", "gauge", "Turns that have not ended.", "", {"": running})
    for name, words, number in beside:
        yield from _family(name, "gauge", words, "", {"": number})


def _family(name: str, kind: str, words: str, label: str, values: Mapping[str, int]) -> Iterator[str]:
    yield f"# HELP thoughtline_{name} {words}\n# TYPE thoughtline_{name} {kind}\n"
    for value in sorted(values):
        labels = f'{{{label}="{value}"}}' if label else ""
        yield f"thoughtline_{name}{labels} {values[value]}\n"


def _memory() -> int:
    """Now, where the system tells; else the most there ever was."""
    now = Path("/proc/self/statm")
    if now.exists():
        return int(now.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
