"""What is known of Anthropic's models where their list does not tell: dated rows, the first that fits counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..base import OFF

ADAPTIVE, BUDGET, NO_THINKING = "adaptive", "budget", ""
LEVELS = ("low", "medium", "high", "xhigh", "max")
THREE = LEVELS[:3]

OPUS_5_5 = (
    "platform.claude.com: What's new in Claude Opus 5.5, Effort; docs.aws.amazon.com: Adaptive thinking"
)
OPUS_5 = "platform.claude.com: What's new in Claude Opus 5, Adaptive thinking, Effort"
ADAPTIVE_PAGE = "platform.claude.com: Adaptive thinking, Effort"
SYSTEM_PAGE = "platform.claude.com: Adaptive thinking, Effort, Mid-conversation system messages"
EXTENDED = "platform.claude.com: Extended thinking, Models overview"
MODELS = "platform.claude.com: Models overview"


@dataclass(frozen=True, slots=True)
class Facts:
    """`thinking` says how thoughts are asked for; `efforts` may hold OFF where they may be forbidden. `system_turns`: an operator may
    speak in the middle of a conversation."""

    where: str
    since: str
    source: str
    thinking: str
    efforts: tuple[str, ...] = ()
    max_output: int | None = None
    system_turns: bool = False


FACTS = (
    Facts(r"claude-(opus|sonnet|haiku)-5-[5-9]", "2026-09", OPUS_5_5, ADAPTIVE, LEVELS, 128_000, True),
    Facts(r"claude-(fable|mythos)-5", "2026-07", OPUS_5_5, ADAPTIVE, LEVELS, 128_000, True),
    Facts(r"claude-(opus|sonnet)-5", "2026-07", OPUS_5, ADAPTIVE, (OFF, *LEVELS), 128_000, True),
    Facts(r"claude-opus-4-8", "2026-05", SYSTEM_PAGE, ADAPTIVE, (OFF, *LEVELS), 128_000, True),
    Facts(r"claude-opus-4-7", "2026-05", ADAPTIVE_PAGE, ADAPTIVE, (OFF, *LEVELS), 128_000),
    Facts(r"claude-(opus|sonnet)-4-6", "2026-02", ADAPTIVE_PAGE, ADAPTIVE, (OFF, *THREE, "max"), 64_000),
    Facts(r"claude-opus-4(-[01]|-20250514|$)", "2025-08", EXTENDED, BUDGET, (OFF, *THREE), 32_000),
    Facts(r"claude-((opus|sonnet|haiku)-4|3-7)", "2025-11", EXTENDED, BUDGET, (OFF, *THREE), 64_000),
    Facts(r"claude-3-5", "2024-10", MODELS, NO_THINKING, (), 8_192),
    Facts(r"claude-(3|2|instant)", "2024-03", MODELS, NO_THINKING, (), 4_096),
    Facts("", "2026-11", "what the newest models have in common", ADAPTIVE, THREE),
)


@lru_cache(1024)
def known(name: str) -> Facts:
    """Some hosts write a version with a dot."""
    plain = name.lower().replace(".", "-")
    return next(facts for facts in FACTS if re.search(facts.where, plain))


def abilities(row: Mapping[str, Any], facts: Facts) -> tuple[str, tuple[str, ...]]:
    """How a model thinks, and the efforts to choose from: as the provider's list says, else as we know."""
    match row:
        case {"capabilities": {"thinking": {"types": dict(types)}}}:
            off = (OFF,) if _supports(types, "disabled", otherwise=OFF in facts.efforts) else ()
        case _:
            return facts.thinking, facts.efforts
    if _supports(types, "adaptive"):
        return ADAPTIVE, (*off, *_levels(row, facts))
    return (BUDGET, (*off, *THREE)) if _supports(types, "enabled") else (NO_THINKING, ())


def _levels(row: Mapping[str, Any], facts: Facts) -> Iterator[str]:
    match row:
        case {"capabilities": {"effort": dict(effort)}}:
            return (level for level in LEVELS if _supports(effort, level))
        case _:
            return (level for level in facts.efforts if level != OFF)


def _supports(capabilities: Mapping[str, Any], name: str, *, otherwise: bool = False) -> bool:
    match capabilities.get(name):
        case {"supported": bool(supported)}:
            return supported
        case _:
            return otherwise
