"""What is wrong in a look at a growing answer, held against the finished one: raw signs, shapes that went back, lines that moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

Look = dict[str, Any]
KINDS = {
    "|": "table",
    "*": "stress",
    "_": "stress",
    "~": "stress",
    "`": "code",
    "#": "heading",
    ">": "quote",
    "-": "list",
    "+": "list",
    "[": "link",
    "]": "link",
    "(": "link",
    "!": "link",
    "^": "link",
    "$": "formula",
    "\\": "formula",
    "=": "heading",
    ":": "table",
}
# A formula in the making, as in looks.js.
DRAWN = "\ufffc"
NEAR = 0.5


@dataclass
class Judgement:
    looks: int = 0
    raw: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    back: int = 0
    moved: list[float] = field(default_factory=list)
    # In the moment in which the answer is complete, and tables get the columns that fit all their rows.
    moved_last: list[float] = field(default_factory=list)
    octets: int = 0
    html: int = 0
    examples: list[str] = field(default_factory=list)

    def __add__(self, other: Judgement) -> Judgement:
        return Judgement(
            self.looks + other.looks,
            self.raw + other.raw,
            self.kinds + other.kinds,
            self.back + other.back,
            self.moved + other.moved,
            self.moved_last + other.moved_last,
            self.octets + other.octets,
            self.html + other.html,
            self.examples + other.examples,
        )


def judged(looks: list[Look | None], final: Look) -> Judgement:
    """`None` is a look that saw what the one before it saw."""
    judgement, kinds = Judgement(), set[str]()
    for look in looks:
        if look is not None:
            found = list(raw_signs(look["text"], final["text"]))
            kinds = {kind for kind, _ in found}
            judgement.examples += [f"{kind}: {words}" for kind, words in found[:1]]
        judgement.looks += 1
        judgement.raw += bool(kinds)
        judgement.kinds.update(kinds)
    seen = [look for look in [*looks, final] if look is not None]
    for before, after in pairwise(seen):
        judgement.back += _went_back(before, after, final["text"])
        moved = judgement.moved_last if after["ended"] else judgement.moved
        moved += _moved(before, after, final["text"])
    return judgement


def raw_signs(text: str, final: str) -> Iterator[tuple[str, str]]:
    """Signs on the screen that the finished answer does not show at that place, by kind."""
    same = _same(text, final)
    rest, there = text[same:], final[same : same + 2 * len(text[same:]) + 60]
    at = 0
    for start, _, size in SequenceMatcher(None, rest, there, autojunk=False).get_matching_blocks():
        extra = rest[at:start].replace(DRAWN, "")
        if extra:
            yield (
                _kind(extra),
                f"{rest[max(0, at - 20) : at]}⟦{extra[:30]}⟧ of {there[max(0, at - 20) : at + 20]}",
            )
        at = start + size


def _same(text: str, final: str) -> int:
    for at, (here, there) in enumerate(zip(text, final, strict=False)):
        if here != there:
            return at
    return min(len(text), len(final))


def _kind(extra: str) -> str:
    found = next((KINDS[sign] for sign in extra if sign in KINDS), "")
    return found or ("list" if extra.strip(".").isdigit() else "words")


def _shapes(look: Look) -> list[str]:
    return [shape for length, shape in look["shapes"] for _ in range(length)]


def _went_back(before: Look, after: Look, final: str) -> int:
    """How many shapes are lost from one look to the next, each run of signs counted once."""
    same = min(_same(before["text"], final), _same(after["text"], final))
    lost, last = 0, ""
    for old, new in zip(_shapes(before)[:same], _shapes(after)[:same], strict=True):
        gone = "".join(sorted((Counter(old) - Counter(new)).elements()))
        lost += bool(gone) and gone != last
        last = gone
    return lost


def _moved(before: Look, after: Look, final: str) -> list[float]:
    """By how many pixels lines moved that nothing was written into. Where two begin together, all are compared in their order."""
    same = min(_same(before["text"], final), _same(after["text"], final))
    places = {key: place for key, place in _places(before)[:-1] if key[0] < same}
    growing = _places(before)[-1:][0][0][0] if _places(before) else 0
    now = dict(_places(after))
    steps = (
        now[key] - place for key, place in places.items() if key in now and (key[0] < growing or not growing)
    )
    moves = [step for step in steps if abs(step) > NEAR]
    return [max(moves, key=abs)] if moves else []


def _places(look: Look) -> list[tuple[tuple[int, str, int], float]]:
    counted = Counter[tuple[int, str]]()
    places = []
    for at, name, place in look["places"]:
        counted[at, name] += 1
        places.append(((at, name, counted[at, name]), place))
    return places
