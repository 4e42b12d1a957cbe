"""The dialects: how thoughts are emitted, and what a server demands or refuses when they come back.

A profile comes from the scenario (`chat.profile`) or from the model's name (`scenario:NAME@PROFILE`)."""

from __future__ import annotations

from collections import OrderedDict

from ..scenario import Scenario
from ..sealing import canon, digest

#: emit     field of delta/message that carries thoughts: reasoning_content | reasoning | think-tags | none
#: replay   what an assistant message with tool_calls needs: require | require-turn | forbid | ignore
#: with_tools  if the request carries `tools`, every assistant message needs it, not only those with tool_calls
#: usage    where the usage comes: after (own chunk, choices []), same (with finish_reason), repeat (own chunk
#:          that repeats finish_reason)
PROFILES: dict[str, dict] = {
    "openai": {"emit": "none", "replay": "forbid", "usage": "after", "obfuscation": True},
    "groq": {"emit": "reasoning", "replay": "forbid", "usage": "after"},
    "mistral": {"emit": "none", "replay": "forbid", "usage": "same"},
    "deepseek": {
        "emit": "reasoning_content",
        "replay": "require",
        "usage": "same",
        "nulls": True,
        "with_tools": True,
    },
    "deepseek-turn": {"emit": "reasoning_content", "replay": "require-turn", "usage": "same", "nulls": True},
    "deepseek-v3.2": {"emit": "reasoning_content", "replay": "require", "usage": "same", "nulls": True},
    "deepseek-r1": {"emit": "reasoning_content", "replay": "forbid", "usage": "same", "nulls": True},
    "kimi": {"emit": "reasoning_content", "replay": "require", "usage": "same", "ids": "kimi"},
    "mimo": {"emit": "reasoning_content", "replay": "require", "usage": "after"},
    "glm": {
        "emit": "reasoning_content",
        "replay": "ignore",
        "usage": "same",
        "role_each": True,
        "whole_calls": True,
    },
    "qwen": {"emit": "reasoning_content", "replay": "ignore", "usage": "after", "nulls": True},
    "vllm": {"emit": "reasoning", "replay": "ignore", "usage": "after"},
    "sglang": {"emit": "reasoning_content", "replay": "ignore", "usage": "after", "nulls": True},
    "llamacpp": {"emit": "reasoning_content", "replay": "ignore", "usage": "after", "timings": True},
    "ollama": {"emit": "reasoning", "replay": "ignore", "usage": "after", "whole_calls": True},
    "openrouter": {
        "emit": "reasoning",
        "replay": "ignore",
        "usage": "repeat",
        "details": True,
        "role_each": True,
        "comment": "OPENROUTER PROCESSING",
    },
    "think-tags": {"emit": "think-tags", "replay": "ignore", "usage": "after"},
    "think-noopen": {"emit": "think-noopen", "replay": "ignore", "usage": "after"},
    "gemini": {"emit": "none", "replay": "ignore", "usage": "same", "signatures": True, "whole_calls": True},
}


#: For servers whose call ids repeat (kimi): digest of the messages before a turn -> thoughts sent in that turn.
SENT: OrderedDict[str, str] = OrderedDict()


def profile_of(model: str, sc: Scenario) -> tuple[str, dict]:
    opts = sc.section("chat")
    name = opts.get("profile", "deepseek")
    if "@" in model and model.split("@", 1)[1].split("@")[0] in PROFILES:
        name = model.split("@", 1)[1].split("@")[0]
    return name, {**PROFILES[name], **{k: v for k, v in opts.items() if k != "profile"}}


def sent_key(org: str, body: dict, messages: list[dict]) -> str:
    return digest(canon([org, body["model"], messages]))


def thinking_enabled(body: dict, prof: dict) -> bool:
    t = body.get("thinking")
    if isinstance(t, dict):
        return t.get("type") != "disabled"
    kw = body.get("chat_template_kwargs") or {}
    if (
        kw.get("enable_thinking") is False
        or kw.get("thinking") is False
        or body.get("enable_thinking") is False
    ):
        return False
    return body.get("reasoning_effort") != "none"
