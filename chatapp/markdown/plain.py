"""What a person wrote: their paragraphs and line breaks as they are, nothing interpreted, addresses as links."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.utils.safestring import SafeString
from markdown_it.common.utils import escapeHtml

from ..core.items import clean
from .link_rules import link, may_link, readable_url
from .parser import parser
from .whole import MOST_SIGNS, as_it_is

# Blank lines, and nothing of how the next line is indented.
_GAP = re.compile(r"\n[ \t]*+\n(?:[ \t]*+[^\S \t])*+(?:[ \t]*+\Z)?")


def render_plain(text: str) -> SafeString:
    """Escaped text with links. It says what the writer saw in the box."""
    text = clean(text).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if len(text) > MOST_SIGNS:
        return SafeString(as_it_is(text))
    paragraphs = (linked(part) for part in _GAP.split(text))
    return SafeString("".join(f"<p>{html}</p>" for html in paragraphs))


def linked(text: str) -> str:
    return "".join(_runs(text)).replace("\n", "<br>")


def _runs(text: str) -> Iterator[str]:
    md, at = parser(), 0
    assert md.linkify is not None
    for found in md.linkify.match(text) or []:
        url = md.normalizeLink(found.url)
        if may_link(url):
            yield escapeHtml(text[at : found.index])
            yield link(url, found.raw if found.schema == "mailto:" else readable_url(url))
            at = found.last_index
    yield escapeHtml(text[at:])
