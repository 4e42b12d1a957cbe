"""How a job and its answer cross the pipe to the process that renders: JSON after its length."""

from __future__ import annotations

import json
from typing import Any, BinaryIO

LENGTH = 8


def framed(value: Any) -> bytes:
    frame = json.dumps(value).encode()
    return len(frame).to_bytes(LENGTH, "big") + frame


def read_frame(source: BinaryIO) -> bytes:
    """Empty when the other side has ended."""
    return source.read(int.from_bytes(source.read(LENGTH), "big"))
