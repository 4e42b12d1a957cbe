"""What each provider or model demands of replayed thoughts: dated rows, the first that fits counts.

Marks in `source`: [wire n] is the section of our notes on the wire protocols, [seed 003] the list of the reasoning replay cache,
[doc: …] a documentation page, [owner/name#n] a public issue, [mem] memory, not verified."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any


class ReplayScope(StrEnum):
    """Which answers' thoughts go back."""

    ALL = "all"
    TOOL_TURNS = "tool turns"
    NONE = "none"


class Filler(StrEnum):
    """Which assistant messages carry an empty thought where they have none of their own."""

    NEVER = "never"
    # Those after a thought, in its field: whoever thinks there may want it everywhere.
    SEEN = "seen"
    CALLS = "calls"
    ALL = "all"


class Repair(StrEnum):
    """What a provider's refusal taught, once; kept with the round that learned it."""

    STALE = "stale"
    FORBIDDEN = "forbidden"
    REQUIRED = "required"
    NO_SUMMARY = "no summary"
    BOUND = "bound"
    UNBOUND = "unbound"


Tags = tuple[str, str]
# As they come from servers without a reasoning parser.
THOUGHT_TAGS: tuple[Tags, ...] = tuple(
    (f"<{name}>", f"</{name}>") for name in ("think", "thinking", "thought", "reasoning")
)
IN_CONTENT = "content"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """`field`: where thoughts go back in chat completions that did not say where they came; IN_CONTENT: inside the text, wherever
    they came. `sealed`: a thought without its seal (encrypted content, signature) stays. `signed`: calls carry thought signatures.
    `bound`: thoughts hold for what was said before them alone, so the server is asked to drop those that do not. `blank_text`: a
    message without words may go back. `tags`: which pairs mark a thought at the start of the text; without the first of a pair,
    the text opens with thoughts. `refuses`: fields of a request that must be left out. `asks`: fields that it must have.
    `newer_names`: the most of an answer is told as OpenAI calls it by now."""

    where: str
    dialect: str
    since: str
    source: str
    scope: ReplayScope = ReplayScope.ALL
    field: str = ""
    filler: Filler = Filler.NEVER
    sealed: bool = False
    signed: bool = False
    bound: bool = False
    blank_text: bool = False
    tags: tuple[Tags, ...] = THOUGHT_TAGS
    refuses: frozenset[str] = frozenset()
    asks: tuple[tuple[str, Any], ...] = ()
    newer_names: bool = False

    def fits(self, dialect: str, line: str) -> bool:
        return dialect == self.dialect and re.search(self.where, line, re.IGNORECASE) is not None


# The servers that the public knows are matched by their hosts. What stands behind them says what a model demands where nothing is
# known of its server: the same model behind another server has another field and another rule.
OPENAI_HOSTS = (
    r"api\.openai\.com|\.openai\.azure\.com|\.services\.ai\.azure\.com|\.cognitiveservices\.azure\.com"
)
ANTHROPIC_HOSTS = r"api\.anthropic\.com|\.amazonaws\.com|\.googleapis\.com"

