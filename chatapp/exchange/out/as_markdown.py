"""A conversation to read and to print: its branch from the first question on, and then the branches beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from ...core.durations import thought_in_words, thoughts_in_words
from ...core.items import Item, Kind
from ...core.titles import one_line
from ...store import load_items_of
from ...store.models import Message, Role
from ...thread.endings import CUT_SHORT
from ...thread.items_so_far import ItemSoFar, items_so_far
from ...thread.whole_text import as_whole_texts
from .chosen import Chosen

BATCH = 50
_BACKTICKS = re.compile("`+")


@dataclass(frozen=True, slots=True)
class Told:
    """Of thoughts their words, of tools what they were given and what they gave. Times and names stand there in any case."""

    thoughts: bool = True
    tools: bool = False


def as_markdown(chosen: Chosen, told: Told) -> Iterator[bytes]:
    yield f"# {_heading(chosen.conversation.title) or 'Conversation'}\n".encode()
    depths: dict[UUID, int] = {}
    for pk, parent in chosen.parents.items():
        depths[pk] = 1 + (depths[parent] if parent else 0)
    branch = chosen.branch()
    yield from _messages(branch, depths, told)
    for n, side in enumerate(_sides(chosen, set(branch)), 1):
        beside = (depths[side[0]] + 1) // 2
        yield f"\n---\n\n# Side branch {n}, beside message {beside}\n".encode()
        yield from _messages(side, depths, told)


def _sides(chosen: Chosen, told: set[UUID]) -> Iterator[Sequence[UUID]]:
    """Each goes on to its end by what came first."""
    children: dict[UUID | None, list[UUID]] = {}
    for pk, parent in chosen.parents.items():
        children.setdefault(parent, []).append(pk)
    for pk in chosen.messages:
        if pk in told:
            continue
        side = [pk]
        while below := children.get(side[-1]):
            side.append(below[0])
        told.update(side)
        yield side


def _messages(messages: Sequence[UUID], depths: Mapping[UUID, int], told: Told) -> Iterator[bytes]:
    wanted = iter(messages)
    while some := list(islice(wanted, BATCH)):
        rows, items = Message.objects.in_bulk(some), load_items_of(some)
        for pk in some:
            if pk in rows:
                yield _message(rows[pk], items[pk], depths[pk], told).encode(errors="replace")


def _message(row: Message, items: Sequence[Item], depth: int, told: Told) -> str:
    number = (depth + 1) // 2
    pieces = as_whole_texts(items_so_far(row, items))
    said = [f"\n## {'Question' if row.role == Role.USER else 'Answer'} {number}"]
    if row.role == Role.ASSISTANT:
        said.append(_facts(row, pieces))
    said += [words for piece in pieces for words in _piece(piece, told)]
    return "\n\n".join(filter(None, said)) + "\n"


def _facts(row: Message, pieces: Sequence[ItemSoFar]) -> str:
    thoughts = [piece.ms for piece in pieces if piece.kind is Kind.REASONING]
    ended = row.metadata.get("ended")
    reason = CUT_SHORT.get(str(ended.get("reason")), "") if isinstance(ended, dict) else ""
    facts = (
        _heading(row.model),
        thoughts_in_words(thoughts) if thoughts else "",
        "" if row.status == "complete" else reason or row.get_status_display(),
    )
    return " · ".join(f"*{fact}*" for fact in facts if fact)


def _piece(piece: ItemSoFar, told: Told) -> Iterator[str]:
    if piece.whole:
        yield from piece.whole.said[-1:] if piece.whole.is_last else ()
        return
    match piece.kind:
        case Kind.REASONING:
            words = piece.text if told.thoughts else ""
            yield _quoted([f"**{thought_in_words(piece.ms, cut=piece.cut)}**", words])
        case Kind.TOOL_CALL:
            given = [_fenced(piece.text)] if told.tools else []
            gave = [_fenced(piece.result.text)] if told.tools and piece.result else []
            yield _quoted([f"**Called** {_as_code(piece.name or 'a tool')}", *given, *gave])
        case Kind.USER_MESSAGE if piece.role:
            if told.tools:
                yield _quoted([f"**{piece.role.capitalize()}**", piece.text])
        case Kind.USER_MESSAGE | Kind.ASSISTANT_MESSAGE:
            yield piece.text
        case Kind.PERMISSION_DECISION | Kind.TOOL_RESULT:
            pass


def _quoted(blocks: Sequence[str]) -> str:
    lines = "\n\n".join(block for block in blocks if block.strip()).splitlines()
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _fenced(text: str) -> str:
    fence = "`" * max(3, _longest_row(text) + 1)
    return f"{fence}\n{text}\n{fence}"


def _as_code(name: str) -> str:
    line = one_line(name)
    fence = "`" * (_longest_row(line) + 1)
    return f"{fence} {line} {fence}" if "`" in line else f"`{line}`"


def _longest_row(text: str) -> int:
    """Of backticks: whatever stands between more of them is told as it is."""
    return max(map(len, _BACKTICKS.findall(text)), default=0)


def _heading(text: str) -> str:
    return one_line(text).replace("*", r"\*")
