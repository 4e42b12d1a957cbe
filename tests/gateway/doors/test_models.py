"""The list of models, as each kind of client reads it."""

from __future__ import annotations

from typing import Any

import pytest

from chatapp.gateway.doors.models import (
    ListedModel,
    for_anthropic,
    for_openai,
    one_for_anthropic,
    one_for_openai,
)

MODELS = [ListedModel(f"p:m{n}", f"Model {n}", 1_795_000_000 + n, "p") for n in range(4)]
NAMELESS = ListedModel("p:x", "", 0, "p")


def ids(page: dict[str, Any]) -> list[str]:
    return [row["id"] for row in page["data"]]


def test_openais_clients_get_all_of_them() -> None:
    told = for_openai(MODELS)
    assert told["object"] == "list" and ids(told) == ["p:m0", "p:m1", "p:m2", "p:m3"]
    assert told["data"][0] == {"id": "p:m0", "object": "model", "created": 1_795_000_000, "owned_by": "p"}


def test_anthropics_clients_get_names_and_moments() -> None:
    assert one_for_anthropic(MODELS[0]) == {
        "type": "model",
        "id": "p:m0",
        "display_name": "Model 0",
        "created_at": "2026-11-18T11:06:40Z",
        "lifecycle": "active",
    }
    assert one_for_anthropic(NAMELESS)["display_name"] == "p:x"


@pytest.mark.parametrize(
    "where, page, more",
    [
        ({}, ["p:m0", "p:m1", "p:m2", "p:m3"], False),
        ({"limit": 2}, ["p:m0", "p:m1"], True),
        ({"limit": 2, "after": "p:m1"}, ["p:m2", "p:m3"], False),
        ({"limit": 2, "before": "p:m3"}, ["p:m1", "p:m2"], True),
        ({"limit": 0}, ["p:m0"], True),
        ({"after": "unknown"}, ["p:m0", "p:m1", "p:m2", "p:m3"], False),
        ({"after": "p:m3"}, [], False),
    ],
)
def test_anthropics_clients_turn_pages(where: dict[str, Any], page: list[str], more: bool) -> None:
    told = for_anthropic(MODELS, **where)
    assert (ids(told), told["has_more"]) == (page, more)
    assert (told["first_id"], told["last_id"]) == ((page[0], page[-1]) if page else (None, None))


def test_the_clients_own_types_take_both() -> None:
    openai = pytest.importorskip(
        "openai.types", reason="openai is not installed: its list of models is not tried"
    )
    anthropic = pytest.importorskip(
        "anthropic.types", reason="anthropic is not installed: its list is not tried"
    )
    openai.Model.model_validate(one_for_openai(MODELS[0]))
    anthropic.ModelInfo.model_validate(one_for_anthropic(MODELS[0]))
