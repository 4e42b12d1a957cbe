"""The few things a page can be told to change, as lists for JSON: `static/js/live.js` does them, and nothing else.

Each of them may come twice: what is there already stays, so joining, coming back and a second tab are one path.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Operation = list[Any]
Changes = Iterable[tuple[int, str]]
Cuts = Sequence[tuple[int, str]]


def add(container: str, html: str) -> Operation:
    """An element at the end of its container; where its id is there already, as `shell`."""
    return ["add", container, html]


def shell(html: str) -> Operation:
    """The element of the same id gets these attributes and children; bodies in it keep what they hold."""
    return ["shell", html]


def put(html: str) -> Operation:
    """Takes the place of the element with the same id, if it is there and differs."""
    return ["put", html]


def row(html: str, *, moved: bool = False) -> Operation:
    """As `put`; a list that does not have the row, or not where it belongs now, asks for itself again."""
    return ["row", html, moved]


def relist() -> Operation:
    """The list asks for itself again."""
    return ["relist"]


def text(body: str, letters: str) -> Operation:
    """Letters at the end of what grows."""
    return ["text", body, letters]


def piece(body: str, source: str, html: str) -> Operation:
    """What to show in place of these letters, wherever the page finds them as a link or a formula in what grows."""
    return ["piece", body, source, html]


def blocks(
    body: str,
    changes: Changes,
    *,
    total: int,
    growing: str = "",
    rest: str = "",
    last: bool = False,
    cut: Cuts = (),
) -> Operation:
    """Finished blocks by their place, `total` of them; after them an element that takes letters as they are, if any, and the
    letters that stand behind. `last`: nothing of it grows any more. `cut`: where those letters were cut, and when, in words."""
    return [
        "blocks",
        body,
        [list(change) for change in changes],
        total,
        growing,
        rest,
        *([last] if last or cut else []),
        *([list(map(list, cut))] if cut else []),
    ]


def keep(container: str, ids: list[str]) -> Operation:
    """Children with other ids go."""
    return ["keep", container, ids]


def gone(element: str) -> Operation:
    return ["gone", element]


def expect(element: str) -> Operation:
    """The socket brings it; a page that does not have it soon connects anew."""
    return ["expect", element]


def say(words: str) -> Operation:
    """For those who listen to the page instead of looking at it."""
    return ["say", words]


def changed(what: str) -> Operation:
    """Something of this kind, of which only some pages show more than a number: those ask for it themselves."""
    return ["changed", what]


def state(name: str, value: str) -> Operation:
    """What the page as a whole knows: `answering`, `leaf`, `version`, `title`; or that it is `stale`, in words."""
    return ["state", name, value]
