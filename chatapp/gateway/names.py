"""What a program's word for a model means: the key's own names, then a whole name, then a bare one where exactly one provider has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from ..core.model_name import ModelName
from ..core.signs.visible import visible
from ..providers.base import ModelSpec
from ..providers.configured import Catalog, UnknownModel
from .models import ApiKey

# Some programs refuse colons.
SEPARATORS = ":/"
MOST_NEAR = 3
LONGEST_SHOWN = 80
_PARTS = re.compile(r"[a-z]+|[0-9]+")


class NoSuchModel(LookupError):
    """Its words are for whoever runs the program."""


class ModelListed(NamedTuple):
    """One name by which a model can be asked."""

    name: str
    spec: ModelSpec


async def known_models(catalog: Catalog) -> tuple[ModelSpec, ...]:
    """What is offered, as far as the providers tell it soon."""
    return tuple(spec for listing in await catalog.models_soon() for spec in listing.models)


def model_meant(
    word: str, key: ApiKey, catalog: Catalog, *, known: Sequence[ModelSpec], default: str
) -> ModelSpec:
    """NoSuchModel where it means none, several, or one that this key may not ask. `default`: what is asked where nobody chose."""
    said = word.strip()
    name = _named(said, key, catalog, known) if said else _unnamed(key, default)
    if key.models and name not in key.models:
        raise NoSuchModel(f"This key may not ask {_shown(name)}. {_it_may_ask(key.models)}")
    try:
        return catalog.offered(name)[1]
    except UnknownModel as error:
        raise NoSuchModel(f"{error}{_near(said, known)}") from error


def models_listed(key: ApiKey, catalog: Catalog, *, known: Sequence[ModelSpec]) -> list[ModelListed]:
    """All names by which this key can ask: its own, whole ones, and bare ones where they are plain."""
    allowed = [spec for spec in known if not key.models or spec.id in key.models]
    unlisted = [spec for name in key.models if (spec := _offered(catalog, name)) and spec not in allowed]
    own = {name: spec for name, model in key.names.items() if (spec := _offered(catalog, model))}
    found = dict(own)
    for spec in [*allowed, *unlisted]:
        found.setdefault(spec.id, spec)
    for spec in allowed:
        if _listed_as(spec.name, catalog, known) == [spec.id]:
            found.setdefault(spec.name, spec)
    may = set(key.models)
    return [ModelListed(name, spec) for name, spec in found.items() if not may or spec.id in may]


def short_name(spec: ModelSpec, catalog: Catalog, known: Sequence[ModelSpec]) -> str:
    """The shortest one that means it, without the colon that some programs refuse."""
    for name in (spec.name, f"{spec.provider}/{spec.name}"):
        if _listed_as(name, catalog, known) == [spec.id]:
            return name
    return spec.id


def _offered(catalog: Catalog, name: str) -> ModelSpec | None:
    try:
        return catalog.offered(name)[1]
    except UnknownModel:
        return None


def _unnamed(key: ApiKey, default: str) -> str:
    if key.default_model:
        return key.default_model
    return default if not key.models or default in key.models else str(key.models[0])


def _named(word: str, key: ApiKey, catalog: Catalog, known: Sequence[ModelSpec]) -> str:
    if word in key.names:
        return str(key.names[word])
    meant = _listed_as(word, catalog, known)
    if len(meant) > 1:
        raise NoSuchModel(f"Several providers have {_shown(word)}. Say which: {_one_of(meant)}.")
    # A whole name may be of a model that its provider does not list.
    found = next(iter([*meant, *_whole(word, catalog)]), "")
    if not found:
        raise NoSuchModel(f"No model here is called {_shown(word)}.{_near(word, known)}")
    return found


def _listed_as(word: str, catalog: Catalog, known: Sequence[ModelSpec]) -> list[str]:
    """The whole names of those that are listed and that it can mean."""
    whole = [name for name in _whole(word, catalog) if any(spec.id == name for spec in known)]
    return whole[:1] or [spec.id for spec in known if spec.name == word]


def _whole(word: str, catalog: Catalog) -> Iterable[str]:
    """As `provider:name`, where such a provider is here."""
    for separator in SEPARATORS:
        provider, _, own = word.partition(separator)
        if own and provider in catalog.names:
            yield str(ModelName(provider, own))


def _near(word: str, known: Sequence[ModelSpec]) -> str:
    """A sentence that names those whose names share most of their parts with this word; "" where there are none."""
    wanted = _parts(word[:LONGEST_SHOWN])
    shared = [(_weight(wanted & _parts(spec.id)), spec.id) for spec in known]
    ranked = sorted(((weight, name) for weight, name in shared if weight > 1), key=lambda it: -it[0])
    _, best = next(groupby(ranked, key=lambda it: it[0]), (0, iter(())))
    names = [name for _, name in best][:MOST_NEAR]
    return f" Did you mean {_one_of(names)}?" if names else " All of them are listed at /v1/models."


def _parts(text: str) -> set[str]:
    return set(_PARTS.findall(text.lower()))


def _weight(parts: set[str]) -> int:
    """A number says less than a word."""
    return sum(2 if part.isalpha() else 1 for part in parts)


def _it_may_ask(models: Sequence[str]) -> str:
    more = len(models) - MOST_NEAR
    return f"It may ask {', '.join(models[:MOST_NEAR])}{f' and {more} more' if more > 0 else ''}."


def _one_of(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def _shown(word: str) -> str:
    return f"“{visible(word[:LONGEST_SHOWN])}”"
