"""A few signs around the words that were found, as whoever reads the text sees them: without signs of Markdown, but those that were
looked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ...core.items import Kind
from ...core.signs.folded import places_of
from ...core.signs.of_markdown import Span, dress_of
from ...core.signs.visible import Leave, visible
from ...thread.item_body import MARKDOWN

# Signs before the first word that is marked, and of all that is shown.
BEFORE, LONGEST = 80, 280
# Signs of a text among which these are chosen, on either side of that word.
REACH = 1000


@dataclass(frozen=True, slots=True)
class MarkedText:
    """Of a text, as people may read it: what was looked for is marked."""

    text: str
    is_marked: bool = False


def marked(text: str, terms: tuple[str, ...]) -> list[MarkedText]:
    """All of a text, as it is."""
    places = places_of(text, terms) if terms else []
    return list(_Stretch(text, 0, len(text), places).pieces(range(len(text))))


def excerpt(text: str, terms: tuple[str, ...], kind: Kind) -> list[MarkedText]:
    """Around the first place that has most of these words."""
    places = places_of(text, terms)
    first = _densest(text, places) if places else 0
    stretch = _Stretch(text, *_around(text, first), places)
    stretch.undress(kind)
    read = stretch.read()
    centre = bisect_left(read, first)
    begins = _whole_word(text, read, max(0, centre - BEFORE), centre)
    shown = read[begins : begins + LONGEST]
    is_all = begins + LONGEST >= len(read) and stretch.ends == len(text)
    before = MarkedText(f"…{_blank_before(text, shown)}") if begins or stretch.begins else None
    behind = None if is_all else MarkedText("\u00a0…")
    return [piece for piece in (before, *stretch.pieces(shown), behind) if piece]


def _blank_before(text: str, shown: Sequence[int]) -> str:
    """Where no word is parted. No line is broken there: a long word would leave the sign alone."""
    return "\u00a0" if shown and text[max(0, shown[0] - 1)].isspace() else ""


def _around(text: str, first: int) -> Span:
    """Whole lines, where they are not too long."""
    begins, ends = max(0, first - REACH), min(len(text), first + REACH)
    if begins:
        begins = max(begins, text.find("\n", begins, first) + 1)
    if ends < len(text):
        ends = max(first + LONGEST, text.rfind("\n", first + LONGEST, ends))
    return begins, ends


def _whole_word(text: str, read: Sequence[int], begins: int, before: int) -> int:
    """Where one begins soon."""
    if not begins:
        return 0
    blanks = (n + 1 for n in range(begins, before) if text[read[n]].isspace())
    return next(blanks, begins)


def _densest(text: str, places: Sequence[Span]) -> int:
    """Where a stretch begins that shows the most of them, the first of those."""
    best, most, last = places[0][0], 0, 0
    for n, (begins, _) in enumerate(places[:200]):
        while last < len(places) and places[last][1] <= begins - BEFORE + LONGEST:
            last += 1
        different = len({text[one:other].lower() for one, other in places[n:last]})
        if different > most:
            best, most = begins, different
    return best


@dataclass(slots=True)
class _Stretch:
    """Of a text, sign by sign: which are marked, which are not read, and what is read in their place."""

    text: str
    begins: int
    ends: int
    places: Sequence[Span]
    instead: dict[int, str] = field(default_factory=dict)
    _marked: bytearray = field(init=False)
    _unread: bytearray = field(init=False)

    def __post_init__(self) -> None:
        near = ((max(one, self.begins), min(other, self.ends)) for one, other in self.places)
        self.places = [(one, other) for one, other in near if one < other]
        self._marked, self._unread = (bytearray(self.ends - self.begins) for _ in range(2))
        for place in self.places:
            self._fill(self._marked, place)

    def undress(self, kind: Kind) -> None:
        """As items of this kind are read. Signs that were looked for stay, where what was found stands nowhere else."""
        if kind not in (*MARKDOWN, Kind.USER_MESSAGE):
            return
        found = list(dress_of(self.text, self.begins, self.ends, fences_alone=kind not in MARKDOWN))
        for dress in found:
            for span in dress.spans:
                self._fill(self._unread, span)
        sought = self._sought_signs()
        for dress in found:
            is_sought = any(1 in self._of(sought, span) for span in dress.spans)
            for span in dress.spans if is_sought else ():
                self._fill(self._unread, span, 0)
            if dress.instead and not is_sought:
                at, _ = dress.spans[0]
                self._fill(self._unread, (at, at + 1), 0)
                self.instead[at] = dress.instead

    def _sought_signs(self) -> bytearray:
        sought = bytearray(self.ends - self.begins)
        read = {self._said(place) for place in self.places if 1 not in self._of(self._unread, place)}
        for place in self.places:
            unread = self._of(self._unread, place)
            if 1 in unread and (0 in unread or self._said(place) not in read):
                self._fill(sought, place)
        return sought

    def read(self) -> list[int]:
        return [at for at in range(self.begins, self.ends) if not self._unread[at - self.begins]]

    def pieces(self, shown: Sequence[int]) -> Iterator[MarkedText]:
        for is_marked, signs in groupby(shown, lambda at: self._marked[at - self.begins]):
            said = "".join(self.instead.get(at, self.text[at]) for at in signs)
            yield MarkedText(visible(said, Leave.PROSE), is_marked=bool(is_marked))

    def _said(self, place: Span) -> str:
        return self.text[slice(*place)].lower()

    def _of(self, signs: bytearray, span: Span) -> bytearray:
        return signs[span[0] - self.begins : span[1] - self.begins]

    def _fill(self, signs: bytearray, span: Span, value: int = 1) -> None:
        one, other = span[0] - self.begins, span[1] - self.begins
        signs[one:other] = bytes([value]) * (other - one)
