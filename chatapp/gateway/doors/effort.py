"""How much a program wants thought, in one word, however it says so."""

from __future__ import annotations

from ...providers.base import OFF
from .given import Given

# Up to so many tokens of thoughts are called this.
BUDGETS = (("low", 8_192), ("medium", 24_576))
MOST = "high"


def effort_word(given: Given) -> str:
    word = given.text().strip().lower()
    return OFF if word in ("none", OFF) else word


def effort_by_budget(tokens: int) -> str:
    return next((word for word, limit in BUDGETS if tokens <= limit), MOST)


def effort_by_switch(thinking: Given) -> str:
    """`thinking`, as Anthropic and several others have it: off, by a budget, or as its model likes."""
    budget = thinking.take("budget_tokens", Given.count)
    if thinking.says("type") == "disabled":
        return OFF
    return effort_by_budget(budget) if budget else ""
