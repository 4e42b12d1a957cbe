"""Reads what the socket says, as `static/js/live.js` does: the other half of `chatapp/live/outbox.py`."""

from __future__ import annotations

import json
from typing import Any


class Frames:
    """One connection. `count`: how many messages came."""

    def __init__(self) -> None:
        self.count = 0
        self._pieces = self._body = ""

    def read(self, message: str) -> list[list[Any]]:
        """The operations that this message completes."""
        self.count += 1
        if message.startswith("+"):
            self._pieces += message[1:]
            return []
        frame, self._pieces = json.loads(self._pieces + message.removeprefix("=")), ""
        operations: list[list[Any]] = [["text", "", frame]] if isinstance(frame, str) else frame
        for each in operations:
            if each[0] in ("text", "piece", "blocks"):
                self._body = each[1] = each[1] or self._body
        return operations
