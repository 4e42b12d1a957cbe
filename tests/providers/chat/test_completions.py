"""The request of a chat completion, and what is known of the models that take it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chatapp.core.contracts import contract_for
from chatapp.core.history import History, Question
from chatapp.providers.base import OFF, Ask, Endpoint, ModelSpec, ToolSpec
from chatapp.providers.chat.completions import WIRE

DEEPSEEK = "https://api.deepseek.com"
KIMI = "https://api.moonshot.ai/v1"
GLM = "https://api.z.ai/api/paas/v4"
QWEN = "https://dashscope.aliyuncs.com/compatible-mode/v1"
GROQ = "https://api.groq.com/openai/v1"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"
HERE = "http://127.0.0.1:8080/v1"
TIDE = ToolSpec(name="tide", description="High or low.", schema={"type": "object"})


def google(**config: Any) -> dict[str, Any]:
    return {"extra_body": {"google": {"thinking_config": {"include_thoughts": True, **config}}}}


def efforts(*levels: str) -> dict[str, dict[str, Any]]:
    """Of a model that takes these words, and none for off."""
    return {"": {}} | {level: {"reasoning_effort": "none" if level == OFF else level} for level in levels}


def endpoint(name: str = "compatible", base_url: str = HERE, key: str = "") -> Endpoint:
    return Endpoint(name=name, dialect="chat", base_url=base_url, key=key)


def ask(model: ModelSpec | None = None, **more: Any) -> Ask:
    model = model or ModelSpec(provider="compatible", dialect="chat", name="m")
    contract = contract_for("chat", host=model.provider, model=model.name)
    return Ask(model=model, contract=contract, history=History((Question("Why?"),)), **more)


def test_the_smallest_request() -> None:
    assert WIRE.body(ask()) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Why?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_addresses_are_relative_to_the_base_url() -> None:
    assert (WIRE.path(endpoint()), WIRE.models_path(endpoint())) == ("/chat/completions", "/models")


def test_the_key_is_sent_only_where_there_is_one() -> None:
    assert WIRE.headers(endpoint(), ask()) == {}
    assert WIRE.headers(endpoint(key="sk-1"), ask()) == {"Authorization": "Bearer sk-1"}


def test_tools_are_functions() -> None:
    function = {"name": "tide", "description": "High or low.", "parameters": {"type": "object"}}
    body = WIRE.body(ask(tools=[TIDE]))
    assert body["tools"] == [{"type": "function", "function": function}]
    assert "tool_choice" not in body


def test_a_model_that_may_not_call_sees_the_same_tools() -> None:
    body = WIRE.body(ask(tools=[TIDE], may_call=False))
    assert (len(body["tools"]), body["tool_choice"]) == (1, "none")


@pytest.mark.parametrize("model", ["glm-4.7", "x@ollama"])
def test_tools_are_left_out_where_the_server_knows_no_such_choice(model: str) -> None:
    spec = ModelSpec(provider="compatible", dialect="chat", name=model)
    assert "tools" in WIRE.body(ask(spec, tools=[TIDE]))
    assert not {"tools", "tool_choice"} & WIRE.body(ask(spec, tools=[TIDE], may_call=False)).keys()


def test_without_tools_there_is_no_choice() -> None:
    assert "tool_choice" not in WIRE.body(ask(may_call=False))


def test_mistral_is_not_asked_for_usage_that_it_sends_anyway() -> None:
    assert "stream_options" not in WIRE.body(
        ask(ModelSpec(provider="api.mistral.ai", dialect="chat", name="mistral-large"))
    )


# Server, model, and what a request says about thinking for each effort that can be chosen; "" is the model's own.
ON = {"thinking": {"type": "enabled"}}
DISABLED = {"thinking": {"type": "disabled"}}
KEEP = {"thinking": {"type": "enabled", "keep": "all"}}
PRESERVE = {"thinking": {"type": "enabled", "clear_thinking": False}}
TEMPLATE = {"chat_template_kwargs": {"enable_thinking": True, "thinking": True}}
NO_TEMPLATE = {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}}
LEVELS = {level: {"reasoning_effort": level} for level in ("low", "medium", "high")}
THINKING: list[tuple[str, str, str, dict[str, dict[str, Any]]]] = [
    (
        "deepseek",
        DEEPSEEK,
        "deepseek-v4-pro",
        {
            "": {},
            OFF: DISABLED,
            "low": ON | {"reasoning_effort": "low"},
            "high": ON | {"reasoning_effort": "high"},
            "max": ON | {"reasoning_effort": "max"},
        },
    ),
    ("compatible", KIMI, "kimi-k2.6", {"": KEEP, OFF: DISABLED, "on": KEEP}),
    ("compatible", KIMI, "kimi-k2.5", {"": {}, OFF: DISABLED, "on": ON}),
    ("compatible", GLM, "glm-4.7", {"": PRESERVE, OFF: DISABLED, "on": PRESERVE}),
    ("compatible", "https://api.xiaomimimo.com/v1", "mimo-v2.5-pro", {"": {}, OFF: DISABLED, "on": ON}),
    (
        "compatible",
        QWEN,
        "qwen3-32b",
        {"": {}, OFF: {"enable_thinking": False}, "on": {"enable_thinking": True}},
    ),
    ("compatible", "http://vllm:8000/v1", "Qwen/Qwen3-8B", {"": {}, OFF: NO_TEMPLATE, "on": TEMPLATE}),
    ("compatible", "http://sglang:30000/v1", "zai-org/GLM-4.7", {"": {}, OFF: NO_TEMPLATE, "on": TEMPLATE}),
    (
        "compatible",
        GROQ,
        "qwen/qwen3-32b",
        {"": {}, OFF: {"reasoning_effort": "none"}, "on": {"reasoning_effort": "default"}},
    ),
    ("compatible", GROQ, "openai/gpt-oss-120b", {"": {}, **LEVELS}),
    (
        "compatible",
        GEMINI,
        "gemini-3-pro",
        {
            "": google(),
            "low": google(thinking_level="low"),
            "medium": google(thinking_level="medium"),
            "high": google(thinking_level="high"),
        },
    ),
    (
        "compatible",
        GEMINI,
        "gemini-2.5-flash",
        {
            "": google(),
            "low": google(thinking_budget=1_024),
            "medium": google(thinking_budget=8_192),
            "high": google(thinking_budget=24_576),
        },
    ),
    ("compatible", KIMI, "kimi-k3", efforts("low", "high", "max")),
    ("compatible", KIMI, "kimi-k3.1-pro-highspeed", efforts("low", "high", "max")),
    ("compatible", KIMI, "kimi-k2.7-code", {"": {}}),
    ("compatible", "https://api.xiaomimimo.com/v1", "mimov2", {"": {}, OFF: DISABLED, "on": ON}),
    ("compatible", "https://api.mistral.ai/v1", "mistral-large-4-0", efforts(OFF, "low", "medium", "high")),
    ("compatible", "https://api.mistral.ai/v1", "mistral-small-latest", efforts(OFF, "high")),
    ("compatible", "https://api.mistral.ai/v1", "mistral-medium-3-5", efforts(OFF, "high")),
    (
        "compatible",
        "https://api.minimax.io/v1",
        "MiniMax-M3",
        {
            "": {},
            OFF: DISABLED,
            "on": {"thinking": {"type": "adaptive"}},
        },
    ),
    ("compatible", "https://api.minimax.io/v1", "MiniMax-M2.7", {"": {}}),
    ("compatible", "https://api.cerebras.ai/v1", "zai-glm-4.7", efforts(OFF)),
    ("ollama", "http://localhost:11434/v1", "qwen3:8b", efforts(OFF, "low", "medium", "high")),
    ("compatible", "https://api.x.ai/v1", "grok-4.3", efforts(OFF, "low", "medium", "high")),
    ("compatible", "https://api.openai.com/v1", "gpt-5", {"": {}, **LEVELS}),
]


@pytest.mark.parametrize(
    ("provider", "base", "name", "requests"), THINKING, ids=[f"{row[2]} at {row[1]}" for row in THINKING]
)
def test_each_model_is_asked_for_thoughts_in_its_own_way(
    provider: str, base: str, name: str, requests: dict[str, dict[str, Any]]
) -> None:
    spec = WIRE.model(endpoint(provider, base), {"id": name})
    assert spec.efforts == tuple(effort for effort in requests if effort)
    plain = WIRE.body(ask(replace(spec, thinking="")))
    for effort, said in requests.items():
        assert WIRE.body(ask(spec, effort=effort)) == plain | said


def test_kimi_never_gets_a_switch_and_an_effort_at_once() -> None:
    for name in ("kimi-k2.5", "kimi-k2.6"):
        spec = WIRE.model(endpoint(base_url=KIMI), {"id": name})
        for effort in ("", *spec.efforts):
            assert "reasoning_effort" not in WIRE.body(ask(spec, effort=effort))


UNKNOWN = [
    (HERE, "scenario:tool-loop"),
    (HERE, "scenario:tool-loop@kimi"),
    (HERE, "kimi-k2.6"),
    (KIMI, "kimi-k2-thinking"),
    (QWEN, "qwen3-235b-a22b-thinking-2507"),
    (QWEN, "qwq-plus"),
    ("http://vllm:8000/v1", "mistral-small"),
    ("http://[broken", "m"),
]


@pytest.mark.parametrize(("base", "name"), UNKNOWN)
def test_a_model_that_we_know_nothing_of_is_asked_for_nothing(base: str, name: str) -> None:
    spec = WIRE.model(endpoint(base_url=base), {"id": name})
    assert (spec.efforts, spec.thinking) == ((), "")
    assert WIRE.body(ask(spec, effort="high")) == WIRE.body(ask(spec))


def test_a_reasoner_that_cannot_be_switched_has_no_efforts() -> None:
    assert WIRE.model(endpoint("deepseek", DEEPSEEK), {"id": "deepseek-r1"}).efforts == ()


def test_openrouters_list_says_which_models_think() -> None:
    router = endpoint("openrouter", "https://openrouter.ai/api/v1")
    thinking = WIRE.model(router, {"id": "a/b", "supported_parameters": ["tools", "reasoning"]})
    assert thinking.efforts == (OFF, "low", "medium", "high")
    assert WIRE.body(ask(thinking, effort="high"))["reasoning"] == {"effort": "high"}
    assert WIRE.body(ask(thinking, effort=OFF))["reasoning"] == {"enabled": False}
    assert "reasoning" not in WIRE.body(ask(thinking))
    assert WIRE.model(router, {"id": "c/d", "supported_parameters": ["tools"]}).efforts == ()
    assert WIRE.model(router, {"id": "not/listed-yet"}).efforts == (OFF, "low", "medium", "high")


def test_a_list_may_tell_more_of_a_model() -> None:
    row = {
        "id": "a/b",
        "name": "A: B",
        "context_length": 131072,
        "top_provider": {"max_completion_tokens": 8192},
    }
    spec = WIRE.model(endpoint("openrouter"), row)
    assert (spec.id, spec.label, spec.window, spec.max_output) == ("openrouter:a/b", "A: B", 131072, 8192)


@pytest.mark.parametrize("field", ["context_length", "max_model_len", "context_window", "max_context_length"])
def test_the_window_has_many_names(field: str) -> None:
    assert WIRE.model(endpoint(), {"id": "m", field: 4096}).window == 4096


@pytest.mark.parametrize("odd", [None, "4096", True, -1, 0, 10**400, [], {}])
def test_odd_lists_tell_nothing(odd: Any) -> None:
    row = {"id": "m", "name": 7, "context_length": odd, "top_provider": odd, "supported_parameters": odd}
    spec = WIRE.model(endpoint(), row)
    assert (spec.label, spec.window, spec.max_output) == ("", None, None)


def test_the_local_model_is_a_tiny_one() -> None:
    assert WIRE.model(endpoint("local"), {"id": "smollm2"}).tiny
    assert not WIRE.model(endpoint(), {"id": "smollm2"}).tiny
