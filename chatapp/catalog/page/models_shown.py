"""How models are shown to those who choose one: grouped by provider, with a word on what is special about each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from ...core.signs.lookalikes import outline
from ...providers.base import OFF, ModelSpec
from ...providers.configured import Catalog, Listing, UnknownModel

# More than these are found in the dialog.
MOST = 20
# Of more models than these only the number is told.
MOST_NAMED = 3
EFFORTS = {
    OFF: "Off",
    "": "Default",
    "on": "On",
    "minimal": "Minimal",
    "low": "Low",
    "medium": "Medium",
    "high": "High",
    "xhigh": "Extra high",
    "max": "Max",
}


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One model. `good_at` is said only where something is known of it. `efforts` are its words with spaces between them, as the
    page's script reads them; `effort` is what staff proposes of them."""

    id: str
    name: str
    label: str
    note: str
    efforts: str
    effort: str = ""
    good_at: str = ""


@dataclass(frozen=True, slots=True)
class ProviderGroup:
    """The models of one provider, and what keeps it from telling them."""

    provider: str
    label: str
    choices: tuple[ModelChoice, ...]
    problem: str = ""


def choice(spec: ModelSpec) -> ModelChoice:
    note = "needs no key" if spec.demo else "tiny, answers poorly" if spec.tiny else ""
    good_at = "thinks" if spec.thinks else ""
    label, efforts = spec.label or spec.name, " ".join(spec.efforts)
    return ModelChoice(spec.id, spec.name, label, note, efforts, spec.effort, good_at)


def efforts(spec: ModelSpec) -> tuple[tuple[str, str], ...]:
    """Values and names: off first, then what it does when nothing is chosen; nothing where there is nothing to set."""
    if not spec.efforts:
        return ()
    off = [OFF] if OFF in spec.efforts else []
    order = (*off, "", *(value for value in spec.efforts if value != OFF))
    return tuple((value, EFFORTS.get(value, value)) for value in order)


def all_models(listings: Iterable[Listing], search: str = "") -> tuple[ProviderGroup, ...]:
    """Every model that has all words of the search in its name or its provider's; without one, every provider."""
    words = search.lower().split()
    found = (
        _group(listing, [spec for spec in listing.models if _matches(spec, listing, words)])
        for listing in listings
    )
    return tuple(group for group in found if group.choices or not words)


def few_models(listings: Sequence[Listing], wanted: Iterable[ModelSpec]) -> tuple[ProviderGroup, ...]:
    """The wanted ones and as many others as there is room for, each under its provider."""
    listed = (spec for listing in listings for spec in listing.models)
    chosen: dict[str, ModelSpec] = {}
    for spec in chain(wanted, listed):
        if len(chosen) < MOST:
            chosen.setdefault(spec.id, spec)
    groups = (_group(listing, _models_of(listing, chosen.values())) for listing in listings)
    taken = _looks_taken(chain(chosen.values(), *(listing.models for listing in listings)))
    return tuple(_told_apart(group, taken) for group in groups if group.choices)


def _looks_taken(specs: Iterable[ModelSpec]) -> dict[str, set[str]]:
    """Whose names look like this."""
    taken: dict[str, set[str]] = {}
    for spec in specs:
        for name in (spec.label, spec.name):
            taken.setdefault(outline(name), set()).add(spec.id)
    return taken


def _told_apart(group: ProviderGroup, taken: Mapping[str, set[str]]) -> ProviderGroup:
    """A name that was given, and can be taken for another's, has the full one beside it."""

    def told(choice: ModelChoice) -> ModelChoice:
        given = choice.label != choice.name
        alike = not choice.label.isascii() or len(taken[outline(choice.label)]) > 1
        return replace(choice, note=choice.id) if given and alike else choice

    return replace(group, choices=tuple(map(told, group.choices)))


def usable_models(catalog: Catalog, names: Iterable[str]) -> list[ModelSpec]:
    """Those that are offered, in their order."""
    return [spec for name in names if (spec := find_model(catalog, name))]


def find_model(catalog: Catalog, name: str) -> ModelSpec | None:
    try:
        return catalog.offered(name)[1]
    except UnknownModel:
        return None


def _group(listing: Listing, specs: Iterable[ModelSpec]) -> ProviderGroup:
    return ProviderGroup(listing.provider, listing.label, tuple(map(choice, specs)), listing.problem)


def _models_of(listing: Listing, specs: Iterable[ModelSpec]) -> list[ModelSpec]:
    """In the provider's own order; what it does not list comes last."""
    places = {spec.name: place for place, spec in enumerate(listing.models)}
    own = [spec for spec in specs if spec.provider == listing.provider]
    return sorted(own, key=lambda spec: places.get(spec.name, len(places)))


def _matches(spec: ModelSpec, listing: Listing, words: list[str]) -> bool:
    name = f"{listing.label} {spec.label} {spec.id}".lower()
    return all(word in name for word in words)


def models_in_words(models: Sequence[str]) -> str:
    if len(models) > MOST_NAMED:
        return f"{len(models)} models"
    return " and ".join(filter(None, [", ".join(models[:-1]), models[-1]]))