# Servers come before models. Of the models, the names that local builds carry ("…-think-noopen") come first, because they say
# what the server does with the thoughts.
CONTRACTS: tuple[Contract, ...] = (
    Contract(
        where=OPENAI_HOSTS,
        dialect="responses",
        since="2026-11",
        source="[wire 1.1, 1.5] store:false wants encrypted_content back, an empty message keeps its reasoning item's follower; "
        "[open-webui#32805]: Azure's other hosts",
        sealed=True,
        blank_text=True,
    ),
    Contract(
        where=r"api\.x\.ai",
        dialect="responses",
        since="2026-11",
        source="[wire 6] [doc: xAI Responses], [@ai-sdk/xai 4]: encrypted reasoning always, and wanted back",
        sealed=True,
        blank_text=True,
    ),
    Contract(
        where="",
        dialect="responses",
        since="2026-11",
        source="[wire 1.6, 6] [rikkahub/rikkahub#1690], [vllm-project/vllm#49281]: open models want their reasoning_text back, "
        "unsealed; whoever sealed a thought wants its empty message too",
        blank_text=True,
    ),
    Contract(
        where=r"claude-((opus|sonnet|haiku)-5[-.][5-9]|(fable|mythos)-5)",
        dialect="messages",
        since="2026-11",
        source="[wire 2.4, 6] [doc: Preserved thinking]: a thought is bound to all that stands before it; drop_block saves the "
        "refused request",
        sealed=True,
        bound=True,
    ),
    Contract(
        where=ANTHROPIC_HOSTS,
        dialect="messages",
        since="2026-08",
        source="[wire 2.4] thinking and redacted_thinking blocks go back unchanged, earlier turns too [doc: Preserved thinking]; "
        "an unsigned one never",
        sealed=True,
    ),
    Contract(
        where="",
        dialect="messages",
        since="2026-11",
        source='[wire 6] measured: llama.cpp finishes its thoughts with "signature": "" and takes them back so; '
        "[decolua/9router#2397]: DeepSeek wants them",
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
        tags=(("", "</think>"),),
    ),
    Contract(
        where=r"kimi-vl\S*thinking|kimi\S*-raw\b",
        dialect="chat",
        since="2026-05",
        source="[wire 3.4] Kimi's raw tags; which model ids send them raw: [mem]",
        tags=(("◁think▷", "◁/think▷"), *THOUGHT_TAGS),
    ),
    Contract(
        where=r"openrouter",
        dialect="chat",
        since="2026-11",
        source="[wire 3.2, 6] [rec:TestOpenRouterThinking]; [doc: OpenRouter Reasoning tokens]: reasoning_details unchanged; "
        "[inspect_ai#4979], [openinference#3194]: details without words belong to the thought before",
        field="reasoning_details",
    ),
    Contract(
        where=r"\bgroq\b",
        dialect="chat",
        since="2026-05",
        source="[wire 3.2] [CherryHQ/cherry-studio#16790], [agentjido/req_llm#772]: property 'reasoning_content' is unsupported; "
        "[doc: Groq Reasoning]: Qwen's come as <think> unless asked otherwise",
        scope=ReplayScope.NONE,
    ),
    Contract(
        where=r"\bcerebras\b.*gpt-oss",
        dialect="chat",
        since="2026-11",
        source="[wire 6] [doc: Cerebras Reasoning]: gpt-oss reads its earlier thoughts as words before the answer's",
        field=IN_CONTENT,
        tags=(),
    ),
    Contract(
        where=r"\bcerebras\b",
        dialect="chat",
        since="2026-11",
        source="[wire 6] [elizaOS/opencode#2], [pydantic/pydantic-ai#5891]: earlier thoughts belong into the content, between tags; "
        "[agentjido/req_llm#772]: other fields are unsupported",
        field=IN_CONTENT,
    ),
    Contract(
        where=r"\bollama\b|:11434\b",
        dialect="chat",
        since="2026-11",
        source="[wire 6] [doc: Ollama OpenAI compatibility], [gptel#1118]: `reasoning` comes and goes back, with calls above all; "
        "[anomalyco/opencode#34798]: reasoning_content made it hang; tool_choice is not taken",
        field="reasoning",
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
        where=r"llama-?\.?cpp|llama-server|\.gguf\b",
        dialect="chat",
        since="2026-06",
        source="[wire 3.2] [ggml-org/llama.cpp#13867]: reasoning_content accepted; older builds leave <think> in the content",
        field="reasoning_content",
    ),
    Contract(
        where=r"mistral\.ai|@mistral\b",
        dialect="chat",
        since="2026-11",
        source="[wire 6] [doc: Mistral Reasoning], [@ai-sdk/mistral 3.0.52]: thinking parts of the content are taken and wanted back; "
        "[charmbracelet/crush#1590], [BerriAI/litellm#30835]: any other field is 422 extra_forbidden; "
        "[dnakov/anon-kode#53]: stream_options too, usage comes by itself",
        scope=ReplayScope.NONE,
        refuses=frozenset({"stream_options"}),
    ),
    Contract(
        where=rf"@openai\b|{OPENAI_HOSTS}",
        dialect="chat",
        since="2026-11",
        source="[wire 3.2] [seed 003]: does not take it, and thinks in no tags; [open-webui#32805]: Azure's other hosts",
        scope=ReplayScope.NONE,
        tags=(),
        newer_names=True,
    ),
    Contract(
        where=r"\bgemini\b|generativelanguage\.googleapis\.com|aiplatform\.googleapis\.com",
        dialect="chat",
        since="2026-11",
        source="[wire 4, 6] [doc: Gemini Thought signatures], [agentjido/req_llm#427]: signatures ride on tool calls, foreign ones "
        "skip; [discuss.ai.google.dev 87141]: thoughts come as <thought> in the content",
        scope=ReplayScope.NONE,
        signed=True,
    ),
    Contract(
        where=r"fireworks",
        dialect="chat",
        since="2026-11",
        source="[seed 003] reasoning_content back with tool calls, empty on a miss; [wire 6] [doc: Fireworks Thinking history]: "
        "reasoning_history preserved keeps those of earlier turns",
        field="reasoning_content",
        filler=Filler.CALLS,
        asks=(("reasoning_history", "preserved"),),
    ),
    Contract(
        where=r"siliconflow|nebius|deepinfra|sambanova|\btogether|opencode-go|opencode\.ai",
        dialect="chat",
        since="2026-11",
        source="[seed 003] providers whose thinking models want reasoning_content back with tool calls, empty on a miss; "
        "[doc: Together Kimi K2 Thinking]: some send `reasoning`, which goes back there",
        field="reasoning_content",
        filler=Filler.CALLS,
    ),
    Contract(
        where=r"minimax\.io|minimaxi\.com",
        dialect="chat",
        since="2026-11",
        source="[wire 6] [doc: MiniMax text-openai-api], [doc: AgentScope MiniMax]: with reasoning_split thoughts come as "
        "reasoning_details and are wanted back; without it as <think>; tool_choice is not known",
        field="reasoning_details",
        refuses=frozenset({"tool_choice"}),
        asks=(("reasoning_split", True),),
    ),
    Contract(
        where=r"minimax",
        dialect="chat",
        since="2026-11",
        source="[wire 6] [doc: MiniMax text-openai-api]: M2, M2.x and M3 think in <think> elsewhere, and want it back as it came",
    ),
    Contract(
        where=r"api\.x\.ai|\bgrok-",
        dialect="chat",
        since="2026-11",
        source="[wire 6] [doc: xAI Chat completions]: deprecated; reasoning_content is shown and optional",
        field="reasoning_content",
    ),
    Contract(
        where=r"deepseek-r1",
        dialect="chat",
        since="2025-01",
        source="[wire 3.2] [doc: old reasoner guide copy], [matjanos/opencode#1]: must not be sent, although [seed 003] lists it; "
        "[wire 3.4] builds without a parser leave <think> in the content",
        scope=ReplayScope.NONE,
    ),
    Contract(
        where=r"kimi-k3",
        dialect="chat",
        since="2026-11",
        source="[wire 6] [doc: synaps-engine kimi.rs], [opencode-kimi-full#11]: K3 and K3.1 always think; every earlier "
        "reasoning_content must stay",
        field="reasoning_content",
        filler=Filler.ALL,
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
        where=r"\bmimo[-.]?(v\d|\b)|xiaomi",
        dialect="chat",
        since="2026-11",
        source="[wire 3.2, 3.3, 6] [chatboxai/chatbox#3716], [seed 003] xiaomi-mimo, mimo[-.]?v\\d: required on all later turns after "
        "tool calls",
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
        scope=ReplayScope.TOOL_TURNS,
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
        where="",
        dialect="chat",
        since="2026-05",
        source="[wire 3.2, 6] read all fields, write the one that was read, empty where a later answer has none; a refusal "
        "teaches the rest",
        filler=Filler.SEEN,
    ),
)


def matched_line(*, model: str, host: str = "") -> str:
    """What the patterns of dated rows are matched against. A provider's name is anybody's choice, and tells nothing."""
    return f"{host} {model}"


@lru_cache(1024)
def contract_for(dialect: str, *, model: str, host: str = "") -> Contract:
    """The first row that fits; the last one of each dialect fits always. `host` has its port where it is not the usual one."""
    line = matched_line(model=model, host=host)
    for contract in CONTRACTS:
        if contract.fits(dialect, line):
            return contract
    raise ValueError(f"No contract speaks of the dialect '{dialect}'.")


def taught(contract: Contract, repairs: frozenset[Repair]) -> Contract:
    """The contract as refusals corrected it. Nothing at all is the safer reading where they contradict each other."""
    bound = (contract.bound or Repair.BOUND in repairs) and Repair.UNBOUND not in repairs
    if bound is not contract.bound:
        contract = replace(contract, bound=bound)
    if Repair.FORBIDDEN in repairs:
        return replace(contract, scope=ReplayScope.NONE, filler=Filler.NEVER)
    if Repair.REQUIRED in repairs:
        return replace(
            contract, scope=ReplayScope.ALL, field=contract.field or "reasoning_content", filler=Filler.ALL
        )
    return contract
