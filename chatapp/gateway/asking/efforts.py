"""How hard a program wants a model to think, in the words that this model knows."""

from __future__ import annotations

from collections.abc import Sequence

from ...providers.base import OFF

ORDER = (OFF, "none", "minimal", "low", "medium", "high", "xhigh", "max")
ON = "on"


def effort_for(said: str, efforts: Sequence[str]) -> str:
    """The nearest that there is; the more where two are as near. "" where the model's own way is as good."""
    if not said or said in efforts:
        return said if said in efforts else ""
    if said not in ORDER or not efforts:
        return ""
    if said in (OFF, "none"):
        return OFF if OFF in efforts else _least(efforts)
    if ON in efforts:
        return ON
    known = [effort for effort in efforts if effort in ORDER and effort != OFF]
    wanted = ORDER.index(said)
    return min(
        known, key=lambda effort: (abs(ORDER.index(effort) - wanted), -ORDER.index(effort)), default=""
    )


def _least(efforts: Sequence[str]) -> str:
    return min((effort for effort in efforts if effort in ORDER), key=ORDER.index, default="")
