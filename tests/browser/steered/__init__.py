"""A provider whose answers a test steers: when each event goes out is decided there."""

from .answer import Gone, Script
from .plans import Call, Cut, Held, Pause, Refuse, Silence, Think, Write, too_long
from .server import Asked, Upstream, running

__all__ = [
    "Asked",
    "Call",
    "Cut",
    "Gone",
    "Held",
    "Pause",
    "Refuse",
    "Script",
    "Silence",
    "Think",
    "Upstream",
    "Write",
    "running",
    "too_long",
]
