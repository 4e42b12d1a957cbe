"""A database that takes nothing while a test says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connections

from bench.shut import Lock, impatient
from chatapp import store

# Waiting is no matter of what is tested here: a write that finds the database locked is told so at once.
IMPATIENT = 0.02


@contextmanager
def lock() -> Iterator[Lock]:
    made = Lock()
    with impatient(IMPATIENT):
        store.close_threads()
        try:
            yield made
        finally:
            made.open()
            store.close_threads()
            connections.close_all()
