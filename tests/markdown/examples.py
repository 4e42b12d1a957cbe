"""The examples of the specifications of CommonMark and GFM, and what of their HTML can be compared with ours.

They lie in a package of the index, which is locked for them alone; nothing of its code is run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from importlib.metadata import distribution

from chatapp.markdown.link_rules import may_link

_EXAMPLE = re.compile(r"^`{32} example.*\n([\s\S]*?)^\.\n([\s\S]*?)^`{32}$", re.MULTILINE)
# Its links lead to places of a page that is not here, of which only words are shown.
_PLACE = re.compile(r"(?<![\w:/.])/(?=url|uri|f&ouml|f%C3%B6|train|moon|bar)")
# Around code, tables and misleading links, and nothing that Markdown says.
_OURS = re.compile(
    r'<header.*?</header>| ?<small class="faint">.*?</small>|<div class="(?:code|wide)".*?>|</div>'
)
_BLOCKS = frozenset(
    (
        "p",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "ul",
        "ol",
        "li",
        "blockquote",
        "pre",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    )
)


@dataclass(frozen=True)
class Example:
    name: str
    markdown: str
    html: str


@cache
def examples() -> tuple[Example, ...]:
    """Those of GFM, which has CommonMark's among its own, and what CommonMark alone has."""
    found: dict[tuple[str, str], Example] = {}
    for spec in ("gfm", "commonmark"):
        text = str(distribution("marko").locate_file(f"tests/spec/{spec}.txt").read_text(encoding="utf-8"))
        for number, (markdown, html) in enumerate(_EXAMPLE.findall(text.replace("→", "\t")), 1):
            here = (_PLACE.sub("https://e.org/", markdown), _PLACE.sub("https://e.org/", html))
            found.setdefault(here, Example(f"{spec} {number}", *here))
    return tuple(found.values())


def theirs(html: str) -> list[str]:
    return _read(html)


def ours(blocks: list[str]) -> list[str]:
    return _read(_OURS.sub("", "\n".join(blocks)))


def _read(html: str) -> list[str]:
    """Tags and words in their order: lines end with a break, links that lead nowhere are words, pictures are links."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.pieces


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._links: list[bool] = []
        self._in_code = self._at_edge = self._in_words = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        match tag:
            case "span":
                pass
            case "a":
                self._open_link(given.get("href", ""))
            case "img":
                self._picture(given.get("src", ""), given.get("alt") or "image")
            case _:
                told = [
                    name if name == "checked" else given[name]
                    for name in ("align", "start", "checked")
                    if name in given
                ]
                self._tag(tag, " ".join([tag, *told]))

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag: str) -> None:
        match tag:
            case "span":
                pass
            case "a":
                if self._links and self._links.pop():
                    self._tag("a", "/a")
            case _:
                self._tag(tag, f"/{tag}")

    def handle_data(self, data: str) -> None:
        lines = [data] if self._in_code else data.split("\n")
        for place, line in enumerate(lines):
            if place and not self._at_edge:
                self._tag("br", "br")
            if line and not (self._at_edge and line.isspace() and not self._in_code):
                self._say(line)

    def _open_link(self, address: str) -> None:
        self._links.append(may_link(address))
        if self._links[-1]:
            self._tag("a", f"a {address}")

    def _picture(self, address: str, words: str) -> None:
        if any(self._links):
            return self._say(words)
        self._open_link(address)
        self._say(words)
        self.handle_endtag("a")

    def _say(self, words: str) -> None:
        if self._in_words:
            self.pieces[-1] += words
        else:
            self.pieces.append(words)
        self._in_words, self._at_edge = True, False

    def _tag(self, tag: str, words: str) -> None:
        if tag in _BLOCKS and self.pieces[-1:] == ["<br>"]:
            self.pieces.pop()
        if tag == "pre":
            self._in_code = words == "pre"
        self.pieces.append(f"<{words.replace('del', 's') if tag == 'del' else words}>")
        self._in_words, self._at_edge = False, tag in _BLOCKS or tag == "br"
