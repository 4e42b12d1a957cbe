"""What is known of OpenAI's models, since their list tells names alone. The first row that fits counts.

Marks in `source`: [doc: …] a documentation page, [owner/name#n] a public issue, [mem] memory, unverified."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ..base import OFF

NO_THINKING = "none"
LEVELS = ("low", "medium", "high")
UP_TO_XHIGH = (*LEVELS, "xhigh")

EFFORTS = "[doc: Azure ReasoningEffort]"
LIMITS = "[doc: UiPath supported models]"


@dataclass(frozen=True, slots=True)
class Facts:
    """`efforts`: what may be chosen. `thinking`: NO_THINKING where a request must not speak of thoughts."""

    where: str
    since: str
    source: str
    efforts: tuple[str, ...] = ()
    window: int | None = None
    max_output: int | None = None
    thinking: str = ""


FACTS = (
    Facts(
        r"^gpt-4\.1", "2025-04", "[microsoft/agent-framework#7483] [mem]", (), 1_047_576, 32_768, NO_THINKING
    ),
    Facts(r"^(chat)?gpt-4o", "2024-11", LIMITS, (), 128_000, 16_384, NO_THINKING),
    Facts(r"^gpt-5-chat", "2025-08", "[labring/fastgpt-plugin#297]", (), 128_000, 16_384, NO_THINKING),
    Facts(r"^gpt-[34]|^chatgpt-", "2023-11", "[mem]", thinking=NO_THINKING),
    Facts(r"^gpt-5\.\d+-chat", "2025-11", "[labring/fastgpt-plugin#297]", (), 128_000, 16_384),
    Facts(
        r"^gpt-5\.6", "2026-07", "[doc: OpenAI GPT-5.6 Luna]", (OFF, *UP_TO_XHIGH, "max"), 1_050_000, 128_000
    ),
    Facts(r"^gpt-5\.[45]-pro", "2026-04", "[mem]", UP_TO_XHIGH[1:], 1_050_000, 128_000),
    Facts(r"^gpt-5\.4-(mini|nano)", "2026-03", "[mem]", (OFF, *UP_TO_XHIGH), 400_000, 128_000),
    Facts(r"^gpt-5\.[45]", "2026-04", "[doc: Oxen GPT 5.5]", (OFF, *UP_TO_XHIGH), 1_050_000, 128_000),
    Facts(r"^gpt-5\.\d+-pro", "2025-12", "[mem]", UP_TO_XHIGH[1:], 400_000, 128_000),
    Facts(r"^gpt-5-pro", "2025-10", f"{EFFORTS} takes high alone", (), 400_000, 128_000),
    Facts(
        r"^gpt-5\.([23]-codex|1-codex-max)", "2026-02", f"{EFFORTS} {LIMITS}", UP_TO_XHIGH, 400_000, 128_000
    ),
    Facts(r"^gpt-5(\.1)?-codex", "2025-11", f"[RayBytes/ChatMock#101] {LIMITS}", LEVELS, 400_000, 128_000),
    Facts(r"^gpt-5\.[23]", "2025-12", f"{EFFORTS} {LIMITS}", (OFF, *UP_TO_XHIGH), 400_000, 128_000),
    Facts(r"^gpt-5\.1", "2025-11", f"{EFFORTS} {LIMITS}", (OFF, *LEVELS), 400_000, 128_000),
    Facts(r"^gpt-5", "2025-08", f"{EFFORTS} {LIMITS}", ("minimal", *LEVELS), 400_000, 128_000),
    Facts(r"^o[134]\b", "2025-04", "[doc: agcodex-core openai_model_info]", LEVELS, 200_000, 100_000),
    Facts(
        r"^grok-(4\.[3-9]|latest)",
        "2026-11",
        "[doc: xAI Reasoning] [@ai-sdk/xai 4]",
        (OFF, *LEVELS),
        1_000_000,
    ),
    Facts(r"^grok-", "2026-11", "[doc: xAI Models]: thinks as it likes"),
    Facts(r"^gpt-oss", "2025-08", "[mem]", LEVELS, 131_072),
    Facts("", "2026-11", "a model unknown to us is taken for a thinking one", (OFF, "minimal", *LEVELS)),
)


@lru_cache(1024)
def known(name: str) -> Facts:
    return next(facts for facts in FACTS if re.search(facts.where, name, re.IGNORECASE))
