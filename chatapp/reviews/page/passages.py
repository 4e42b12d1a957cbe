"""A passage: words of an item as a page shows them, and how many signs of these stand before them. What somebody says was chosen is
looked for in what the page shows, so that no note quotes what nobody said."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ...core.items import Kind, clean
from ...core.signs.visible import visible
from ...store import Refused, load_items_of
from ...store.models import Message
from ...thread.item_body import blocks_of
from ...thread.items_so_far import items_so_far
from ...thread.whole_text import as_whole_texts
from ..models import Submission
from ..store.reviewing import Passage, load_then

NOT_SAID = "These words are not in it as it was submitted. Select them again."
# What stands in an item and is none of its words; static/js/passages.js leaves out the same.
NO_WORDS, UNSEEN = {"header", "button", "annotation"}, "unseen"
TEXT = "-text"
_SAID = (Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE, Kind.REASONING)


def passage_named(submission: Submission, message: UUID, key: str, quote: str, begins: int) -> Passage:
    if not quote.strip() or _bare(quote) not in _bare(_words_shown(submission, message, key)):
        raise Refused(NOT_SAID)
    return Passage(key, clean(quote), begins)


def quote_in_words(quote: str) -> str:
    """In one line."""
    return visible(" ".join(quote.split()))


def words_of(html: str) -> str:
    """In their order, without what a page says of them."""
    return "".join(_said_below(LexborHTMLParser(html).body))


def _said_below(body: LexborNode | None) -> Iterator[str]:
    """From node to node, and around what is none of its words."""
    node, depth = body, 0
    while node is not None:
        if node.tag == TEXT:
            yield node.text_content or ""
        following = None if _has_no_words(node) else node.child
        if following is not None:
            node, depth = following, depth + 1
            continue
        following = node.next if depth else None
        while following is None and depth > 1 and node.parent is not None:
            node, depth = node.parent, depth - 1
            following = node.next
        node = following


def _has_no_words(node: LexborNode) -> bool:
    return node.tag in NO_WORDS or UNSEEN in (node.attributes.get("class") or "").split()


def _words_shown(submission: Submission, message: UUID, key: str) -> str:
    then = load_then(submission, [message]).get(message)
    if then is None:
        return ""
    row, items = Message.objects.get(pk=message), load_items_of([message])[message][: then.items]
    pieces = as_whole_texts(items_so_far(row, items))
    shown = (piece for piece in pieces if piece.key == key and piece.kind in _SAID)
    return "".join(words_of("".join(blocks_of(message, piece))) for piece in shown)


def _bare(words: str) -> str:
    """White space is a browser's to choose."""
    return "".join(words.split())
