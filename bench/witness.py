"""What a process saw with its own eyes, one line each in a file of its own: a line that was written survives any kill."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from chatapp.core.events import Asked, Event, ItemDone, ItemsStored, ItemStarted, TurnEnded
from chatapp.core.items import Item, Kind
from chatapp.turns.live import Live, Stream

PHASES = {
    Kind.REASONING: "in a thought",
    Kind.ASSISTANT_MESSAGE: "in the text",
    Kind.TOOL_CALL: "in a call's arguments",
    Kind.TOOL_RESULT: "in a tool",
}


class Witness:
    """Appends only. One write is one line, so that a kill leaves whole lines."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(self, what: str, **facts: Any) -> None:
        line = json.dumps({"what": what, "at": time.monotonic(), **facts}, default=str)
        os.write(self._file, line.encode() + b"\n")


def read(path: Path) -> list[dict[str, Any]]:
    """A line without its end is still being written."""
    whole, _, _ = path.read_text().rpartition("\n") if path.exists() else ("", "", "")
    return [json.loads(line) for line in whole.splitlines()]


class WitnessedLive:
    """Carries on what a turn publishes, and notes its phase and, after their commit, the items that were stored."""

    def __init__(self, live: Live, witness: Witness) -> None:
        self._publish, self._note = live.publish, witness.note
        self._done: dict[tuple[Stream, str], Item] = {}

    def publish(self, stream: Stream, event: Event, at: float) -> None:
        self._publish(stream, event, at)
        match event:
            case ItemDone():
                self._done[stream, event.item.key] = event.item
                self._phase(stream, "between two items")
            case ItemsStored():
                items = [self._done.pop((stream, key)) for key in event.keys]
                rows = [[item.key, item.kind, item.text] for item in items]
                self._note("stored", message=stream[0], attempt=stream[1], items=rows)
                self._phase(stream, "between two rounds")
            case ItemStarted():
                self._phase(stream, PHASES[event.kind])
            case Asked():
                self._phase(stream, "before the first sign")
            case TurnEnded():
                self._phase(stream, "")
            case _:
                pass

    def _phase(self, stream: Stream, phase: str) -> None:
        self._note("phase", message=stream[0], phase=phase)
