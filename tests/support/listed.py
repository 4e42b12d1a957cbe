"""Models that are here without anybody being asked for them."""

from __future__ import annotations

from chatapp.core.model_name import ModelName
from chatapp.providers.base import Endpoint, ModelSpec
from chatapp.providers.configured import Catalog, Listing

EFFORTS = ("off", "low", "high")


def model(provider: str, name: str, **more) -> ModelSpec:
    return ModelSpec(provider=provider, dialect="chat", name=name, **more)


def listing(provider: str, *names: str, problem: str = "", **more) -> Listing:
    """`more` is said of each of its models."""
    specs = tuple(model(provider, name, **more) for name in names)
    return Listing(provider=provider, label=provider.capitalize(), models=specs, problem=problem)


class ListedCatalog(Catalog):
    """The demo comes last, as always."""

    def __init__(self, *listings: Listing) -> None:
        endpoints = [
            Endpoint(name=it.provider, dialect="chat", base_url="http://127.0.0.1:9") for it in listings
        ]
        super().__init__(endpoints)
        self._listings = listings

    async def _listing(self, provider):
        known = [it for it in self._listings if it.provider == provider.endpoint.name]
        return known[0] if known else await super()._listing(provider)

    def _listed(self, name: ModelName) -> ModelSpec | None:
        return next((spec for it in self._listings for spec in it.models if spec.id == str(name)), None)
