"""Parts of a message or a result: words, and what stands beside them."""

from __future__ import annotations

from collections.abc import Iterable

from ....core.attached import Attached, AttachedKind
from ..attachments import at_address
from ..given import Given

Part = str | Attached
WORDS = {
    "input_text": "text",
    "output_text": "text",
    "text": "text",
    "summary_text": "text",
    "reasoning_text": "text",
    "refusal": "refusal",
}


def parts_in(content: Given) -> tuple[Part, ...]:
    """A string, or a list of parts."""
    match content.value:
        case str():
            return (content.text(),)
        case list():
            return tuple(_part(part) for part in content.rows())
        case _:
            raise content.wrong("must be a string or a list of parts", "invalid_type")


def words_in(content: Given) -> tuple[str, ...]:
    return tuple(words(parts_in(content)))


def words(parts: Iterable[Part]) -> Iterable[str]:
    return (part for part in parts if isinstance(part, str))


def _part(part: Given) -> Part:
    kind = part.must("type").name()
    if kind in WORDS:
        return part.must(WORDS[kind]).text()
    match kind:
        case "input_image" | "computer_screenshot":
            return _picture(part)
        case "input_file":
            return _file(part)
        case "input_audio":
            return _sound(part.must("input_audio"))
        case _:
            # Of a kind that came after this was written: it goes where the whole message goes as it came.
            return Attached(kind=AttachedKind.FILE, name=kind)


def _picture(part: Given) -> Attached:
    file_id = part.says("file_id")
    if file_id:
        return Attached(kind=AttachedKind.PICTURE, file_id=file_id, detail=part.says("detail"))
    return at_address(part.must("image_url"), AttachedKind.PICTURE, detail=part.says("detail"))


def _file(part: Given) -> Attached:
    name = part.says("filename")
    if file_id := part.says("file_id"):
        return Attached(kind=AttachedKind.FILE, file_id=file_id, name=name)
    if (address := part.at("file_url")) is not None:
        return at_address(address, AttachedKind.FILE, name=name)
    return _with_data(part.must("file_data"), name)


def _with_data(data: Given, name: str) -> Attached:
    """Base64, alone or in an address that says of what type it is."""
    if data.text()[:5].lower() == "data:":
        return at_address(data, AttachedKind.FILE, name=name)
    return Attached(kind=AttachedKind.FILE, data=data.name(), name=name)


def _sound(sound: Given) -> Attached:
    media_type = f"audio/{sound.must('format').name()}"
    return Attached(kind=AttachedKind.FILE, data=sound.must("data").name(), media_type=media_type)
