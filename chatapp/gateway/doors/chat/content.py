"""What stands in a message that no model wrote: words, pictures, files."""

from __future__ import annotations

from ....core.attached import Attached, AttachedKind
from ..attachments import at_address
from ..given import Given

PARTS = ("text", "image_url", "file")
NO_AUDIO = "is sound, which cannot be passed on: send what is said there as text"


def parts_of(content: Given) -> tuple[str | Attached, ...]:
    if isinstance(content.value, str):
        return (content.text(),)
    parts = tuple(_part(row) for row in content.rows())
    if not parts:
        raise content.wrong("is empty")
    return parts


def _part(row: Given) -> str | Attached:
    kind = row.must("type")
    match kind.value:
        case "text":
            return row.must("text").text()
        case "image_url":
            return _picture(row.must("image_url"))
        case "file":
            return _file(row.must("file"))
        case "input_audio":
            raise row.wrong(NO_AUDIO, "unsupported_value")
        case _:
            raise kind.wrong(f"is none of: {', '.join(PARTS)}", "invalid_value")


def _picture(given: Given) -> Attached:
    """Some programs leave out the object around the address."""
    if isinstance(given.value, str):
        return at_address(given, AttachedKind.PICTURE)
    return at_address(given.must("url"), AttachedKind.PICTURE, detail=given.says("detail"))


def _file(given: Given) -> Attached:
    name = given.says("filename")
    if file_id := given.says("file_id"):
        return Attached(kind=AttachedKind.FILE, file_id=file_id, name=name)
    return at_address(given.must("file_data"), AttachedKind.FILE, name=name)
