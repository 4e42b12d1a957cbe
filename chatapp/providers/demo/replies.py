"""Chooses what the demo says in one response: thoughts, calls and words in their order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from zlib import crc32

from ...core.items import Outcome
from ..base import OFF
from . import texts
from .finding import expression, page, zones
from .pieces import Call, Failure, Piece, Thought, Words, as_wire
from .reading import Called, Situation
from .texts import COUNTING, GENERAL, LOOKING, READING, TOPICS, Texts, Topic, texts_of

THOUGHTS = {OFF: 0, "low": 1, "medium": 2, "high": 3}
USUAL = 2
FIRST_CAP = 160
RESULT_CAP = 2000
MOST_ANSWERS = 3
FAILING = "failing"


def reply(at: Situation, effort: str) -> list[Piece]:
    """One response. It goes on where it was cut, if it was."""
    if at.cut:
        return _rest(at, effort)
    thoughts = THOUGHTS.get(effort, USUAL)
    if at.called:
        return _with_results(at, thoughts)
    calls = _wanted(at.question)
    if calls:
        return _calling(at, calls, thoughts)
    topic = _topic(at.question)
    if topic.name == FAILING and not at.again:
        return [*_thoughts(texts_of(topic).thoughts, thoughts), Failure(texts.FAILS, texts.FAILS_RAW)]
    return _about(at, topic, thoughts)


def _wanted(question: str) -> list[Call]:
    if _matches(TOPICS[0], question):
        return []
    if address := page(question):
        return [Call("read_page", "url", address)]
    found = expression(question)
    calls = [Call("calculator", "expression", found)] if found else []
    return calls + [Call("clock", "zone", zone) for zone in zones(question)]


def _calling(at: Situation, calls: Sequence[Call], thoughts: int) -> list[Piece]:
    """Some thoughts, then the calls; one thought is kept for their results."""
    possible = [call for call in calls if call.name in at.tools]
    if not possible:
        said = texts.NO_TOOL.replace("«tool»", calls[0].name)
        return [*_thoughts([texts.NO_TOOL_THOUGHT], thoughts), Words(said)]
    before = _doing(possible[0].name).thoughts[:2]
    return [*_thoughts(before, max(thoughts - 1, min(thoughts, 1))), *possible]


def _with_results(at: Situation, thoughts: int) -> list[Piece]:
    found = _doing(at.called[0].name)
    results = "\n\n".join(_result(call) for call in at.called)
    done = any(call.result.outcome == Outcome.DONE for call in at.called)
    said = _chosen(found.answers, at).replace("«results»", results) if done else results
    return [*_thoughts(found.thoughts[2:], thoughts - 1), Words(said)]


def _doing(tool: str) -> Texts:
    return texts_of({"calculator": COUNTING, "read_page": READING}.get(tool, LOOKING))


def _result(call: Called) -> str:
    shown = _shown(call.result.text)
    match Outcome(call.result.outcome):
        case Outcome.DONE:
            return f"{_what(call)} {shown}"
        case Outcome.FAILED:
            return f"The tool *{call.name}* could not do it. It says: {shown}"
        case Outcome.DENIED:
            return f"You did not allow the tool *{call.name}*, so I have no result."
        case Outcome.STOPPED | Outcome.UNKNOWN:
            return f"The tool *{call.name}* was interrupted, so I have no result."


def _what(call: Called) -> str:
    match call.name:
        case "calculator":
            return f"`{call.argument}` is"
        case "read_page":
            return "The page says:"
        case _:
            return f"The time, {call.argument}:"


def _shown(text: str) -> str:
    """A result is shown as it is, whatever is in it."""
    if len(text) <= 100 and not set(text) & set("`\n\r"):
        return f"`{text}`" if text.strip() else "nothing"
    cut = text[:RESULT_CAP] + (" …" if len(text) > RESULT_CAP else "")
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", cut)), default=0))
    return f"\n\n{fence}text\n{cut}\n{fence}\n"


def _topic(question: str) -> Topic:
    return next((topic for topic in TOPICS if _matches(topic, question)), GENERAL)


def _matches(topic: Topic, question: str) -> bool:
    return re.search(topic.pattern, question[:2000].strip(), re.IGNORECASE) is not None


def _about(at: Situation, topic: Topic, thoughts: int) -> list[Piece]:
    """With most effort the last thought comes after the first paragraph, as it does with models that think between."""
    found = texts_of(topic)
    thinking = [_filled(text, at) for text in found.thoughts]
    answer = _filled(_chosen(found.answers, at), at)
    opening, gap, rest = answer.partition("\n\n")
    if thoughts < len(thinking) or not gap:
        return [*_thoughts(thinking, thoughts), Words(answer)]
    return [*_thoughts(thinking, thoughts - 1), Words(opening), Thought(thinking[-1]), Words(rest)]


def _thoughts(thinking: Sequence[str], most: int) -> Iterator[Thought]:
    return (Thought(text) for text in thinking[: max(most, 0)])


def _chosen(answers: Sequence[str], at: Situation) -> str:
    """The same question always begins with the same answer, and goes through all of them when it is asked again."""
    return answers[(crc32(at.question.encode(errors="replace")) + at.again) % len(answers)]


def _filled(text: str, at: Situation) -> str:
    if text == "«memory»":
        return _memory(at)
    tools = ", ".join(f"*{name}*" for name in at.tools) or "none"
    return text.replace("«tools»", tools).replace("«question»", at.quoted or "…")


def _memory(at: Situation) -> str:
    """Counts what really came back, word for word as it was written."""
    kept = [
        part.item.text
        for part in at.thoughts
        if part.verbatim and part.item.wire == as_wire(Thought(part.item.text))
    ]
    changed = len(at.thoughts) - len(kept)
    said = texts.REMEMBERS_NOTHING
    if kept:
        first = " ".join(kept[0].split())[:FIRST_CAP]
        said = texts.REMEMBERS.replace("«count»", _count(len(kept))).replace("«first»", first)
    if changed:
        said += texts.CHANGED.replace("«count»", _count(changed))
    if at.dropped:
        said += texts.LEFT_OUT.replace("«dropped»", ", ".join(f"{n} ({why})" for why, n in at.dropped))
    return said


def _count(n: int) -> str:
    return "1 thought" if n == 1 else f"{n} thoughts"


def _rest(at: Situation, effort: str) -> list[Piece]:
    """What was still to come when it was cut, by saying it all again as far as that."""
    whole = replace(at, cut="")
    for again in range(MOST_ANSWERS):
        pieces = reply(replace(whole, again=at.again + again), effort)
        for n, piece in enumerate(pieces):
            if isinstance(piece, Words) and piece.text.startswith(at.cut) and piece.text != at.cut:
                return [Words(piece.text[len(at.cut) :]), *pieces[n + 1 :]]
    return [Words(texts.NOTHING_MORE)]
