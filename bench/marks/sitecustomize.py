"""Notes from outside when a server reaches each step of its start. Python reads this file where its folder is in PYTHONPATH."""

from __future__ import annotations

import os
import sys
import time

# What Python itself tells when a step is over, in this order.
STEPS = [
    ("import", "chatapp.config.secret_key", "Django's commands imported"),
    ("import", "daphne.server", "settings read"),
    ("import", "daphne.endpoints", "Twisted, Daphne, rows set up"),
    ("import", "chatapp.accounts.views", "serve imported"),
    ("socket.bind", "", "pages and engine imported, checks run"),
    ("sqlite3.connect", "", "static files looked at"),
    ("import", "chatapp.asgi", "migrations looked at"),
    ("socket.bind", "", "listening"),
]


def mark(step: str) -> None:
    with open(os.environ["BENCH_MARKS"], "a") as marks:
        marks.write(f"{time.monotonic()} {step}\n")


def hook(event: str, arguments: tuple[object, ...]) -> None:
    if STEPS and event == STEPS[0][0] and (event != "import" or arguments[0] == STEPS[0][1]):
        mark(STEPS.pop(0)[2])


if "BENCH_MARKS" in os.environ:
    mark("Python started")
    sys.addaudithook(hook)
