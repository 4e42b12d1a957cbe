"""Every format that can be read, and which of them a file has: by what stands in it, never by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import chatgpt, claude, our_file
from .json_reader import Broken, JsonReader
from .shape import FileFormat

FORMATS: tuple[FileFormat, ...] = (
    our_file.FILE_FORMAT,
    chatgpt.FILE_FORMAT,
    claude.FILE_FORMAT,
)
LABELS = {each.name: each.label for each in FORMATS}
# So many names tell what it is.
_ENOUGH = 40
UNKNOWN = "it is in no format that is known here"


def format_of(opened: Callable[[], Iterator[bytes]]) -> FileFormat:
    """`opened`: gives its bytes from the beginning. Broken where it is no such file."""
    json = JsonReader(opened())
    sign = json.sign()
    if sign == "[":
        for _ in json.elements():
            return _fitting(_names(json), is_list=True)
    if sign == "{":
        return _fitting(_names(json), is_list=False)
    raise Broken("there is nothing in it" if sign in ("", "[") else UNKNOWN)


def _fitting(names: frozenset[str], *, is_list: bool) -> FileFormat:
    for each in FORMATS:
        if each.fits(names, is_list):
            return each
    raise Broken(UNKNOWN)


def _names(json: JsonReader) -> frozenset[str]:
    """Of the first object that there is."""
    found = set[str]()
    if json.sign() != "{":
        raise Broken(UNKNOWN)
    for name in json.members():
        found.add(name)
        if len(found) == _ENOUGH:
            break
    return frozenset(found)
