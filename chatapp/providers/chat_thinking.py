"""How each model that speaks Chat Completions is asked for thoughts: dated rows, the first that fits counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, assert_never

from .base import OFF

ON = "on"
LEVELS = ("low", "medium", "high")


class Style(StrEnum):
    """The words of `ModelSpec.thinking` on this wire."""

    SWITCH = "switch"
    SWITCH_AND_EFFORT = "switch and effort"
    SWITCH_KEEP = "switch, keep"
    SWITCH_PRESERVE = "switch, preserve"
    ENABLE = "enable_thinking"
    TEMPLATE = "chat_template_kwargs"
    EFFORT = "reasoning_effort"
    EFFORT_SWITCH = "reasoning_effort none or default"
    REASONING = "reasoning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    where: str
    style: Style
    efforts: tuple[str, ...]
    since: str
    source: str


_HYBRID = r"(?!\S*(thinking|instruct|coder|qwq|-r1))\S*(qwen3|qwen-(plus|flash|turbo)|deepseek-v[34]|glm-[45]|kimi-k2\.|mimo-v)"

# The marks in `source` are those of core/contracts.py. A model's name alone is not enough: what is asked for goes to a server.
THINKING: tuple[Thinking, ...] = (
    Thinking(
        where=rf"(dashscope|aliyuncs)\S* {_HYBRID}",
        style=Style.ENABLE,
        efforts=(OFF, ON),
        since="2026-06",
        source="[wire 3.2] [doc: Alibaba Deep thinking]: hybrid models take enable_thinking",
    ),
    Thinking(
        where=rf"\b(vllm|sglang)\b.* {_HYBRID}",
        style=Style.TEMPLATE,
        efforts=(OFF, ON),
        since="2026-03",
        source="[wire 3.2] [doc: vLLM Reasoning outputs]: the template's switch is called enable_thinking (Qwen, GLM) or thinking",
    ),
    Thinking(
        where=r"^deepseek\b(?!.*-r1)|api\.deepseek\.com (?!.*-r1)",
        style=Style.SWITCH_AND_EFFORT,
        efforts=(OFF, "low", "high", "max"),
        since="2026-04",
        source="[doc: DeepSeek thinking mode]: thinking on by default, reasoning_effort low, high or max",
    ),
    Thinking(
        where=r"(moonshot|kimi)\S* \S*kimi-k2\.6",
        style=Style.SWITCH_KEEP,
        efforts=(OFF, ON),
        since="2026-04",
        source="[wire 3.2] [can1357/oh-my-pi#1839], [HKUDS/nanobot#3939]: keep all makes the model use older turns; no effort beside it",
    ),
    Thinking(
        where=r"(moonshot|kimi)\S* \S*kimi-k2\.5",
        style=Style.SWITCH,
        efforts=(OFF, ON),
        since="2026-02",
        source="[doc: Kimi models overview]: thinking enabled or disabled",
    ),
    Thinking(
        where=r"(\bz\.ai|bigmodel\.cn)\S* \S*glm-(4\.[5-9]|[5-9])",
        style=Style.SWITCH_PRESERVE,
        efforts=(OFF, ON),
        since="2026-02",
        source="[wire 3.2] [doc: Z.ai Thinking mode]: clear_thinking false keeps older turns",
    ),
    Thinking(
        where=r"xiaomimimo\S* \S*mimo-v2",
        style=Style.SWITCH,
        efforts=(OFF, ON),
        since="2026-05",
        source="[wire 3.3] thinking disabled switches the demand off; [doc: Agno MiMo]",
    ),
    Thinking(
        where=r"groq\S* \S*qwen3-32b",
        style=Style.EFFORT_SWITCH,
        efforts=(OFF, ON),
        since="2026-05",
        source="[doc: Groq Reasoning]: none or default",
    ),
    Thinking(
        where=r"generativelanguage\.googleapis\.com \S*gemini-([3-9]|2\.5)",
        style=Style.EFFORT,
        efforts=LEVELS,
        since="2026-03",
        source="[doc: Gemini OpenAI compatibility]: reasoning_effort",
    ),
    Thinking(
        where=r"(^openai\b.*|api\.openai\.com) (o[134]|gpt-5)",
        style=Style.EFFORT,
        efforts=LEVELS,
        since="2026-07",
        source="[wire 1.1] [oai:shared/reasoning_effort.py]",
    ),
    Thinking(
        where=r"^(?!openrouter).*gpt-oss",
        style=Style.EFFORT,
        efforts=LEVELS,
        since="2026-05",
        source="[doc: Groq Reasoning], [doc: Cerebras Reasoning]: reasoning_effort low, medium or high",
    ),
)


def thinking_of(line: str) -> Thinking | None:
    """The first row that fits; None for a model that we know nothing of: then nothing is asked for."""
    return next((row for row in THINKING if re.search(row.where, line, re.IGNORECASE)), None)


def thinking_fields(style: str, effort: str) -> dict[str, Any]:
    """What a request says about thinking. Without an effort most models are left to their own default."""
    keeps = style in (Style.SWITCH_KEEP, Style.SWITCH_PRESERVE)
    if style not in list(Style) or not (effort or keeps):
        return {}
    return _fields(Style(style), effort, thinks=effort != OFF)


def _fields(style: Style, effort: str, *, thinks: bool) -> dict[str, Any]:
    switch = {"type": "enabled" if thinks else "disabled"}
    match style:
        case Style.SWITCH:
            return {"thinking": switch}
        case Style.SWITCH_AND_EFFORT:
            return {"thinking": switch} | ({"reasoning_effort": effort} if thinks else {})
        case Style.SWITCH_KEEP:
            return {"thinking": switch | ({"keep": "all"} if thinks else {})}
        case Style.SWITCH_PRESERVE:
            return {"thinking": switch | ({"clear_thinking": False} if thinks else {})}
        case Style.ENABLE:
            return {"enable_thinking": thinks}
        case Style.TEMPLATE:
            return {"chat_template_kwargs": {"enable_thinking": thinks, "thinking": thinks}}
        case Style.EFFORT:
            return {"reasoning_effort": effort if thinks else "none"}
        case Style.EFFORT_SWITCH:
            return {"reasoning_effort": "default" if thinks else "none"}
        case Style.REASONING:
            return {"reasoning": {"effort": effort} if thinks else {"enabled": False}}
        case _:
            assert_never(style)
