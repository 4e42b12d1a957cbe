"""Large numbers, shares and money, short enough for a cell."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from ...core.durations import in_short

NOTHING = "–"
MILLION = 1_000_000


def short(number: int) -> str:
    """`9,999`, `12 k`, `3.1 M`."""
    if number < 10_000:
        return f"{number:,}"
    if number < MILLION:
        return f"{number / 1000:.0f} k" if number < 999_500 else "1.0 M"
    return f"{number / MILLION:,.1f} M"


def share_in_percent(part: int, whole: int) -> str:
    """`1.2 %`; nothing of nothing is no share."""
    if not whole:
        return NOTHING
    percent = 100 * part / whole
    return f"{percent:.0f} %" if percent in (0, 100) else f"{percent:.1f} %"


def ratio(part: int, whole: int) -> str:
    return f"{part / whole:.1f}" if whole else NOTHING


def dollars(millionths: int) -> Decimal:
    return Decimal(millionths) / MILLION


def cost(counts: Mapping[str, int]) -> str:
    """In dollars. Where a price was not known it is said: of some turns, or of all."""
    return f"at least {paid(counts)}" if paid_in_part(counts) else paid(counts)


def paid(counts: Mapping[str, int]) -> str:
    """As far as prices were known."""
    known = counts.get("cost", 0)
    if counts.get("unpriced") and not known:
        return NOTHING
    return "under $ 0.01" if 0 < known < MILLION / 100 else f"$ {dollars(known):,.2f}"


def to_the_hundredth_of_a_cent(millionths: int) -> str:
    """Of one answer, which seldom costs a cent."""
    if 0 < millionths < 100:
        return "under $ 0.0001"
    return f"$ {dollars(millionths):,.4f}" if millionths < MILLION else f"$ {dollars(millionths):,.2f}"


def paid_in_part(counts: Mapping[str, int]) -> bool:
    return bool(counts.get("cost") and counts.get("unpriced"))


def took(ms: int | None) -> str:
    return NOTHING if ms is None else in_short(ms, tenths=True)


def in_bytes(size: int) -> str:
    """`6.1 kB`."""
    for unit, many in (("kB", 1000), ("MB", MILLION), ("GB", 1000 * MILLION)):
        size_in = size / many
        if size_in < 999.5 or unit == "GB":
            return f"{size_in:.1f} {unit}" if size_in < 9.95 else f"{size_in:,.0f} {unit}"
    return NOTHING
