"""Models as staff see them: what the providers list, and what was said of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from ...core.model_name import ModelName
from ...core.signs.visible import visible
from ...providers.base import ModelSpec
from ...providers.configured import Listing
from ..models import KnownModel
from .models_shown import EFFORTS


@dataclass(frozen=True, slots=True)
class ModelLine:
    """`own` is what its provider calls it, where it was given another name."""

    id: str
    shown_id: str
    label: str
    own: str
    is_hidden: bool
    is_listed: bool
    is_default: bool
    effort: str
    price: str

    @property
    def query(self) -> str:
        return urlencode({"name": self.id})


def model_lines(
    listings: Iterable[Listing], said: Mapping[str, KnownModel], *, default: str, search: str = ""
) -> list[ModelLine]:
    """Every model that has all words of the search, those at the end that nobody lists."""
    listed = {spec.id: spec for listing in listings for spec in listing.models}
    shown = [
        _model_line(name, listed.get(name), said.get(name), default)
        for name in {**listed, **dict.fromkeys(said)}
    ]
    words = search.lower().split()
    return [
        line for line in shown if all(word in f"{line.id} {line.label} {line.own}".lower() for word in words)
    ]


def _model_line(name: str, spec: ModelSpec | None, row: KnownModel | None, default: str) -> ModelLine:
    own = (spec.label if spec else "") or ModelName.of(name).own
    label = (row.label if row else "") or own
    return ModelLine(
        id=name,
        shown_id=visible(name),
        label=visible(label),
        own=visible(own) if label != own else "",
        is_hidden=bool(row and row.is_hidden),
        is_listed=spec is not None,
        is_default=name == default,
        effort=EFFORTS.get(row.effort, row.effort) if row and row.effort else "",
        price=_price(row) if row else "",
    )


def _price(row: KnownModel) -> str:
    if row.input_price is None or row.output_price is None:
        return ""
    cached = "" if row.cached_price is None else f" ({row.cached_price.normalize():f} cached)"
    return f"{row.input_price.normalize():f}{cached} in, {row.output_price.normalize():f} out"
