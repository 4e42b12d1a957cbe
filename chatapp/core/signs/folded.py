"""Text as it is looked for: without case, accents and width, with one blank where there is any space, and without what nobody sees. No
database does that alike, so it is done here, sign by sign: to normalise a whole text takes the square of the number of its marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import category, normalize

# Accents of Latin, Greek and Cyrillic, the points of Hebrew and Arabic, and what changes only how a sign is drawn. Marks without which a
# word is another one stay: the vowels of India and Thailand, the voiced sounds of Japan.
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u180b-\u180d\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\U000e0100-\U000e01ef]"
)
_UNSEEN = ("Cf", "Cc", "Cs")
# What belongs together and comes apart: syllables of Korean, and half-wide sounds of Japan.
_APART = re.compile("[\u1100-\u11ff]{2,}|.[\u3099\u309a]")
# A text may hold a million different signs.
_MOST_KNOWN = 8192
# Signs of a text in which a place is looked for at once, and by how many two such pieces overlap.
_PIECE, _OVERLAP = 8192, 1024


class _Signs(dict[int, str]):
    def __missing__(self, number: int) -> str:
        sign = _folded_sign(chr(number))
        if len(self) < _MOST_KNOWN:
            self[number] = sign
        return sign


_signs = _Signs()


def fold(text: str) -> str:
    if text.isascii():
        return " ".join(_without_controls(text).lower().split())
    folded = " ".join(text.translate(_signs).split())
    return _APART.sub(lambda found: normalize("NFC", found[0]), folded)


def places_of(text: str, terms: tuple[str, ...]) -> list[tuple[int, int]]:
    """Where folded terms stand in a text, in its order and apart from each other: of a long one, in the first piece that has any."""
    for begins in range(0, max(len(text), 1), _PIECE - _OVERLAP):
        piece = text[begins : begins + _PIECE]
        folded = fold(piece)
        if any(term in folded for term in terms):
            return [(begins + one, begins + other) for one, other in _places_in(piece, terms)]
    return []


def _places_in(text: str, terms: tuple[str, ...]) -> list[tuple[int, int]]:
    same = _sign_for_sign(text)
    if same is not None:
        found = sorted(each.span() for term in terms for each in _where(term).finditer(same))
    else:
        folded, origins = _with_origins(text)
        found = sorted(
            (origins[at], origins[at + len(term) - 1] + 1) for term in terms for at in _all(folded, term)
        )
    apart: list[tuple[int, int]] = []
    for begins, ends in found:
        if apart and begins < apart[-1][1]:
            apart[-1] = apart[-1][0], max(ends, apart[-1][1])
        else:
            apart.append((begins, ends))
    return apart


def _sign_for_sign(text: str) -> str | None:
    """Folded but for its spaces, where each sign becomes one, as nearly always: then nobody need count."""
    if any(len(_signs[ord(sign)]) != 1 for sign in set(text)):
        return None
    same = text.translate(_signs)
    return None if _APART.search(same) else same


@lru_cache(maxsize=256)
def _where(term: str) -> re.Pattern[str]:
    """Any space between its words."""
    return re.compile(r"\s+".join(map(re.escape, term.split(" "))))


def _all(folded: str, term: str) -> Iterator[int]:
    at = folded.find(term)
    while at >= 0:
        yield at
        at = folded.find(term, at + len(term))


def _with_origins(text: str) -> tuple[str, list[int]]:
    """The folded text, and for each of its signs which one of the text it came from."""
    signs: list[str] = []
    origins: list[int] = []
    for at, sign in enumerate(text):
        for made in _signs[ord(sign)]:
            if made.isspace():
                made = "" if not signs or signs[-1] == " " else " "
            if made:
                signs.append(made)
                origins.append(at)
    whole = "".join(signs)
    if not _APART.search(whole):
        return whole, origins
    joined: list[str] = []
    places: list[int] = []
    at = 0
    for found in _APART.finditer(whole):
        joined.append(whole[at : found.start()])
        places += origins[at : found.start()]
        # Of several that became one nobody can say which sign was which: all of them begin where the first did.
        made = normalize("NFC", found[0])
        joined.append(made)
        places += _spread(origins[found.start() : found.end()], len(made))
        at = found.end()
    return "".join([*joined, whole[at:]]), [*places, *origins[at:]]


def _spread(origins: list[int], count: int) -> list[int]:
    return [origins[min(n * len(origins) // count, len(origins) - 1)] for n in range(count)]


def _folded_sign(sign: str) -> str:
    apart = normalize("NFKD", normalize("NFKD", sign).casefold())
    seen = "".join(
        each for each in _ACCENTS.sub("", apart) if each.isspace() or category(each) not in _UNSEEN
    )
    return normalize("NFC", seen)


_CONTROLS = {
    number: None for number in range(128) if not chr(number).isspace() and category(chr(number)) == "Cc"
}


def _without_controls(text: str) -> str:
    return text if text.isprintable() else text.translate(_CONTROLS)
