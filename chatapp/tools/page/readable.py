"""HTML to readable text in light Markdown, in a process of its own: the parser's time may grow with the square of a hostile page.

Run as `python -m chatapp.tools.page.readable <seconds>`: the page's address comes on the first line, its HTML behind it; JSON goes out.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ...processes.limits import limit_cpu, limit_memory
from .page_text import PageRead, PageText

MOST_NODES = 500_000
MOST_WRITTEN = 1_000_000
MOST_MEMORY = 1536 * 1024 * 1024
LONGEST_TITLE = 300
LONGEST_LINK = 500

LEFT_OUT = (
    "audio button canvas datalist iframe nav noscript object script select style svg template textarea video"
)
BLOCKS = "address aside blockquote dl fieldset figure footer form header hr p section table"
LINES = "caption center dd details dialog div dt figcaption legend optgroup option summary"
_NOT_ENTERED = frozenset(LEFT_OUT.split())
_NOT_SHOWN = re.compile(r"display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden", re.IGNORECASE)

_Change = Callable[[PageText], None]
_BEGINS: dict[str, _Change] = {
    **dict.fromkeys(BLOCKS.split(), PageText.leave_block),
    **dict.fromkeys(LINES.split(), PageText.leave_line),
    **dict.fromkeys(("main", "article"), PageText.begin_part),
    **dict.fromkeys(("ul", "menu"), partial(PageText.begin_list, numbered=False)),
    **dict.fromkeys(("td", "th"), PageText.begin_cell),
    **{f"h{level}": partial(PageText.begin_heading, level=level) for level in range(1, 7)},
    "br": PageText.break_line,
    "li": PageText.begin_point,
    "ol": partial(PageText.begin_list, numbered=True),
    "pre": PageText.begin_verbatim,
    "tr": PageText.begin_row,
}
_ENDS: dict[str, _Change] = {
    **dict.fromkeys(BLOCKS.split(), PageText.leave_block),
    **dict.fromkeys(LINES.split(), PageText.leave_line),
    **dict.fromkeys(("ul", "menu", "ol"), PageText.end_list),
    **dict.fromkeys((f"h{level}" for level in range(1, 7)), PageText.end_heading),
    **{kind: partial(PageText.end_part, kind=kind) for kind in ("main", "article")},
    "a": PageText.end_link,
    "li": PageText.end_point,
    "pre": PageText.end_verbatim,
    "tr": PageText.end_row,
}


def readable_part(html: str, url: str) -> PageRead:
    reader = _Reader(url)
    whole = all(reader.may_go_on() for _ in _walked(LexborHTMLParser(html).root, reader))
    return PageRead(reader.title, reader.page.text(), whole)


def _walked(root: LexborNode | None, reader: _Reader) -> Iterator[None]:
    """Step by step and without recursion, since a page may be nested as deeply as it is long."""
    node, depth = root, 0
    while node is not None:
        yield
        entered = reader.enters(node)
        child = node.first_child if entered else None
        if child is not None:
            node, depth = child, depth + 1
            continue
        if entered:
            reader.leaves(node)
        following = node.next
        while following is None and depth > 1 and node.parent is not None:
            node, depth = node.parent, depth - 1
            reader.leaves(node)
            following = node.next
        node = following


class _Reader:
    """Tells the page's text what begins and what ends."""

    def __init__(self, url: str) -> None:
        self.title = ""
        self.page = PageText()
        self._base, self._seen = url, 0

    def may_go_on(self) -> bool:
        self._seen += 1
        return self._seen <= MOST_NODES and self.page.written <= MOST_WRITTEN

    def enters(self, node: LexborNode) -> bool:
        """Whether what is inside is read too."""
        if node.is_text_node:
            self.page.say(node.text_content or "")
        if not node.is_element_node or node.tag in _NOT_ENTERED or _is_hidden(node):
            return False
        if node.tag == "title":
            self.title = self.title or " ".join((node.text() or "").split())[:LONGEST_TITLE]
            return False
        self._begin(node)
        return True

    def leaves(self, node: LexborNode) -> None:
        end = _ENDS.get(node.tag or "")
        if end:
            end(self.page)

    def _begin(self, node: LexborNode) -> None:
        tag = node.tag or ""
        begin = _BEGINS.get(tag)
        if begin:
            begin(self.page)
        elif tag == "a":
            self.page.begin_link(self._target(node))
        elif tag == "base":
            self._base = _whole_link(self._base, node.attrs.get("href") or "") or self._base

    def _target(self, link: LexborNode) -> str:
        """Where it leads, or nothing where that is no other page of the web."""
        href = (link.attrs.get("href") or "").strip()
        return "" if not href or href.startswith("#") else _whole_link(self._base, href)


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attrs
    if not len(attributes):
        return False
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or bool(_NOT_SHOWN.search(attributes.get("style") or ""))
    )


def _whole_link(base: str, href: str) -> str:
    if len(href) > LONGEST_LINK:
        return ""
    try:
        target = urljoin(base, href)
    except ValueError:
        return ""
    is_page = target.lower().startswith(("http://", "https://")) and target.isprintable()
    return target.replace(" ", "%20") if is_page and len(target) <= LONGEST_LINK else ""


def main(cpu_seconds: float) -> None:
    limit_cpu(cpu_seconds)
    limit_memory(MOST_MEMORY)
    url, _, html = sys.stdin.buffer.read().decode(errors="replace").partition("\n")
    sys.stdout.buffer.write(json.dumps(asdict(readable_part(html, url))).encode())


if __name__ == "__main__":
    main(float(sys.argv[1]))
