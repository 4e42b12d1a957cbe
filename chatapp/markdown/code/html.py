"""A block of code as HTML: a well with a head that names its language, and what one may do with it."""

from __future__ import annotations

import re

from markdown_it.common.utils import escapeHtml

from ...config.mermaid import FOLDER
from ..signs import marked
from .colours import highlighted, highlighted_apart

# A longer block of an answer can be folded to so many lines; a question's is, until one opens it.
FOLDED = 12
_OPENING = re.compile(r'<div class="code" data-lang="([\w+#.-]*)"(?: data-lines="([0-9]+)")?>')
_SWITCH = '<label class="tap" title="{}"><input type="checkbox" autocomplete="off" {}><span>{}</span></label>'
_WRAP = _SWITCH.format("Wrap long lines", "data-wrap", "Wrap")
_FOLD = _SWITCH.format(f"Fold to {FOLDED} lines", "data-fold", "Fold")
_PICTURE = (
    '<button type="button" class="tap" data-picture aria-expanded="false"><span>Picture</span></button>'
)
_COPY = '<button type="button" class="tap" data-copy-code><span>Copy code</span></button>'
_MORE = (
    '<details><summary><span class="more">{} more {}</span><span class="less">Only the first {} lines</span>'
    '</summary><pre tabindex="0"><code>{}</code></pre></details>'
)


def code(text: str, name: str) -> str:
    """Whole, in its colours."""
    count = text.count("\n")
    lines = f' data-lines="{count}"' if count > FOLDED else ""
    return _well(name, lines, f'<pre tabindex="0"><code>{highlighted(text, name)}</code></pre>')


def growing_code(text: str, name: str, *, grows: bool) -> str:
    """Plain as yet. With a place where letters are added, while it grows."""
    spot = " data-grows" if grows else ""
    return _well(name, "", f'<pre tabindex="0"><code{spot}>{marked(escapeHtml(text))}</code></pre>')


def folded_code(text: str, name: str, *, coloured: bool = True) -> str:
    """The first lines; the others are opened by who wants them."""
    lines = text.removesuffix("\n").split("\n")
    left = len(lines) - FOLDED
    begins = sum(len(line) + 1 for line in lines[:FOLDED])
    first, rest = highlighted_apart(text, name if coloured else "", begins)
    if left <= 0:
        return _well(name, "", f'<pre tabindex="0"><code>{first}</code></pre>')
    more = _MORE.format(left, "line" if left == 1 else "lines", FOLDED, rest)
    return _well(name, "", f'<pre tabindex="0"><code>{first}</code></pre>{more}')


def _well(name: str, lines: str, inside: str) -> str:
    return f'<div class="code" data-lang="{name}"{lines}>{inside}</div>'


def with_heads(html: str) -> str:
    """Of HTML that was cleaned: nobody else can write what stands in them."""
    return _OPENING.sub(_with_head, html)


def _with_head(opening: re.Match[str]) -> str:
    name, lines = opening[1] or "text", opening[2]
    fold = _FOLD if lines else ""
    picture = _PICTURE if name == "mermaid" and FOLDER else ""
    return f'{opening[0]}<header class="faint"><b>{name}</b>{picture}{_WRAP}{fold}{_COPY}</header>'
