"""What each provider or model demands of replayed thoughts: dated rows, the first that fits counts.

Marks in `source`: [wire n] is the section of our notes on the wire protocols, [seed 003] the list of the reasoning replay cache,
[doc: …] a documentation page, [owner/name#n] a public issue, [mem] memory, not verified."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum


class Scope(StrEnum):
    """Which answers' thoughts go back."""

    ALL = "all"
    TOOL_TURNS = "tool turns"
    NONE = "none"


class Filler(StrEnum):
    """Which assistant messages carry an empty thought where they have none of their own."""

    NEVER = "never"
    CALLS = "calls"
    ALL = "all"


class Repair(StrEnum):
    """What a provider's refusal taught, once; kept with the round that learned it."""

    STALE = "stale"
    FORBIDDEN = "forbidden"
    REQUIRED = "required"
    NO_SUMMARY = "no summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """`field`: where thoughts go back in chat completions, empty for the field in which they came. `sealed`: a thought without its
    encrypted content stays. `signed`: calls carry thought signatures. `blank_text`: a message without words may go back.
    `tags`: how inline thoughts are marked, where they come inside the text; without the first, the text opens with thoughts.
    `refuses`: fields of a request that must be left out."""

    where: str
    dialect: str
    since: str
    source: str
    scope: Scope = Scope.ALL
    field: str = ""
    filler: Filler = Filler.NEVER
    sealed: bool = False
    signed: bool = False
    blank_text: bool = False
    tags: tuple[str, str] | None = None
    refuses: frozenset[str] = frozenset()

    def fits(self, dialect: str, name: str) -> bool:
        return dialect == self.dialect and re.search(self.where, name, re.IGNORECASE) is not None


THINK = ("<think>", "</think>")

# Servers come before models: the same model behind another server has another field and another rule. Of the models, the names
# that local builds carry ("…-think-tags") come first, because they say what the server does with the thoughts.
CONTRACTS: tuple[Contract, ...] = (
    Contract(
        where=r"^openai\b|api\.openai\.com|\.openai\.azure\.com",
        dialect="responses",
        since="2026-07",
        source="[wire 1.1, 1.5] store:false wants encrypted_content back, an empty message keeps its reasoning item's follower",
        sealed=True,
        blank_text=True,
    ),
    Contract(
        where="",
        dialect="responses",
        since="2026-07",
        source="[wire 1.6] [rikkahub/rikkahub#1690], [vllm-project/vllm#49281]: open models want their reasoning_text back, unsealed",
    ),
    Contract(
        where="",
        dialect="messages",
        since="2026-08",
        source="[wire 2.4] thinking and redacted_thinking blocks go back unchanged, earlier turns too [doc: Preserved thinking]",
    ),
    Contract(
        where="",
        dialect="demo",
        since="2026-11",
        source="our own model reads its own thoughts",
    ),
    Contract(
        where=r"think-?noopen$",
        dialect="chat",
        since="2026-05",
        source="[wire 3.4] R1-style template that has written the opening tag; local builds say so at the end of the model id",
        scope=Scope.NONE,
        tags=("", THINK[1]),
    ),
    Contract(
        where=r"think-?tags?$",
        dialect="chat",
        since="2026-05",
        source="[wire 3.4] server without a reasoning parser; local builds say so at the end of the model id",
        scope=Scope.NONE,
        tags=THINK,
    ),
    Contract(
        where=r"kimi-vl\S*thinking|kimi\S*-raw\b",
        dialect="chat",
        since="2026-05",
        source="[wire 3.4] Kimi's raw tags; which model ids send them raw: [mem]",
        scope=Scope.NONE,
        tags=("◁think▷", "◁/think▷"),
    ),
    Contract(
        where=r"openrouter",
        dialect="chat",
        since="2026-03",
        source="[wire 3.2] [rec:TestOpenRouterThinking]; [doc: OpenRouter Reasoning tokens]: reasoning_details unchanged",
        field="reasoning_details",
    ),
    Contract(
        where=r"\bgroq\b|\bcerebras\b",
        dialect="chat",
        since="2026-05",
        source="[wire 3.2] [CherryHQ/cherry-studio#16790], [agentjido/req_llm#772]: property 'reasoning_content' is unsupported; "
        "[doc: Groq Reasoning], [doc: Cerebras Reasoning]: Qwen's come as <think> unless asked otherwise",
        scope=Scope.NONE,
        tags=THINK,
    ),
    Contract(
        where=r"\bollama\b",
        dialect="chat",
        since="2026-06",
        source="[wire 3.2] [anomalyco/opencode#34798]: reasoning_content in the history made it hang; "
        "[doc: Ollama OpenAI compatibility]: tool_choice is not taken",
        scope=Scope.NONE,
        refuses=frozenset({"tool_choice"}),
    ),
    Contract(
        where=r"\bvllm\b",
        dialect="chat",
        since="2026-03",
        source="[wire 3.2] [vllm-project/vllm#38488]; [doc: vLLM Reasoning outputs]: reads `reasoning` only",
        field="reasoning",
    ),
    Contract(
        where=r"\bsglang\b",
        dialect="chat",
        since="2026-03",
        source="[wire 3.2] [doc: SGLang separate reasoning]: optional",
        field="reasoning_content",
    ),
    Contract(
        where=r"^local\b|llama-?\.?cpp|llama-server|\.gguf\b",
        dialect="chat",
        since="2026-06",
        source="[wire 3.2] [ggml-org/llama.cpp#13867]: reasoning_content accepted; older builds leave <think> in the content",
        field="reasoning_content",
        tags=THINK,
    ),
    Contract(
        where=r"\bmistral\b",
        dialect="chat",
        since="2026-06",
        source="[wire 3.2] [charmbracelet/crush#1590], [BerriAI/litellm#30835]: 422 extra_forbidden; "
        "[dnakov/anon-kode#53]: stream_options too, usage comes by itself",
        scope=Scope.NONE,
        refuses=frozenset({"stream_options"}),
    ),
    Contract(
        where=r"^openai\b|@openai\b|api\.openai\.com|\.openai\.azure\.com",
        dialect="chat",
        since="2026-05",
        source="[wire 3.2] [seed 003]: does not take it",
        scope=Scope.NONE,
    ),
    Contract(
        where=r"\bgemini\b|generativelanguage\.googleapis\.com|aiplatform\.googleapis\.com",
        dialect="chat",
        since="2026-03",
        source="[wire 4] [doc: Gemini Thought signatures], [agentjido/req_llm#427]: signatures ride on tool calls, foreign ones skip",
        scope=Scope.NONE,
        signed=True,
    ),
    Contract(
        where=r"deepseek-r1",
        dialect="chat",
        since="2025-01",
        source="[wire 3.2] [doc: old reasoner guide copy], [matjanos/opencode#1]: must not be sent, although [seed 003] lists it; "
        "[wire 3.4] builds without a parser leave <think> in the content",
        scope=Scope.NONE,
        tags=THINK,
    ),
    Contract(
        where=r"\bkimi\b|moonshot",
        dialect="chat",
        since="2026-04",
        source="[wire 3.2, 3.3] [continuedev/continue#11600], [seed 003] kimi-k2: required on assistant messages with tool_calls",
        field="reasoning_content",
        filler=Filler.CALLS,
    ),
    Contract(
        where=r"\bmimo\b|xiaomi",
        dialect="chat",
        since="2026-05",
        source="[wire 3.2, 3.3] [chatboxai/chatbox#3716], [seed 003] xiaomi-mimo, mimo-v2: required on all later turns after tool calls",
        field="reasoning_content",
        filler=Filler.ALL,
    ),
    Contract(
        where=r"glm\S*think",
        dialect="chat",
        since="2026-05",
        source="[seed 003] glm.*think: replayed with tool calls, empty on a miss; [wire 3.2]",
        field="reasoning_content",
        filler=Filler.CALLS,
        refuses=frozenset({"tool_choice"}),
    ),
    Contract(
        where=r"\bglm\b|\bz\.ai\b|bigmodel\.cn|zhipu",
        dialect="chat",
        since="2026-02",
        source="[wire 3.2] [doc: Z.ai Thinking mode]: return with tool results, exact and in order, no 400 seen; "
        "[doc: AgentScope GLM model]: tool_choice takes auto only",
        field="reasoning_content",
        refuses=frozenset({"tool_choice"}),
    ),
    Contract(
        where=r"qwq|qwen\S*think",
        dialect="chat",
        since="2026-05",
        source="[seed 003] qwq, qwen.*think: replayed with tool calls, empty on a miss",
        field="reasoning_content",
        filler=Filler.CALLS,
    ),
    Contract(
        where=r"\bqwen|dashscope|aliyuncs",
        dialect="chat",
        since="2026-02",
        source="[wire 3.2] [doc: Alibaba Deep thinking]: optional",
        field="reasoning_content",
    ),
    Contract(
        where=r"deepseek-v3",
        dialect="chat",
        since="2025-12",
        source="[wire 3.2] [OpenHands/benchmarks#353]: Missing `reasoning_content`; only turns with tool calls [wire 3.3]",
        scope=Scope.TOOL_TURNS,
        field="reasoning_content",
        filler=Filler.CALLS,
    ),
    Contract(
        where=r"deepseek",
        dialect="chat",
        since="2026-04",
        source="[wire 3.3] [bojieli/ai-agent-book#982], [openclaw/openclaw#73417], [MoonshotAI/kimi-cli#2141]: with tools every "
        "assistant message, empty for other models' turns; [seed 003] deepseek, deepseek-reasoner, deepseek-chat are V4 by now",
        field="reasoning_content",
        filler=Filler.ALL,
    ),
    Contract(
        where=r"siliconflow|nebius|deepinfra|sambanova|fireworks|\btogether|opencode-go|opencode\.ai",
        dialect="chat",
        since="2026-05",
        source="[seed 003] providers whose thinking models want reasoning_content back with tool calls, empty on a miss",
        field="reasoning_content",
        filler=Filler.CALLS,
    ),
    Contract(
        where="",
        dialect="chat",
        since="2026-05",
        source="[wire 3.2] read both fields, write the one that was read; a refusal teaches the rest",
    ),
)


def line_of(*, provider: str, model: str, host: str = "") -> str:
    """What the patterns of dated rows are matched against."""
    return f"{provider} {host} {model}"


def contract_for(dialect: str, *, provider: str, model: str, host: str = "") -> Contract:
    """The first row that fits; the last one of each dialect fits always."""
    line = line_of(provider=provider, model=model, host=host)
    for contract in CONTRACTS:
        if contract.fits(dialect, line):
            return contract
    raise ValueError(f"No contract speaks of the dialect '{dialect}'.")


def taught(contract: Contract, repairs: frozenset[Repair]) -> Contract:
    """The contract as refusals corrected it. Nothing at all is the safer reading where they contradict each other."""
    if Repair.FORBIDDEN in repairs:
        return replace(contract, scope=Scope.NONE, filler=Filler.NEVER)
    if Repair.REQUIRED in repairs:
        return replace(
            contract, scope=Scope.ALL, field=contract.field or "reasoning_content", filler=Filler.ALL
        )
    return contract
