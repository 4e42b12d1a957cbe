"""What an answer costs, by the prices that staff wrote down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from .models import KnownModel


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, which is millionths of a dollar for one. `cached` is like `input` where nobody said otherwise."""

    input: Decimal
    output: Decimal
    cached: Decimal | None = None

    def cost(self, usage: Mapping[str, int]) -> int:
        """In millionths of a dollar."""
        cached = min(usage.get("cached", 0), usage.get("input", 0))
        fresh = usage.get("input", 0) - cached
        once_more = self.input if self.cached is None else self.cached
        return round(fresh * self.input + cached * once_more + usage.get("output", 0) * self.output)


def load_price(model: str) -> Price | None:
    """None where nobody said what it costs."""
    row = KnownModel.objects.filter(name=model).first()
    if row is None or row.input_price is None or row.output_price is None:
        return None
    return Price(row.input_price, row.output_price, row.cached_price)
