"""A refusal in words."""

from __future__ import annotations


class Refused(Exception):
    """What was asked for cannot be done; the words are for the person."""
