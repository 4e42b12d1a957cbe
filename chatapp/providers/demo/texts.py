"""The topics that the demo knows, in the order in which they are looked for; each one's texts are a file in `topics`.

In the texts «question» is what was asked, «tools» the tools that are switched on, «results» what they gave."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "topics"


@dataclass(frozen=True, slots=True)
class Topic:
    """`pattern` finds it in a question."""

    name: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Texts:
    """Three thoughts, of which fewer are shown at lower efforts. The answers are alternatives for asking again."""

    thoughts: tuple[str, ...]
    answers: tuple[str, ...]


@cache
def texts_of(topic: Topic) -> Texts:
    thoughts, *answers = (FOLDER / f"{topic.name}.md").read_text().split("\n=====\n")
    return Texts(tuple(thoughts.split("\n")[:3]), tuple(answer.strip("\n") for answer in answers))


def _words(*words: str) -> str:
    return r"\b(?:" + "|".join(words) + r")\b"


def _only(*words: str) -> str:
    """A message that is little more than this: no question comes after it."""
    return r"^\W*(?:" + "|".join(words) + r")\b[^?]{0,40}$"


def _alone(word: str) -> str:
    return rf"^\W*{word}\W*$"


TOPICS = (
    Topic(
        "thinking_time",
        _words(
            "thinking time",
            "how long (?:did|do|does|have|has|was|were) .{0,30}th(?:ink|ought)",
            "thought for",
            "your (?:thinking|reasoning)",
            "(?:show|see|hide|fold|open|replay|keep) .{0,20}thoughts?",
            "thoughts? .{0,20}(?:shown|hidden|kept|stored|sent back|replayed)",
        ),
    ),
    Topic(
        "memory",
        _words(
            "(?:do|can|what do) you (?:still )?remember",
            "your memory",
            "(?:earlier|previous) thoughts?",
            "what (?:did|were) you think(?:ing)?",
        ),
    ),
    Topic(
        "keys",
        _words(
            "api[ -]?keys?",
            "(?:set up|add|configure|connect|use) .{0,30}(?:provider|openai|anthropic|claude|gpt|deepseek|openrouter|ollama"
            "|real model|key)",
        ),
    ),
    Topic(
        "local_model",
        _words("local model", "smollm2?", "tiny model", "offline", "without .{0,4}(?:network|internet|key)"),
    ),
    Topic(
        "failing",
        _words(
            "(?:how|what) .{0,30}(?:failures?|errors?|failed answers?) looks?",
            "(?:show|make|give|simulate) .{0,20}(?:errors?|failures?)",
            "(?:please|can you|could you) fail",
        ),
    ),
    Topic(
        "branches",
        _words(
            "branch(?:es|ing)?",
            "fork(?:s|ed|ing)?",
            "ask again",
            "regenerat(?:e|ed|ing)",
            "edit .{0,20}(?:question|message)",
            "other (?:version|answer)s?",
        ),
    ),
    Topic(
        "sharing",
        _words(
            "shar(?:e|ing) .{0,20}(?:this|conversation|chat|branch|link|answer)",
            "how .{0,10}i share",
            "(?:shared|public) links?",
            "sharing (?:work|links?)",
        )
        + "|"
        + _alone("sharing"),
    ),
    Topic(
        "export",
        _words(
            "export(?:s|ed|ing)?",
            "import .{0,10}(?:conversation|chat|file)s?",
            "download .{0,20}(?:conversation|chat)s?",
        ),
    ),
    Topic(
        "models",
        _words(
            "(?:which|what|other) models?",
            "(?:choose|change|switch|select|pick|list) .{0,20}models?",
            "(?:the|set|change|thinking|what is) effort",
            "think (?:more|less|harder)",
        ),
    ),
    Topic(
        "tools",
        _words(
            "(?:which|what|your|you|have|call|mcp) .{0,10}tools?",
            "mcp",
            "permissions?",
            "calculator",
            "clock",
        )
        + "|"
        + _alone("tools?"),
    ),
    Topic(
        "code",
        _words(
            "code",
            "(?:write|make|show|implement) .{0,40}(?:function|program|script|query|class|regex)",
            "python|javascript|typescript|sql|html|css|bash|rust|java",
        ),
    ),
    Topic(
        "formula",
        _words(
            "formulas?",
            "equations?",
            "latex",
            "math(?:s|ematics|ml)?",
            "integrals?",
            "derivatives?",
            "theorems?",
            "proof|prove",
        ),
    ),
    Topic("table", _words("tables?", "columns?", "compar(?:e|ison)", "differences? between", "versus", "vs")),
    Topic(
        "product",
        _words(
            "(?:who|what) are you",
            "are you (?:real|human|an? ai|(?:a |an )?(?:real )?(?:model|bot|person|human)|chatgpt|claude|gpt)",
            "what is this",
            "thoughtline",
            "what can (?:you|i) do",
            "how does (?:this|it) work",
            "get started",
        )
        + "|"
        + _alone("help"),
    ),
    Topic("thanks", _only("thanks?", "thx", "great", "nice", "cool", "perfect", "awesome")),
    Topic("goodbye", _only("bye", "goodbye", "good night", "see you", "farewell")),
    Topic(
        "greeting",
        _only("hi", "hello", "hey", "hiya", "howdy", "good (?:morning|afternoon|evening)", "greetings"),
    ),
)
GENERAL = Topic("general", "")
COUNTING = Topic("counting", "")
LOOKING = Topic("looking", "")
READING = Topic("reading", "")

NO_TOOL_THOUGHT = (
    "I would need a tool for this and have none here. Then the honest answer is that I do not know."
)
NO_TOOL = (
    "That would be a task for the tool *«tool»*, but I cannot call it here: it is switched off for this conversation, or this "
    "answer has used up its calls. I am a demo and do not guess, so I leave it at that."
)

REMEMBERS = (
    "I still have **«count» of earlier turns** on this branch, and each came back exactly as I wrote it. The first one begins:\n\n"
    "> «first»\n\n"
    "A thought is sent back only to the model that had it; mine come to nobody but me. I am a demo, but this part is real: I "
    "counted what came with your question."
)
REMEMBERS_NOTHING = (
    "I have no thoughts of earlier turns here. Either this is my first answer on this branch, or thinking was off, or another "
    "model answered before me, and thoughts are never handed from one model to another. I am a demo, but I did look. Ask me "
    "something else first, then this again."
)
CHANGED = "\n\n«count» came back changed, which should not happen. Please tell whoever runs this server."
LEFT_OUT = "\n\nLeft out on the way: «dropped»."
FAILS = "The demo failed, because you asked it to. Press Retry, and it answers."
FAILS_RAW = '{"error": {"type": "demo_failure", "message": "A provider\'s own words would stand here."}}'
NOTHING_MORE = "There is nothing more to say here: I am a demo, and this answer was at its end."
