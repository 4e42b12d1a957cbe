"""What was cut and went on is drawn as one text. In the log its pieces stay items of their own; each draws some of its blocks: the
block that was cut is whole in the piece where it began, what follows stands in the next one, and thoughts in between where they came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from itertools import pairwise
from uuid import UUID

from ..core.items import Kind
from ..markdown import blocks_waiting, render_blocks_within
from ..markdown.kept import Blocks, rendered, rendered_within
from ..markdown.seams import marked
from .gap_in_words import gap_in_words
from .items_so_far import ItemSoFar, WholeText
from .joining import joined

_NOTES = '<section class="footnotes"'


def as_whole_texts(pieces: Sequence[ItemSoFar], zone: tzinfo = UTC) -> list[ItemSoFar]:
    """Each text that was cut knows what it went on with. Only thoughts may stand between. `zone`: of whoever looks."""
    made = [replace(piece, whole=None) if piece.whole else piece for piece in pieces]
    for places in _texts_in_a_row(made):
        said = [made[places[0]].text]
        for place in places[1:]:
            said.append(joined(said[-1], made[place].text))
        first, grows = made[places[0]].key, made[places[-1]].open
        times = times_in_words([made[place] for place in places[:-1]], zone)
        for n, place in enumerate(places):
            made[place] = replace(made[place], whole=WholeText(first, tuple(said), n, times, grows=grows))
    return made


def _texts_in_a_row(pieces: Sequence[ItemSoFar]) -> Iterator[list[int]]:
    """The places of texts of which each but the last was cut."""
    run: list[int] = []
    for place, piece in enumerate(pieces):
        if piece.kind is Kind.ASSISTANT_MESSAGE:
            run.append(place)
        if piece.kind is not Kind.REASONING and not (
            piece.kind is Kind.ASSISTANT_MESSAGE and may_go_on(piece)
        ):
            if len(run) > 1:
                yield run
            run = []
    if len(run) > 1:
        yield run


def times_in_words(cut: Sequence[ItemSoFar], zone: tzinfo) -> tuple[str, ...]:
    """When each of them was cut, and when it went on."""
    return tuple(gap_in_words(piece.gap, zone) for piece in cut)


def may_go_on(piece: ItemSoFar) -> bool:
    return piece.kind is Kind.ASSISTANT_MESSAGE and bool(piece.cut) and not piece.shortened


def pieces_of(piece: ItemSoFar, pieces: Sequence[ItemSoFar]) -> list[ItemSoFar]:
    """All pieces of its text, itself included."""
    if not piece.whole:
        return [piece]
    return [each for each in pieces if each.whole and each.whole.key == piece.whole.key]


def said_by(pieces: Sequence[ItemSoFar]) -> tuple[str, ...]:
    """What their text said at the end of each."""
    whole = pieces[-1].whole if pieces else None
    return whole.said if whole else tuple(piece.text for piece in pieces)


@dataclass(frozen=True, slots=True)
class Seam:
    """Where a text was cut: behind so many of its letters and blocks, in the block that said this. `words`: when."""

    length: int
    end: int
    block: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Seams:
    """Where the pieces of a text part."""

    all: tuple[Seam, ...] = ()

    def after(self, text: str, blocks: Blocks, words: str) -> Seams:
        """With one more: the text was cut when it said this."""
        own = [block for block in blocks if not block.startswith(_NOTES)]
        end = max(len(own), self.ends[-1] if self.all else 0)
        return Seams((*self.all, Seam(len(text), end, own[-1] if own else "", words)))

    @property
    def ends(self) -> tuple[int, ...]:
        return tuple(seam.end for seam in self.all)

    def marked(self, place: int, block: str) -> str:
        """The block at this place, with a mark wherever it was cut."""
        for seam in reversed(self.all):
            block = marked(block, seam.block, seam.words) if place == seam.end - 1 else block
        return block

    def within(self, taken: int) -> list[tuple[int, str]]:
        """Where it was cut behind so many letters, counted from there, and when."""
        return [(seam.length - taken, seam.words) for seam in self.all if seam.length > taken]

    def piece_of(self, place: int) -> int:
        """Which of the pieces has the block at this place."""
        return sum(end <= place for end in self.ends)

    def parts(self, blocks: Sequence[str]) -> list[Blocks]:
        """What each of the pieces shows."""
        own = [self.marked(place, block) for place, block in enumerate(blocks)]
        edges = [0, *(min(end, len(own)) for end in self.ends), len(own)]
        return [tuple(own[start:end]) for start, end in pairwise(edges)]


def part_of(message: UUID, whole: WholeText) -> Blocks:
    """For a thread that may wait."""
    seams = Seams()
    for text, words in zip(whole.said, whole.times, strict=False):
        seams = seams.after(text, rendered(message, whole.key, text), words)
    if whole.grows:
        blocks: Blocks = tuple(blocks_waiting(whole.said[-1], message=str(message), key=whole.key))
    else:
        blocks = rendered(message, whole.key, whole.said[-1])
    return seams.parts(blocks)[whole.place]


async def seams_within(message: UUID, key: str, said: Sequence[str], times: Sequence[str]) -> Seams:
    """For the event loop. `said`: what the text was whenever it was cut; `times`: when that was, in words."""
    seams = Seams()
    for text, words in zip(said, times, strict=False):
        seams = seams.after(text, await rendered_within(message, key, text), words)
    return seams


async def part_within(message: UUID, whole: WholeText) -> Blocks:
    seams = await seams_within(message, whole.key, whole.said, whole.times)
    if whole.grows:
        made = await render_blocks_within(whole.said[-1], message=str(message), key=whole.key)
        return seams.parts(made)[whole.place]
    return seams.parts(await rendered_within(message, whole.key, whole.said[-1]))[whole.place]
