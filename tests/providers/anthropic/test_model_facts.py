"""Which of Anthropic's models think, how, and how hard."""

from __future__ import annotations

from typing import Any

import pytest

from chatapp.providers.anthropic.messages import WIRE
from chatapp.providers.anthropic.model_facts import FACTS, known
from chatapp.providers.base import OFF, Endpoint, ModelSpec

ENDPOINT = Endpoint(name="anthropic", dialect="messages")
THREE = ("low", "medium", "high")
FIVE = (*THREE, "xhigh", "max")


def model(name: str, **row: Any) -> ModelSpec:
    return WIRE.model(ENDPOINT, {"id": name, **row})


def supports(**names: bool) -> dict[str, Any]:
    return {name: {"supported": supported} for name, supported in names.items()}


@pytest.mark.parametrize(
    ("name", "thinking", "efforts", "max_output"),
    [
        ("claude-opus-5-5", "adaptive", FIVE, 128_000),
        ("claude-sonnet-5-5", "adaptive", FIVE, 128_000),
        ("claude-haiku-5-5", "adaptive", FIVE, 128_000),
        ("claude-fable-5-1", "adaptive", FIVE, 128_000),
        ("claude-mythos-5", "adaptive", FIVE, 128_000),
        ("claude-opus-5", "adaptive", (OFF, *FIVE), 128_000),
        ("claude-sonnet-5-20260630", "adaptive", (OFF, *FIVE), 128_000),
        ("claude-opus-4-8", "adaptive", (OFF, *FIVE), 128_000),
        ("claude-opus-4-7", "adaptive", (OFF, *FIVE), 128_000),
        ("claude-opus-4-6", "adaptive", (OFF, *THREE, "max"), 64_000),
        ("anthropic/claude-sonnet-4.6", "adaptive", (OFF, *THREE, "max"), 64_000),
        ("claude-opus-4-5-20251101", "budget", (OFF, *THREE), 64_000),
        ("claude-haiku-4-5", "budget", (OFF, *THREE), 64_000),
        ("claude-opus-4-1-20250805", "budget", (OFF, *THREE), 32_000),
        ("claude-opus-4-20250514", "budget", (OFF, *THREE), 32_000),
        ("claude-sonnet-4-20250514", "budget", (OFF, *THREE), 64_000),
        ("claude-3-7-sonnet-latest", "budget", (OFF, *THREE), 64_000),
        ("claude-3-5-haiku-20241022", "", (), 8_192),
        ("claude-3-opus-20240229", "", (), 4_096),
        ("claude-2.1", "", (), 4_096),
        ("claude-6-opus", "adaptive", THREE, None),
        ("scenario:tool-loop@mini", "adaptive", THREE, None),
    ],
)
def test_every_generation_thinks_in_its_own_way(
    name: str, thinking: str, efforts: tuple[str, ...], max_output: int | None
) -> None:
    spec = model(name)
    assert (spec.thinking, spec.efforts, spec.max_output) == (thinking, efforts, max_output)
    assert (spec.id, spec.dialect) == (f"anthropic:{name}", "messages")


def test_every_row_has_a_day_and_a_source() -> None:
    assert all(facts.since and facts.source for facts in FACTS)


def test_no_row_hides_another() -> None:
    examples = ["claude-opus-5-5", "claude-fable-5", "claude-opus-5", "claude-opus-4-8"]
    examples += ["claude-opus-4-7"]
    examples += [
        "claude-opus-4-6",
        "claude-opus-4-1",
        "claude-opus-4-5",
        "claude-3-5-sonnet",
        "claude-3-opus",
        "anything",
    ]
    assert [known(name) for name in examples] == list(FACTS)


def test_what_the_provider_lists_counts_more_than_what_we_know() -> None:
    types = supports(adaptive=True, enabled=False, disabled=True, between_tools=False)
    effort = {"supported": True, **supports(low=True, medium=True, high=True, xhigh=False, max=True)}
    row = {
        "display_name": "Claude Haiku 5.5",
        "max_input_tokens": 1_000_000,
        "max_tokens": 100_000,
        "capabilities": {"thinking": {"supported": True, "types": types}, "effort": effort},
    }
    spec = model("claude-haiku-5-5", **row)
    assert (spec.label, spec.window, spec.max_output) == ("Claude Haiku 5.5", 1_000_000, 100_000)
    assert (spec.thinking, spec.efforts) == ("adaptive", (OFF, *THREE, "max"))


def test_a_model_is_listed_as_thinking_by_a_budget_or_not_at_all() -> None:
    budget = {"thinking": {"types": supports(adaptive=False, enabled=True, disabled=True)}}
    never = {"thinking": {"types": supports(adaptive=False, enabled=False, disabled=True)}}
    assert model("claude-x", capabilities=budget).thinking == "budget"
    assert (
        model("claude-x", capabilities=never).thinking,
        model("claude-x", capabilities=never).efforts,
    ) == ("", ())


def test_a_shorter_list_leaves_the_rest_to_what_we_know() -> None:
    types = supports(adaptive=True, enabled=True)
    assert model("claude-opus-4-6", capabilities={"thinking": {"types": types}}).efforts == (
        OFF,
        *THREE,
        "max",
    )


@pytest.mark.parametrize(
    "row",
    [
        {"display_name": None, "capabilities": None, "max_tokens": None},
        {"display_name": 5, "capabilities": [], "max_tokens": "many", "max_input_tokens": -1},
        {"capabilities": {"thinking": {"types": []}}, "max_tokens": True},
    ],
)
def test_a_row_of_any_shape_gives_a_model(row: dict[str, Any]) -> None:
    assert model("claude-opus-5", **row) == model("claude-opus-5")
