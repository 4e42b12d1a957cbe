"""Providers that staff added, what they said of models, and the model for everybody who chose none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F

from ..models import Installation, KnownModel, ModelProvider

THE_ONE = 1


@dataclass(frozen=True, slots=True)
class Chosen:
    """All of it. `revision` is not newer than the rest."""

    revision: int = 0
    default_model: str = ""
    providers: tuple[ModelProvider, ...] = ()
    models: tuple[KnownModel, ...] = ()


def load_revision() -> int:
    return Installation.objects.filter(pk=THE_ONE).values_list("revision", flat=True).first() or 0


def load_chosen() -> Chosen:
    one = Installation.objects.filter(pk=THE_ONE).first() or Installation()
    providers = tuple(ModelProvider.objects.order_by("created_at", "pk"))
    return Chosen(one.revision, one.default_model, providers, tuple(KnownModel.objects.order_by("name")))


def load_default() -> str:
    return Installation.objects.filter(pk=THE_ONE).values_list("default_model", flat=True).first() or ""


def load_said(models: Iterable[str]) -> dict[str, KnownModel]:
    return {row.name: row for row in KnownModel.objects.filter(name__in=list(models))}


def load_said_of(provider: str) -> dict[str, KnownModel]:
    return {row.name: row for row in KnownModel.objects.filter(name__startswith=f"{provider}:")}


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
def say(model: str, **said: Any) -> KnownModel:
    """`said` are fields of the row."""
    row, _ = KnownModel.objects.update_or_create(name=model, defaults=said)
    _rise()
    return row


@transaction.atomic
def hide(models: Iterable[str], *, hidden: bool) -> None:
    names = list(models)
    KnownModel.objects.bulk_create([KnownModel(name=name) for name in names], ignore_conflicts=True)
    KnownModel.objects.filter(name__in=names).update(is_hidden=hidden)
    _rise()


@transaction.atomic
def choose_default(model: str) -> None:
    """Empty for none."""
    _rise()
    Installation.objects.filter(pk=THE_ONE).update(default_model=model)


def _rise() -> None:
    Installation.objects.get_or_create(pk=THE_ONE)
    Installation.objects.filter(pk=THE_ONE).update(revision=F("revision") + 1)
