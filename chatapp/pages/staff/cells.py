"""Moments, as they may stand in a cell."""

from __future__ import annotations

from datetime import datetime, tzinfo

from django.utils import dateformat


def moment(at: datetime | None, zone: tzinfo) -> str:
    return dateformat.format(at.astimezone(zone), "j M Y, H:i") if at else ""
