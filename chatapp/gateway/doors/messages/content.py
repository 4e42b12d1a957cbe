"""What stands in a message that no model wrote, or in a tool's result: words, pictures, documents."""

from __future__ import annotations

from ....core.attached import Attached, AttachedKind
from ..attachments import is_of_the_web
from ..given import Given

BLOCKS = ("text", "image", "document", "search_result", "container_upload", "tool_reference")
Part = str | Attached


def parts_of(content: Given) -> tuple[Part, ...]:
    """A text alone, or blocks."""
    if isinstance(content.value, str):
        return (content.text(),) if content.value else ()
    return tuple(part for block in content.rows() for part in parts_in(block))


def parts_in(block: Given) -> tuple[Part, ...]:
    kind = block.must("type")
    match kind.value:
        case "text":
            return (block.must("text").text(),)
        case "image":
            return _from(block.must("source"), AttachedKind.PICTURE, "")
        case "document":
            return _from(block.must("source"), AttachedKind.FILE, block.says("title"))
        case "search_result":
            return (_titled(block.says("title"), block.says("source")), *parts_of(block.must("content")))
        case "container_upload":
            return (Attached(kind=AttachedKind.FILE, file_id=block.must("file_id").name()),)
        case "tool_reference":
            return (block.must("tool_name").name(),)
        case _:
            raise kind.wrong(f"is none of: {', '.join(BLOCKS)}", "invalid_value")


def _from(source: Given, kind: AttachedKind, name: str) -> tuple[Part, ...]:
    where = source.must("type")
    match where.value:
        case "base64":
            data, media_type = source.must("data").name(), source.must("media_type").name()
            return (Attached(kind=kind, data=data, media_type=media_type, name=name),)
        case "url":
            return (Attached(kind=kind, url=_address(source.must("url")), name=name),)
        case "file":
            return (Attached(kind=kind, file_id=source.must("file_id").name(), name=name),)
        case "text" if kind is AttachedKind.FILE:
            return (_titled(name, source.must("data").text()),)
        case "content" if kind is AttachedKind.FILE:
            return (*filter(None, (name,)), *parts_of(source.must("content")))
        case _:
            raise where.wrong("is none of: base64, url, file, text, content", "invalid_value")


def _address(given: Given) -> str:
    if not is_of_the_web(given.text()):
        raise given.wrong("must begin with https:// or http://", "invalid_value")
    return given.text()


def _titled(title: str, text: str) -> str:
    return "\n\n".join(filter(None, (title, text)))
