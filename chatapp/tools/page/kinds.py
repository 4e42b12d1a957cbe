"""Which kinds of content can be read as text, and which letters their bytes are."""

from __future__ import annotations

import codecs
import re
from typing import Literal

from ..base import ToolError

HTML = frozenset({"text/html", "application/xhtml+xml"})
AS_IT_IS = frozenset(
    {
        "application/javascript",
        "application/json",
        "application/x-ndjson",
        "application/xml",
        "application/yaml",
    }
)
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
# No others: Python also knows codecs that run escapes or take time by the square of the length.
CODECS = re.compile(
    r"utf-8|utf-16(-[lb]e)?|iso8859-\d+|cp12\d\d|cp866|cp874|cp932|koi8-[ru]|mac-roman|gbk|gb18030|gb2312|big5"
    r"|big5hkscs|euc_jp|iso2022_jp|shift_jis|euc_kr|cp949|tis-620"
)
# As browsers read them, since pages say the one and mean the other.
MEANT = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
# In the first lines of a page, where it says so itself.
_WITHIN = re.compile(
    rb"""<meta[^>]{0,300}?charset\s{0,9}=\s{0,9}["']?\s{0,9}([\w:.-]{1,40})|<\?xml[^>]{0,100}?encoding\s{0,9}=\s{0,9}["']([\w:.-]{1,40})""",
    re.IGNORECASE,
)
_LOOKED_AT = 2048
_KIND = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}", re.ASCII)
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w:.-]{1,40})""", re.ASCII | re.IGNORECASE)


def check_kind(content_type: str) -> None:
    """A ToolError where this kind of content is no text. Where nothing is said, the content itself is looked at."""
    kind = _media_type(content_type)
    if content_type and not (kind in HTML or _is_as_it_is(kind)):
        raise ToolError(f"This is {kind or 'of an unknown kind'}, which cannot be read as text.")


def form_of(content_type: str, data: bytes) -> Literal["html", "text"]:
    kind = _media_type(content_type)
    if not content_type and b"\x00" in data:
        raise ToolError("This is of an unknown kind, and cannot be read as text.")
    looks_like_html = not content_type and data.lstrip()[:1] == b"<"
    return "html" if kind in HTML or looks_like_html else "text"


def letters(content_type: str, data: bytes) -> str:
    """By the mark at its beginning, by the header, by what the page says of itself, or as UTF-8; never fails."""
    for mark, codec in MARKS.items():
        if data.startswith(mark):
            return data[len(mark) :].decode(codec, errors="replace")
    said = _CHARSET.search(content_type)
    codec = (_codec(said[1]) if said else None) or _own_codec(data) or "utf-8"
    return data.decode(codec, errors="replace")


def _media_type(content_type: str) -> str:
    found = _KIND.match(content_type)
    return found[0].lower() if found else ""


def _is_as_it_is(kind: str) -> bool:
    return kind.startswith("text/") or kind in AS_IT_IS or kind.endswith(("+json", "+xml"))


def _own_codec(data: bytes) -> str | None:
    found = _WITHIN.search(data[:_LOOKED_AT])
    codec = found and _codec((found[1] or found[2]).decode("ascii", errors="replace"))
    # What could be read so far has one byte for a letter.
    return "utf-8" if codec and codec.startswith("utf-16") else codec or None


def _codec(name: str) -> str | None:
    try:
        codec = codecs.lookup(name.lower().removeprefix("x-")).name
    except (LookupError, ValueError):
        return None
    codec = MEANT.get(codec, codec)
    return codec if CODECS.fullmatch(codec) else None
