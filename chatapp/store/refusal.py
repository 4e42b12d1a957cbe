"""A refusal in words."""

from __future__ import annotations


class Refused(Exception):
    """What was asked for cannot be done; the words are for the person."""


class BeyondLimit(Refused):
    """Enough for now. What was asked before, with the same form, stands."""
