"""What staff chose of providers and models, as other processes read it."""

from __future__ import annotations

import pytest

from chatapp.catalog import store as model_providers
from chatapp.catalog.models import Installation, KnownModel, ModelProvider
from chatapp.providers import WIRES

pytestmark = [pytest.mark.django_db, pytest.mark.both]


def provider(name="acme", **more):
    row = ModelProvider(name=name, base_url="https://api.example.org/v1", **more)
    model_providers.save_provider(row)
    return row


def test_staff_may_choose_every_wire():
    assert set(ModelProvider.Dialect.values) == set(WIRES)


def test_every_change_is_seen_by_other_processes():
    row = provider()
    seen = [model_providers.load_revision()]
    for change in (
        lambda: model_providers.save_provider(row),
        lambda: model_providers.save_said("acme:m", is_default=False, label="M"),
        lambda: model_providers.hide_models(["acme:m", "acme:n"], hidden=True),
        lambda: model_providers.delete_provider(row),
    ):
        change()
        seen.append(model_providers.load_revision())
    assert seen == sorted(set(seen)) and len(seen) == 5
    assert Installation.objects.count() == 1


def test_all_of_it_is_read_in_the_order_in_which_it_was_added():
    for name in ("b", "a"):
        provider(name)
    model_providers.save_said("b:m", is_default=True, effort="low")
    chosen = model_providers.load_chosen()
    assert [row.name for row in chosen.providers] == ["b", "a"]
    assert (chosen.default_model, [row.effort for row in chosen.models]) == ("b:m", ["low"])
    assert chosen.revision == model_providers.load_revision()


def test_there_is_one_default_and_whoever_is_it_no_more_takes_nobody_elses():
    model_providers.save_said("a:m", is_default=True)
    model_providers.save_said("a:n", is_default=True)
    model_providers.save_said("a:m", is_default=False)
    assert model_providers.load_default() == "a:n"
    model_providers.save_said("a:n", is_default=False)
    assert model_providers.load_default() == ""


def test_hiding_changes_nothing_else_that_was_said():
    model_providers.save_said("a:m", is_default=False, label="M")
    model_providers.hide_models(["a:m", "a:n"], hidden=True)
    rows = model_providers.load_said("a")
    assert [(name, row.label, row.is_hidden) for name, row in rows.items()] == [
        ("a:m", "M", True),
        ("a:n", "", True),
    ]
    model_providers.hide_models(["a:m"], hidden=False)
    assert not KnownModel.objects.get(name="a:m").is_hidden


def test_what_was_said_of_a_deleted_providers_models_stays():
    row = provider()
    model_providers.save_said("acme:m", is_default=False, label="M")
    model_providers.delete_provider(row)
    assert model_providers.load_said()["acme:m"].label == "M"


def test_one_providers_models_are_not_those_of_one_whose_name_is_longer():
    for name in ("a:m", "ab:m"):
        model_providers.save_said(name, is_default=False)
    assert list(model_providers.load_said("a")) == ["a:m"]
    assert [row.name for row in model_providers.load_rows(["ab:m", "no:such"])] == ["ab:m"]


@pytest.mark.parametrize("name", ["a\0b:m", "\0", "\ud800"])
def test_a_name_that_no_database_holds_is_nobodys(name):
    model_providers.save_said("a:m", is_default=False)
    assert model_providers.load_rows([name]) == []
    assert model_providers.load_said(name) == {}
