"""Providers as staff see them: those of the environment beside those of rows, each with how it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...core.plural import many
from ...core.signs.visible import visible
from ...providers.configured import Catalog, Listing
from ..models import ModelProvider

OFF = "Switched off."
TAKEN = "The environment has a provider of this name, which is used instead."
NOT_HERE = "This process has not taken it in yet."
ANSWERS = "It answers."
MOST_RAW = 500


@dataclass(frozen=True, slots=True)
class ProviderLine:
    """`row` is none where the environment set it up. `asked`: whether it can be asked for its models."""

    name: str
    label: str
    where: str
    state: str
    models: int
    row: int | None = None
    asked: bool = True
    wrong: bool = False


def provider_lines(
    catalog: Catalog, listings: Iterable[Listing], rows: Iterable[ModelProvider]
) -> list[ProviderLine]:
    told = {listing.provider: listing for listing in listings}
    return [*_of_the_environment(catalog, told), *(_of_row(catalog, told, row) for row in rows)]


def _of_the_environment(catalog: Catalog, told: Mapping[str, Listing]) -> Iterator[ProviderLine]:
    for name in filter(catalog.is_own, catalog.names):
        endpoint = catalog.provider(name).endpoint
        yield _provider_line(told.get(name), name, endpoint.who, endpoint.base_url or "this machine")


def _of_row(catalog: Catalog, told: Mapping[str, Listing], row: ModelProvider) -> ProviderLine:
    label = row.label or row.name
    state = OFF if not row.is_on else TAKEN if catalog.is_own(row.name) else ""
    if state:
        return ProviderLine(row.name, visible(label), visible(row.base_url), state, 0, row.pk, asked=False)
    return _provider_line(told.get(row.name), row.name, label, row.base_url, row.pk)


def _provider_line(
    listing: Listing | None, name: str, label: str, where: str, row: int | None = None
) -> ProviderLine:
    state = NOT_HERE if listing is None else listing.problem or ANSWERS
    count, wrong = len(listing.models) if listing else 0, bool(listing and listing.problem)
    return ProviderLine(name, visible(label), visible(where), visible(state), count, row, wrong=wrong)


def listing_in_words(listing: Listing, seconds: float) -> str:
    """What came of asking for the models."""
    label = visible(listing.label)
    if not listing.problem:
        count = len(listing.models)
        models = many(count, "model") if count else "no models"
        return f"{label} answered in {seconds:.2f} s and lists {models}."
    raw = f" In detail: {visible(listing.raw[:MOST_RAW])}" if listing.raw else ""
    return f"{visible(listing.problem)}{raw}"
