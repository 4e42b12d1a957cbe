"""The current time, in any zone."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from difflib import get_close_matches
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import Field

from .base import ToolError, tool

Zone = Annotated[
    str, Field(max_length=100, description="An IANA time zone such as Europe/Berlin or America/New_York.")
]


def clock(zone: Zone = "UTC") -> str:
    """The current date and time in a time zone. Call it whenever an answer depends on what day or time it is now."""
    return in_zone(datetime.now(UTC), zone)


def in_zone(now: datetime, zone: str) -> str:
    """This moment as the clocks there show it."""
    there = now.astimezone(_zone(zone))
    return f"{there:%A}, {there.isoformat(sep=' ', timespec='seconds')} ({zone})"


def _zone(name: str) -> tzinfo:
    # UTC is known even where a machine has no list of time zones.
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise ToolError(_unknown(name)) from None


def _unknown(name: str) -> str:
    words = f"There is no time zone {name!r}. Use an IANA name such as Europe/Berlin."
    places = {zone.rpartition("/")[2].lower(): zone for zone in sorted(available_timezones())}
    wanted = name.rpartition("/")[2].strip().replace(" ", "_").lower()
    meant = [
        places[place]
        for place in get_close_matches(wanted, places, n=1 if wanted in places else 3, cutoff=0.75)
    ]
    return f"{words} Perhaps {' or '.join(meant)}?" if meant else words


TOOL = tool(clock, title="Current time", safe=True, idempotent=True, timeout=10.0)
