"""The unfinished end of a text: which of its blocks no further text can change.

A block is finished when another one follows whose first line is complete, and a block that closes itself (a heading, a rule, a
closed fence or formula) with its own last line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from markdown_it.token import Token

from .footnotes import Expected
from .latex import Definitions
from .parser import environment, parser
from .whole import groups, html_of


@dataclass(frozen=True)
class Known:
    """What finished blocks have said that later ones need: link definitions, footnotes in the order of their marks, and what
    formulas have defined."""

    links: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    marks: list[dict[str, Any]] = field(default_factory=list)
    formulas: dict[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.links) + len(self.notes) + len(self.marks) + Definitions.again(self.formulas).size

    def environment(self, text: str, ids: str, **more: Any) -> dict[str, Any]:
        marks = {number: dict(mark) for number, mark in enumerate(self.marks)}
        notes = {"refs": Expected(self.notes), "list": marks}
        return environment(
            text, prefix=ids, references=dict(self.links), footnotes=notes, formulas=self.formulas, **more
        )

    @classmethod
    def of(cls, env: dict[str, Any]) -> Known:
        notes = env["footnotes"]
        return cls(env["references"], dict(notes["refs"]), list(notes["list"].values()), env["formulas"])


@dataclass(frozen=True)
class Step:
    """What one look at the end of a text has found: finished blocks, and how many signs they took."""

    blocks: list[str]
    taken: int
    known: Known


def advance(tail: str, known: Known, ids: str) -> Step:
    """The blocks at the beginning of this text that no further text can change."""
    complete = tail[: tail.rfind("\n") + 1]
    cut = _finished_lines(complete)
    if not cut:
        return Step([], 0, known)
    source = "\n".join(complete.split("\n")[:cut]) + "\n"
    env = known.environment(source, ids)
    html = _html(_tokens(source, env), env)
    return Step(html, len(source), Known.of(env))


def _finished_lines(complete: str) -> int:
    """How many lines the finished blocks have, of lines that are all complete."""
    tops, unsure = _structure(complete)
    ends = [top.map[1] for top in tops if top.map]
    if ends and not _closes_itself(tops[-1], complete):
        ends.pop()
    return max((end for end in ends if end <= unsure), default=0)


def _structure(text: str) -> tuple[list[Token], int]:
    """The first token of each top-level block, and the line from which on more text may change everything."""
    env = Known().environment(text, "", growing="split")
    md = parser(growing=True)
    tokens: list[Token] = []
    md.block.parse(text, md, env, tokens)
    return [group[0] for group in groups(tokens)], env.get("unsure", text.count("\n"))


def _closes_itself(top: Token, text: str) -> bool:
    match top.type:
        case "hr":
            return True
        case "heading_open":
            return top.markup.startswith("#")
        case "formula_block" | "details_open":
            return bool(top.meta["closed"])
        case "fence":
            return not _is_open(top, text)
        case _:
            return False


def _is_open(fence: Token, text: str) -> bool:
    assert fence.map
    first, end = fence.map
    last = text.split("\n")[end - 1].rstrip(" \t")
    marks = last.lstrip(" ")
    closes = (
        marks.startswith(fence.markup) and not marks.strip(fence.markup[0]) and len(last) - len(marks) <= 3
    )
    return end - first < 2 or not closes


def _tokens(source: str, env: dict[str, Any]) -> list[Token]:
    """All but the footnotes, which stand at the end of the whole text."""
    kept, inside = [], 0
    for token in parser(growing=True).parse(source, env):
        inside += token.type == "footnote_reference_open"
        if not inside:
            kept.append(token)
        inside -= token.type == "footnote_reference_close"
    return kept


def _html(tokens: list[Token], env: dict[str, Any]) -> list[str]:
    return html_of(parser(growing=True), tokens, env)
