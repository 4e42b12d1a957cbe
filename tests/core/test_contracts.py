"""One row of tests for each row of contracts, so that nobody changes what a provider demands without saying so."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest

from chatapp.core.contracts import (
    CONTRACTS,
    IN_CONTENT,
    THOUGHT_TAGS,
    Contract,
    Filler,
    Repair,
    ReplayScope,
    contract_for,
    matched_line,
    taught,
)

# Dialect and line, with what distinguishes its contract: (scope, field, filler) and the flags that are set.
ALL, TOOL_TURNS, NONE = ReplayScope.ALL, ReplayScope.TOOL_TURNS, ReplayScope.NONE
NEVER, SEEN, CALLS, EVERY = Filler
CONTENT = "reasoning_content"
CHOICE = {"refuses": frozenset({"tool_choice"})}

SEALED = {"sealed": True}
NO_TAGS: dict[str, object] = {"tags": ()}

ROWS = [
    ("responses", "api.openai.com gpt-5", (ALL, "", NEVER), {"sealed": True, "blank_text": True}),
    ("responses", "api.x.ai grok-4.3", (ALL, "", NEVER), {"sealed": True, "blank_text": True}),
    ("responses", "10.0.0.1 gpt-oss-120b", (ALL, "", NEVER), {"blank_text": True}),
    ("messages", "api.anthropic.com claude-opus-5-5", (ALL, "", NEVER), {"sealed": True, "bound": True}),
    ("messages", "api.anthropic.com claude-opus-4-6", (ALL, "", NEVER), SEALED),
    ("messages", "localhost:8080 qwen3.6", (ALL, "", NEVER), {}),
    ("demo", " thinker", (ALL, "", NEVER), {}),
    ("chat", "h scenario:tool-loop@think-noopen", (ALL, "", NEVER), {"tags": (("", "</think>"),)}),
    (
        "chat",
        "h moonshotai/Kimi-VL-A3B-Thinking",
        (ALL, "", NEVER),
        {"tags": (("◁think▷", "◁/think▷"), *THOUGHT_TAGS)},
    ),
    ("chat", "openrouter.ai deepseek/deepseek-v4", (ALL, "reasoning_details", NEVER), {}),
    ("chat", "api.groq.com openai/gpt-oss-20b", (NONE, "", NEVER), {}),
    ("chat", "api.cerebras.ai gpt-oss-120b", (ALL, IN_CONTENT, NEVER), NO_TAGS),
    ("chat", "api.cerebras.ai zai-glm-4.7", (ALL, IN_CONTENT, NEVER), {}),
    ("chat", "localhost:11434 deepseek-r1:7b", (ALL, "reasoning", NEVER), CHOICE),
    ("chat", "vllm.internal Qwen/Qwen3-8B", (ALL, "reasoning", NEVER), {}),
    ("chat", "h scenario:tool-loop@sglang", (ALL, CONTENT, NEVER), {}),
    ("chat", "127.0.0.1:9 smollm2.gguf", (ALL, CONTENT, NEVER), {}),
    (
        "chat",
        "api.mistral.ai magistral-medium",
        (NONE, "", NEVER),
        {"refuses": frozenset({"stream_options"})},
    ),
    ("chat", "api.openai.com gpt-4.1", (NONE, "", NEVER), NO_TAGS),
    ("chat", "generativelanguage.googleapis.com gemini-3-pro", (NONE, "", NEVER), {"signed": True}),
    (
        "chat",
        "api.fireworks.ai accounts/fireworks/models/glm-4p7",
        (ALL, CONTENT, CALLS),
        {"asks": (("reasoning_history", "preserved"),)},
    ),
    ("chat", "api.siliconflow.cn deepseek-ai/DeepSeek-R1", (ALL, CONTENT, CALLS), {}),
    (
        "chat",
        "api.minimax.io MiniMax-M3",
        (ALL, "reasoning_details", NEVER),
        CHOICE | {"asks": (("reasoning_split", True),)},
    ),
    ("chat", "10.0.0.1 MiniMaxAI/MiniMax-M2.5", (ALL, "", NEVER), {}),
    ("chat", "api.x.ai grok-4.3", (ALL, CONTENT, NEVER), {}),
    ("chat", "h DeepSeek-R1-Distill-Qwen-7B", (NONE, "", NEVER), {}),
    ("chat", "api.moonshot.ai kimi-k3.1-pro", (ALL, CONTENT, EVERY), {}),
    ("chat", "api.moonshot.ai kimi-k2.6", (ALL, CONTENT, CALLS), {}),
    ("chat", "api.xiaomimimo.com mimo-v2.5-pro", (ALL, CONTENT, EVERY), {}),
    ("chat", "h glm-4.1v-thinking", (ALL, CONTENT, CALLS), CHOICE),
    ("chat", "api.z.ai glm-4.7", (ALL, CONTENT, NEVER), CHOICE),
    ("chat", "h qwen3-235b-a22b-thinking-2507", (ALL, CONTENT, CALLS), {}),
    ("chat", "dashscope.aliyuncs.com qwen-plus", (ALL, CONTENT, NEVER), {}),
    ("chat", "api.deepseek.com deepseek-v3.2", (TOOL_TURNS, CONTENT, CALLS), {}),
    ("chat", "api.deepseek.com deepseek-reasoner", (ALL, CONTENT, EVERY), {}),
    ("chat", "10.0.0.1 some-model", (ALL, "", SEEN), {}),
]

DEFAULTS = {
    field.name: field.default
    for field in fields(Contract)
    if field.name in ("sealed", "signed", "bound", "blank_text", "tags", "refuses", "asks")
}


def chosen(dialect: str, line: str) -> Contract:
    host, model = line.split(" ")
    return contract_for(dialect, host=host, model=model)


@pytest.mark.parametrize(("dialect", "line", "replay", "flags"), ROWS, ids=[row[1] for row in ROWS])
def test_each_provider_and_model_has_its_contract(
    dialect: str, line: str, replay: tuple[ReplayScope, str, Filler], flags: dict[str, object]
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
    assert contract_for(dialect, host="", model="\N{SNOWMAN}") is last


def test_a_dialect_without_rows_is_a_mistake_said_in_words() -> None:
    with pytest.raises(ValueError, match="semaphore"):
        contract_for("semaphore", model="m")


@pytest.mark.parametrize(
    "host",
    [
        "api.siliconflow.cn",
        "api.studio.nebius.com",
        "api.deepinfra.com",
        "api.sambanova.ai",
        "api.fireworks.ai",
        "api.together.xyz",
        "opencode.ai",
        "api.xiaomimimo.com",
        "api.deepseek.com",
    ],
)
def test_the_providers_of_the_replay_list_get_thoughts_back_with_their_calls(host: str) -> None:
    contract = contract_for("chat", host=host, model="some-model")
    assert (contract.scope, contract.field) == (ALL, CONTENT)
    assert contract.filler is not NEVER


@pytest.mark.parametrize(
    "host", ["api.siliconflow.cn", "api.fireworks.ai", "api.together.xyz", "opencode.ai"]
)
@pytest.mark.parametrize("model", ["glm-5", "qwen3.6", "deepseek-r1", "deepseek-v3.2"])
def test_there_a_server_says_more_than_a_model(host: str, model: str) -> None:
    contract = contract_for("chat", host=host, model=model)
    assert (contract.scope, contract.field, contract.filler) == (ALL, CONTENT, CALLS)


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
        "mimov2",
        "mimo.v2.5",
        "kimi-k3",
    ],
)
def test_the_models_of_the_replay_list_get_thoughts_back_with_their_calls(model: str) -> None:
    contract = contract_for("chat", host="10.0.0.1", model=model)
    assert (contract.scope, contract.field) == (ALL, CONTENT)
    assert contract.filler is not NEVER


@pytest.mark.parametrize("model", ["kimi-k2.6", "deepseek/deepseek-v4", "qwen3-thinking", "gemini-3-pro"])
def test_a_server_that_forbids_thoughts_forbids_them_for_every_model(model: str) -> None:
    assert contract_for("chat", host="api.groq.com", model=model).scope is NONE


def test_names_are_matched_in_any_case() -> None:
    line = matched_line(host="api.moonshot.ai", model="KIMI-K2.6")
    assert line == "api.moonshot.ai KIMI-K2.6"
    assert chosen("chat", line).filler is CALLS


@pytest.mark.parametrize(
    "host", ["x.openai.azure.com", "x.services.ai.azure.com", "x.cognitiveservices.azure.com"]
)
@pytest.mark.parametrize("dialect", ["responses", "chat"])
def test_all_hosts_of_azure_are_openais(dialect: str, host: str) -> None:
    model = "any-name-that-was-deployed"
    assert contract_for(dialect, host=host, model=model) == contract_for(
        dialect, host="api.openai.com", model=model
    )


@pytest.mark.parametrize(
    "model", ["claude-opus-5.5", "claude-haiku-5-5", "claude-fable-5-1", "eu.claude-sonnet-5-6"]
)
def test_models_that_bind_their_thoughts_may_drop_them_wherever_they_are(model: str) -> None:
    assert contract_for("messages", host="gateway.example.org", model=model).bound


@pytest.mark.parametrize("model", ["claude-opus-5", "claude-sonnet-4-6", "qwen3", "kimi-k3"])
def test_other_models_are_not_asked_to_drop_anything(model: str) -> None:
    assert not contract_for("messages", host="api.anthropic.com", model=model).bound


def test_a_refusal_teaches_to_let_thoughts_be_dropped_and_another_not_to() -> None:
    bound = taught(PLAIN, frozenset({Repair.BOUND}))
    assert bound.bound
    assert not taught(bound, frozenset({Repair.BOUND, Repair.UNBOUND})).bound


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
