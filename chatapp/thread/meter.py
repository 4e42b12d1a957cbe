"""How full a conversation is, once that matters: in percent of its model's window, and which models have more room."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from uuid import UUID

from django.utils.safestring import SafeString

from ..core.model_name import ModelName
from ..core.recorded import Recorded
from ..pages.stencils import Stencil
from ..providers.base import ModelSpec
from ..providers.configured import Catalog, UnknownModel
from ..store.branches import count_characters
from ..store.leaving_out import CHARACTERS_PER_TOKEN, has_older
from ..store.models import LIVE, Message

_METER = Stencil("thread/_meter.html")
SHOWN_FROM = 80
FEW_MODELS = 3


@dataclass(frozen=True, slots=True)
class Meter:
    percent: int
    words: str
    may_leave_out: bool = True


@dataclass(frozen=True, slots=True)
class Larger:
    """A model with more room."""

    id: str
    label: str
    window: int

    @property
    def room(self) -> str:
        return f"{self.window:,} tokens"


def meter_of(
    answer: Message,
    window: int | None,
    *,
    label: str = "",
    characters: Callable[[UUID], int] = count_characters,
) -> Meter | None:
    """For the last answer of a branch; None while there is room. `characters`: what is said on the branch, asked for only
    where the provider did not count."""
    if not window:
        return None
    rounds = Recorded(answer.metadata).rounds
    counted = rounds[-1].fills if rounds else None
    tokens = characters(answer.pk) // CHARACTERS_PER_TOKEN if counted is None else counted
    percent = tokens * 100 // window
    if percent < SHOWN_FROM:
        return None
    model = label or ModelName.of(answer.model).own or answer.model
    about = "about " if counted is None else ""
    return Meter(percent, f"This conversation fills {about}{percent:,} % of {model}’s window")


def meter_for(answer: Message | None, catalog: Catalog) -> Meter | None:
    """For the end of a branch. While an answer is being written there is nothing to choose."""
    if answer is None or answer.status in LIVE:
        return None
    with suppress(UnknownModel):
        meter = meter_of(answer, catalog.find(answer.model)[1].window)
        return meter and replace(meter, may_leave_out=has_older(answer))
    return None


def is_to_be_counted(answer: Message, catalog: Catalog) -> bool:
    """Whether it is said how full its conversation is, and its provider did not say it."""
    with suppress(UnknownModel):
        rounds = Recorded(answer.metadata).rounds
        return bool(catalog.find(answer.model)[1].window) and (not rounds or rounds[-1].fills is None)
    return False


def render_meter(meter: Meter | None) -> SafeString:
    if meter is None:
        return _METER.fill({"meter": None}, {})
    words = {"meter.percent": meter.percent, "meter.words": meter.words}
    return _METER.fill({"meter.may_leave_out": meter.may_leave_out}, words)


def larger(window: int | None, models: Iterable[ModelSpec]) -> tuple[Larger, ...]:
    """The few next larger ones; of an unknown window, the largest there are."""
    known = {spec.id: spec for spec in models if (spec.window or 0) > (window or 0)}
    by_size = sorted(known.values(), key=lambda spec: spec.window or 0, reverse=window is None)
    return tuple(Larger(spec.id, spec.label or spec.name, spec.window or 0) for spec in by_size[:FEW_MODELS])
