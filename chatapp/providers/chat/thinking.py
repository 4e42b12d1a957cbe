"""How each model that speaks Chat Completions is asked for thoughts: dated rows, the first that fits counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, assert_never

from ..base import OFF

ON = "on"
LEVELS = ("low", "medium", "high")
# What Gemini's reasoning_effort stands for.
BUDGETS = {"low": 1_024, "medium": 8_192, "high": 24_576}


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
    EFFORT_OFF = "reasoning_effort none"
    REASONING = "reasoning"
    ADAPTIVE = "adaptive"
    LEVEL = "thinking_level"
    BUDGET = "thinking_budget"


STYLES = frozenset(Style)


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
        where=r"api\.deepseek\.com (?!.*-r1)|^(?!.*-r1).*@deepseek$",
        style=Style.SWITCH_AND_EFFORT,
        efforts=(OFF, "low", "high", "max"),
        since="2026-04",
        source="[doc: DeepSeek thinking mode]: thinking on by default, reasoning_effort low, high or max",
    ),
    Thinking(
        where=r"(moonshot|kimi)\S* \S*kimi-k3",
        style=Style.EFFORT,
        efforts=("low", "high", "max"),
        since="2026-11",
        source="[wire 6] [doc: synaps-engine kimi.rs], [opencode-kimi-full#11]: always thinks, no `thinking`; an unknown effort is "
        "ignored without a word",
    ),
    Thinking(
        where=r"(moonshot|kimi)\S* \S*kimi-k2\.7-code",
        style=Style.SWITCH,
        efforts=(),
        since="2026-11",
        source="[wire 6] [doc: synaps-engine kimi.rs]: refuses thinking disabled, so there is nothing to set",
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
        where=r"xiaomimimo\S* \S*mimo-?v2",
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
        where=r"googleapis\.com\S* \S*gemini-[3-9]",
        style=Style.LEVEL,
        efforts=LEVELS,
        since="2026-11",
        source="[wire 6] [discuss.ai.google.dev 87141], [envoyproxy/ai-gateway#2433]: thoughts come with include_thoughts alone, "
        "beside which reasoning_effort is refused; thinking_level takes its place",
    ),
    Thinking(
        where=r"googleapis\.com\S* \S*gemini-2\.5",
        style=Style.BUDGET,
        efforts=LEVELS,
        since="2026-11",
        source="[wire 6] [doc: Gemini OpenAI compatibility]: the same with a thinking_budget",
    ),
    Thinking(
        where=r"mistral\.ai\S* \S*mistral-large-4",
        style=Style.EFFORT,
        efforts=(OFF, *LEVELS),
        since="2026-11",
        source="[wire 6] [doc: Mistral Reasoning]: low, medium, high; none thinks least",
    ),
    Thinking(
        where=r"mistral\.ai\S* \S*mistral-(small-(2603|latest)|medium-3[-.]5)",
        style=Style.EFFORT,
        efforts=(OFF, "high"),
        since="2026-11",
        source="[wire 6] [doc: Mistral Reasoning], [pydantic/pydantic-ai#5285]: none or high",
    ),
    Thinking(
        where=r"minimaxi?\.(io|com)\S* \S*minimax-m3",
        style=Style.ADAPTIVE,
        efforts=(OFF, ON),
        since="2026-11",
        source="[wire 6] [doc: AgentScope MiniMax]: adaptive or disabled; M2.x think whatever is said",
    ),
    Thinking(
        where=r"cerebras\S* \S*zai-glm-4\.7",
        style=Style.EFFORT_OFF,
        efforts=(OFF,),
        since="2026-11",
        source="[wire 6] [doc: Cerebras GLM 4.7 migration]: reasoning_effort none, and no other",
    ),
    Thinking(
        where=r"(\bollama\S*|:11434) .*\b(qwen3|deepseek-(r1|v3)|gpt-oss|magistral|glm-)",
        style=Style.EFFORT,
        efforts=(OFF, *LEVELS),
        since="2026-11",
        source="[wire 6] [doc: Ollama OpenAI compatibility]: reasoning_effort with none",
    ),
    Thinking(
        where=r"api\.x\.ai\S* \S*grok-(4\.[3-9]|latest)",
        style=Style.EFFORT,
        efforts=(OFF, *LEVELS),
        since="2026-11",
        source="[wire 6] [doc: xAI Reasoning], [@ai-sdk/xai 4]: none, low, medium, high",
    ),
    Thinking(
        where=r"api\.openai\.com (o[134]|gpt-5)",
        style=Style.EFFORT,
        efforts=LEVELS,
        since="2026-07",
        source="[wire 1.1] [oai:shared/reasoning_effort.py]",
    ),
    Thinking(
        where=r"^(?!\S*openrouter).*gpt-oss",
        style=Style.EFFORT,
        efforts=LEVELS,
        since="2026-05",
        source="[doc: Groq Reasoning], [doc: Cerebras Reasoning]: reasoning_effort low, medium or high",
    ),
)


@lru_cache(1024)
def thinking_of(line: str) -> Thinking | None:
    """The first row that fits; None for a model that we know nothing of: then nothing is asked for."""
    return next((row for row in THINKING if re.search(row.where, line, re.IGNORECASE)), None)


def thinking_fields(style: str, effort: str) -> dict[str, Any]:
    """What a request says about thinking. Without an effort most models are left to their own default."""
    keeps = style in (Style.SWITCH_KEEP, Style.SWITCH_PRESERVE, Style.LEVEL, Style.BUDGET)
    if style not in STYLES or not (effort or keeps):
        return {}
    return _fields(Style(style), effort, thinks=effort != OFF)


def _google(config: dict[str, Any]) -> dict[str, Any]:
    """Gemini keeps its thoughts to itself unless asked for them in this place."""
    return {"extra_body": {"google": {"thinking_config": {"include_thoughts": True, **config}}}}


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
        case Style.EFFORT_OFF:
            return {} if thinks else {"reasoning_effort": "none"}
        case Style.ADAPTIVE:
            return {"thinking": {"type": "adaptive" if thinks else "disabled"}}
        case Style.LEVEL:
            return _google({"thinking_level": effort} if effort else {})
        case Style.BUDGET:
            return _google({"thinking_budget": BUDGETS[effort]} if effort in BUDGETS else {})
        case Style.REASONING:
            return {"reasoning": {"effort": effort} if thinks else {"enabled": False}}
        case _:
            assert_never(style)
