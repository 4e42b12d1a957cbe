"""Whether this machine has too much to do: then what is done late tells nothing of those who do it."""

from __future__ import annotations

import re
import time
from pathlib import Path

PRESSURE = Path("/proc/pressure/cpu")
# Of the time that somebody waited for a processor.
MUCH = 0.5


class Busyness:
    """From its making on. A kernel that does not tell is taken to have time."""

    def __init__(self) -> None:
        self._began, self._waited = time.monotonic(), _waited()

    @property
    def is_much(self) -> bool:
        return _waited() - self._waited > MUCH * (time.monotonic() - self._began)


def _waited() -> float:
    """Seconds, since the machine was started."""
    found = re.search(r"some .*total=([0-9]+)", PRESSURE.read_text()) if PRESSURE.exists() else None
    return int(found[1]) / 1e6 if found else 0.0
