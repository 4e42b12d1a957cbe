"""When a text was cut and when it went on, as whoever looks reads it."""

from __future__ import annotations

from datetime import datetime, tzinfo

from ..core.recorded import Gap
from ..pages.words.moments import Moment


def gap_in_words(gap: Gap | None, zone: tzinfo) -> str:
    """Empty where it was not written down."""
    if gap is None:
        return ""
    stopped, went_on = (Moment(datetime.fromtimestamp(at, zone)) for at in (gap.stopped, gap.went_on))
    if stopped.date == went_on.date:
        return f"stopped at {stopped.clock}, went on at {went_on.clock}"
    return f"stopped {stopped.date}, went on {went_on.date}"
