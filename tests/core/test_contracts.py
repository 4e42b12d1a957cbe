"""One row of tests for each row of contracts, so that nobody changes what a provider demands without saying so."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from chatapp.core.contracts import (
    CONTRACTS,
    THINK,
    Contract,
    Filler,
    Repair,
    Scope,
    contract_for,
    line_of,
    taught,
)

# Dialect and line, with what distinguishes its contract: (scope, field, filler) and the flags that are set.
ALL, TOOL_TURNS, NONE = Scope.ALL, Scope.TOOL_TURNS, Scope.NONE
NEVER, CALLS, EVERY = Filler.NEVER, Filler.CALLS, Filler.ALL
CONTENT = "reasoning_content"
CHOICE = {"refuses": frozenset({"tool_choice"})}

ROWS = [
    ("responses", "openai api.openai.com gpt-5", (ALL, "", NEVER), {"sealed": True, "blank_text": True}),
    ("responses", "compatible 10.0.0.1 gpt-oss-120b", (ALL, "", NEVER), {}),
    ("messages", "anthropic api.anthropic.com claude-opus-5-5", (ALL, "", NEVER), {}),
    ("demo", "demo  thinker", (ALL, "", NEVER), {}),
    ("chat", "compatible h scenario:tool-loop@think-noopen", (NONE, "", NEVER), {"tags": ("", "</think>")}),
    ("chat", "compatible h scenario:think-tags", (NONE, "", NEVER), {"tags": THINK}),
    (
        "chat",
        "compatible h moonshotai/Kimi-VL-A3B-Thinking",
        (NONE, "", NEVER),
        {"tags": ("◁think▷", "◁/think▷")},
    ),
    ("chat", "openrouter openrouter.ai deepseek/deepseek-v4", (ALL, "reasoning_details", NEVER), {}),
    ("chat", "compatible api.groq.com openai/gpt-oss-20b", (NONE, "", NEVER), {"tags": THINK}),
    ("chat", "ollama localhost deepseek-r1:7b", (NONE, "", NEVER), CHOICE),
    ("chat", "compatible vllm.internal Qwen/Qwen3-8B", (ALL, "reasoning", NEVER), {}),
    ("chat", "compatible h scenario:tool-loop@sglang", (ALL, CONTENT, NEVER), {}),
    ("chat", "local 127.0.0.1 smollm2", (ALL, CONTENT, NEVER), {"tags": THINK}),
    (
        "chat",
        "compatible api.mistral.ai magistral-medium",
        (NONE, "", NEVER),
        {"refuses": frozenset({"stream_options"})},
    ),
    ("chat", "compatible api.openai.com gpt-4.1", (NONE, "", NEVER), {}),
    (
        "chat",
        "compatible generativelanguage.googleapis.com gemini-3-pro",
        (NONE, "", NEVER),
        {"signed": True},
    ),
    ("chat", "compatible h DeepSeek-R1-Distill-Qwen-7B", (NONE, "", NEVER), {"tags": THINK}),
    ("chat", "compatible api.moonshot.ai kimi-k2.6", (ALL, CONTENT, CALLS), {}),
    ("chat", "xiaomi-mimo api.xiaomimimo.com mimo-v2.5-pro", (ALL, CONTENT, EVERY), {}),
    ("chat", "compatible h glm-4.1v-thinking", (ALL, CONTENT, CALLS), CHOICE),
    ("chat", "compatible api.z.ai glm-4.7", (ALL, CONTENT, NEVER), CHOICE),
    ("chat", "compatible h qwen3-235b-a22b-thinking-2507", (ALL, CONTENT, CALLS), {}),
    ("chat", "compatible dashscope.aliyuncs.com qwen-plus", (ALL, CONTENT, NEVER), {}),
    ("chat", "deepseek api.deepseek.com deepseek-v3.2", (TOOL_TURNS, CONTENT, CALLS), {}),
    ("chat", "deepseek api.deepseek.com deepseek-reasoner", (ALL, CONTENT, EVERY), {}),
    ("chat", "compatible api.siliconflow.cn some-model", (ALL, CONTENT, CALLS), {}),
    ("chat", "compatible 10.0.0.1 some-model", (ALL, "", NEVER), {}),
]

DEFAULTS = {"sealed": False, "signed": False, "blank_text": False, "tags": None, "refuses": frozenset()}


def chosen(dialect: str, line: str) -> Contract:
    provider, host, model = line.split(" ")
    return contract_for(dialect, provider=provider, host=host, model=model)


@pytest.mark.parametrize(("dialect", "line", "replay", "flags"), ROWS, ids=[row[1] for row in ROWS])
def test_each_provider_and_model_has_its_contract(
    dialect: str, line: str, replay: tuple[Scope, str, Filler], flags: dict[str, object]
) -> None:
    contract = chosen(dialect, line)
    assert (contract.scope, contract.field, contract.filler) == replay
    assert {name: getattr(contract, name) for name in DEFAULTS} == DEFAULTS | flags


def test_every_row_is_tested_once_in_its_order() -> None:
    assert [CONTRACTS.index(chosen(dialect, line)) for dialect, line, _, _ in ROWS] == [
        *range(len(CONTRACTS))
    ]


@pytest.mark.parametrize("row", CONTRACTS, ids=lambda row: f"{row.dialect} {row.where}")
def test_every_row_says_since_when_and_why(row: Contract) -> None:
    assert re.fullmatch(r"20\d\d-[01]\d", row.since)
    assert row.source
    re.compile(row.where)


@pytest.mark.parametrize("dialect", sorted({row.dialect for row in CONTRACTS}))
def test_the_last_row_of_a_dialect_fits_whatever_comes(dialect: str) -> None:
    last = [row for row in CONTRACTS if row.dialect == dialect][-1]
    assert contract_for(dialect, provider="", host="", model="\N{SNOWMAN}") is last


def test_a_dialect_without_rows_is_a_mistake_said_in_words() -> None:
    with pytest.raises(ValueError, match="semaphore"):
        contract_for("semaphore", provider="p", model="m")


@pytest.mark.parametrize(
    "provider",
    [
        "siliconflow",
        "nebius",
        "deepinfra",
        "sambanova",
        "fireworks",
        "together",
        "opencode-go",
        "xiaomi-mimo",
        "deepseek",
    ],
)
def test_the_providers_of_the_replay_list_get_thoughts_back_with_their_calls(provider: str) -> None:
    contract = contract_for("chat", provider=provider, model="some-model")
    assert (contract.scope, contract.field) == (ALL, CONTENT)
    assert contract.filler is not NEVER


@pytest.mark.parametrize(
    "model",
    [
        "deepseek-reasoner",
        "deepseek-chat",
        "kimi-k2-thinking",
        "QwQ-32B",
        "qwen3-thinking",
        "glm-4-thinking",
        "mimo-v2",
    ],
)
def test_the_models_of_the_replay_list_get_thoughts_back_with_their_calls(model: str) -> None:
    contract = contract_for("chat", provider="compatible", model=model)
    assert (contract.scope, contract.field) == (ALL, CONTENT)
    assert contract.filler is not NEVER


@pytest.mark.parametrize("model", ["kimi-k2.6", "deepseek/deepseek-v4", "qwen3-thinking", "gemini-3-pro"])
def test_a_server_that_forbids_thoughts_forbids_them_for_every_model(model: str) -> None:
    assert contract_for("chat", provider="compatible", host="api.groq.com", model=model).scope is NONE


def test_tags_are_read_only_where_the_model_id_ends_in_them() -> None:
    assert contract_for("chat", provider="compatible", model="scenario:think-tags@kimi").tags is None
    assert contract_for("chat", provider="deepseek", model="scenario:think-tags").tags == THINK


def test_names_are_matched_in_any_case() -> None:
    line = line_of(provider="compatible", host="api.moonshot.ai", model="KIMI-K2.6")
    assert line == "compatible api.moonshot.ai KIMI-K2.6"
    assert chosen("chat", line).filler is CALLS


PLAIN = CONTRACTS[-1]


def test_a_contract_that_nothing_corrected_stays_as_it_is() -> None:
    assert taught(PLAIN, frozenset({Repair.STALE, Repair.NO_SUMMARY})) is PLAIN


def test_a_refusal_of_thoughts_teaches_to_send_none() -> None:
    forbidden = taught(replace(PLAIN, filler=EVERY), frozenset({Repair.FORBIDDEN}))
    assert (forbidden.scope, forbidden.filler) == (NONE, NEVER)


def test_a_demand_for_thoughts_teaches_to_send_all_of_them_and_to_fill_the_gaps() -> None:
    required = taught(replace(PLAIN, scope=NONE), frozenset({Repair.REQUIRED}))
    assert (required.scope, required.field, required.filler) == (ALL, CONTENT, EVERY)


def test_a_demand_for_thoughts_keeps_the_field_that_is_known() -> None:
    assert taught(replace(PLAIN, field="reasoning"), frozenset({Repair.REQUIRED})).field == "reasoning"


def test_where_refusals_contradict_each_other_no_thoughts_go_back() -> None:
    assert taught(PLAIN, frozenset({Repair.REQUIRED, Repair.FORBIDDEN})).scope is NONE
