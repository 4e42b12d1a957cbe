"""Numbers of things, in words."""

from __future__ import annotations


def many(number: int, thing: str, things: str = "") -> str:
    """`3 steps`, `1 step`."""
    return f"{number:,} {one_or_more(number, thing, things or f'{thing}s')}"


def times(number: int) -> str:
    return one_or_more(number, "once", f"{number:,} times")


def one_or_more(number: int, one: str, more: str) -> str:
    return one if number == 1 else more
