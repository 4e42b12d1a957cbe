"""How soon a provider notices that nobody listens any more."""

from __future__ import annotations

import time
from typing import Any

from tests.support.patience import PATIENCE

SOON = 0.3


def ended_after(up: Any, gone: float, scenario: str | None = None) -> float:
    """Seconds."""
    deadline = time.monotonic() + PATIENCE
    while (request := up.requests(scenario)[-1])["outcome"] == "":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert request["outcome"] == "client_disconnected"
    return float(request["time"] + request["seconds"] - gone)
