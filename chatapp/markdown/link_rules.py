"""Where a link may lead, and how it tells the reader honestly."""

from __future__ import annotations

import re
import unicodedata

import mdurl
from markdown_it.common.utils import escapeHtml
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ..core.signs.visible import Leave, visible
from .signs import marked

REL = "noopener noreferrer nofollow"
_HOST = r"(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\.?|\[[0-9a-f:.]+\])"
_WEB = re.compile(rf"https?://({_HOST})(?::[0-9]{{1,5}})?(?:[/?#]\S*)?", re.IGNORECASE)
_MAIL = re.compile(rf"mailto:[^\s@?/:]+@({_HOST})(?:\?\S*)?", re.IGNORECASE)
# What is no scheme, and reads like a path or a file; else brackets and parentheses are more often no link at all.
_PATH = re.compile(
    r"(?!//)(?:[^:/?#]*+/.*|[^:/?#]*\.[a-z][a-z0-9]{0,7}(?:[?#].*)?)", re.IGNORECASE | re.DOTALL
)
_BETWEEN_WORDS = Leave.LINES | Leave.RETURNS | Leave.SPACES
# What a reader takes for an address when it stands in a link's text.
_ADDRESS = re.compile(r"(?<![\w-])(?<![\w-]\.)(?:[\w-]++\.)+[^\W\d_]{2,}")


def host(url: str) -> str:
    """Where this address leads; empty when no link may lead there."""
    found = _WEB.fullmatch(url) or _MAIL.fullmatch(url)
    return found[1].lower().rstrip(".") if found else ""


def may_link(url: str) -> bool:
    return bool(host(url))


def leads_nowhere(url: str) -> bool:
    """A place on a page or a file of its own writer's: here it would be one of ours, so only its words are shown."""
    return url[:1] == "#" or _PATH.fullmatch(url) is not None


def readable_url(url: str) -> str:
    """An address as its own text: percent signs are decoded, but the host stays in the letters that are looked up."""
    return mdurl.decode(url, mdurl.DECODE_DEFAULT_CHARS + "%")


def finish_links(state: StateCore) -> None:
    """Images become links; every link says where it leads."""
    for token in state.tokens:
        if token.children and any(child.type in ("link_open", "image") for child in token.children):
            token.children = _finished(token.children)


def _finished(children: list[Token]) -> list[Token]:
    finished: list[Token] = []
    opened: list[int] = []
    for token in children:
        match token.type:
            case "image":
                finished += _pictured(token, linked=bool(opened))
            case "link_open":
                opened.append(len(finished))
                finished.append(token)
            case "link_close" if opened:
                finished += _closed(finished, opened.pop(), token)
            case _:
                finished.append(token)
    return finished


def _pictured(image: Token, *, linked: bool) -> list[Token]:
    """A link in place of a picture, so that nothing is fetched; inside a link only its words."""
    words = _text_token(_alternative(image.children or []) or ("" if linked else "image"))
    if linked:
        return [words]
    start, end = Token("link_open", "a", 1), Token("link_close", "a", -1)
    start.attrs = {"href": str(image.attrs["src"])}
    made = [start, words]
    return made + _closed(made, 0, end)


def _alternative(inside: list[Token]) -> str:
    return "".join(
        _alternative(child.children or []) if child.type == "image" else child.content for child in inside
    )


def _text_token(content: str) -> Token:
    token = Token("text", "", 0)
    token.content = content
    return token


def _closed(so_far: list[Token], at: int, end: Token) -> list[Token]:
    """The end of a link that began at this place, and its real host where the text names another."""
    start, inner = so_far[at], so_far[at + 1 :]
    url = str(start.attrs["href"])
    if not may_link(url):
        so_far[at] = _text_token("")
        return []
    start.attrs = {"href": url, "title": url, "rel": REL, "target": "_blank"}
    shown = "".join(token.content for token in inner)
    for token in inner:
        token.meta = {**token.meta, "linked": True}
    if not _misleading(shown, host(url)):
        return [end]
    real = Token("link_host", "", 0)
    real.content = host(url)
    return [end, real]


def _misleading(shown: str, real: str) -> bool:
    text = unicodedata.normalize("NFKC", visible(shown, _BETWEEN_WORDS, written="")).lower()
    named = _ADDRESS.search(text[:2000])
    return named is not None and named[0] != real and not real.endswith("." + named[0])


def link(url: str, text: str) -> str:
    """A whole link, for text that is no Markdown."""
    address = escapeHtml(url)
    words = marked(escapeHtml(text))
    return f'<a href="{address}" title="{address}" rel="{REL}" target="_blank">{words}</a>'
