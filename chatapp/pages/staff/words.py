"""Texts of others, as they may stand in a cell."""

from __future__ import annotations

from datetime import datetime, tzinfo

from django.utils import dateformat

from ...core.signs import HIDDEN


def visible(text: str) -> str:
    """With every sign that deceives the eye as what it is."""
    return HIDDEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def moment(at: datetime | None, zone: tzinfo) -> str:
    return dateformat.format(at.astimezone(zone), "j M Y, H:i") if at else ""
