"""Providers that staff added, what they said of models and their prices, and the model for everybody who chose none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F

from ..core.items import clean
from ..core.model_name import ModelName
from ..store.database.worded import Worded
from .models import Installation, KnownModel, ModelProvider

THE_ONE = 1


@dataclass(frozen=True, slots=True)
class StaffChoices:
    """All of it. `revision` is not newer than the rest."""

    revision: int = 0
    default_model: str = ""
    providers: tuple[ModelProvider, ...] = ()
    models: tuple[KnownModel, ...] = ()
    not_at_start: frozenset[str] = frozenset()


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


def load_revision() -> int:
    return Installation.objects.filter(pk=THE_ONE).values_list("revision", flat=True).first() or 0


def load_chosen() -> StaffChoices:
    one = Installation.objects.filter(pk=THE_ONE).first() or Installation()
    providers = tuple(ModelProvider.objects.order_by("created_at", "pk"))
    return StaffChoices(
        revision=one.revision,
        default_model=one.default_model,
        providers=providers,
        models=tuple(KnownModel.objects.order_by("name")),
        not_at_start=_names(one.not_at_start),
    )


def _names(kept: object) -> frozenset[str]:
    return (
        frozenset(name for name in kept if isinstance(name, str)) if isinstance(kept, list) else frozenset()
    )


def load_default() -> str:
    return Installation.objects.filter(pk=THE_ONE).values_list("default_model", flat=True).first() or ""


def load_rows(models: Iterable[str]) -> list[KnownModel]:
    """Of whatever names: what a database cannot hold is none."""
    return list(KnownModel.objects.filter(name__in=list(map(clean, models))).order_by("name"))


def load_said(provider: str = "") -> dict[str, KnownModel]:
    """What was said of a provider's models, or of all."""
    rows = KnownModel.objects.order_by("name")
    return {
        row.name: row
        for row in (rows.filter(name__startswith=str(ModelName(clean(provider), ""))) if provider else rows)
    }


_KNOWN = Worded(lambda name: KnownModel.objects.filter(name=name), str)


def load_price(model: str) -> Price | None:
    """None where nobody said what it costs."""
    row = _KNOWN.first(model)
    return _price(row) if row else None


def _price(row: KnownModel) -> Price | None:
    if row.input_price is None or row.output_price is None:
        return None
    return Price(row.input_price, row.output_price, row.cached_price)


def load_prices(models: Iterable[str]) -> dict[str, Price]:
    """Of those of which somebody said what they cost."""
    found = {row.name: _price(row) for row in load_rows(models)}
    return {name: price for name, price in found.items() if price}


@transaction.atomic
def save_provider(provider: ModelProvider) -> None:
    provider.save()
    _rise()


@transaction.atomic
def delete_provider(provider: ModelProvider) -> None:
    """What was said of its models stays, so that old answers keep their names."""
    provider.delete()
    _rise()


@transaction.atomic
def save_said(model: str, *, is_default: bool, **said: Any) -> KnownModel:
    """`said` are fields of the row."""
    row, _ = KnownModel.objects.update_or_create(name=model, defaults=said)
    _rise()
    if is_default:
        Installation.objects.update(default_model=model)
    else:
        Installation.objects.filter(default_model=model).update(default_model="")
    return row


@transaction.atomic
def hide_models(models: Iterable[str], *, hidden: bool) -> None:
    names = list(models)
    KnownModel.objects.bulk_create([KnownModel(name=name) for name in names], ignore_conflicts=True)
    KnownModel.objects.filter(name__in=names).update(is_hidden=hidden)
    _rise()


@transaction.atomic
def save_not_at_start(tools: Iterable[str]) -> None:
    """Built-in tools that new conversations do not begin with."""
    _rise()
    Installation.objects.update(not_at_start=sorted(tools))


def _rise() -> None:
    Installation.objects.get_or_create(pk=THE_ONE)
    Installation.objects.filter(pk=THE_ONE).update(revision=F("revision") + 1)
