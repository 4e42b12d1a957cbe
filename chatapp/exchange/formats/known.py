"""Every format that can be read, and which of them a file has: by what stands in it, never by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import assistant_ui, chatgpt, claude, claude_code, codex, librechat, open_webui, our_file
from .json_reader import Broken, JsonReader
from .shape import FileFormat

FORMATS: tuple[FileFormat, ...] = (
    our_file.FILE_FORMAT,
    chatgpt.FILE_FORMAT,
    claude.FILE_FORMAT,
    claude_code.FILE_FORMAT,
    codex.FILE_FORMAT,
    open_webui.FILE_FORMAT,
    librechat.FILE_FORMAT,
    assistant_ui.FILE_FORMAT,
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
            return _fitting(json, is_list=True)
    if sign == "{":
        return _fitting(json, is_list=False)
    raise Broken("there is nothing in it" if sign in ("", "[") else UNKNOWN)


def _fitting(json: JsonReader, *, is_list: bool) -> FileFormat:
    """By the names of the first object that there is, of which no more are read than it takes."""
    found = set[str]()
    for name in json.members() if json.sign() == "{" else ():
        found.add(name)
        for each in FORMATS:
            if each.fits(frozenset(found), is_list):
                return each
        if len(found) == _ENOUGH:
            break
    raise Broken(UNKNOWN)
