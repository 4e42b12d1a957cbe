"""A passage: words of an item as a page shows them, and how many signs of these stand before them. What somebody says was chosen is
looked for in what the page shows, so that no note quotes what nobody said."""

from __future__ import annotations

import re
from html import unescape
from uuid import UUID

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
NO_WORDS, _UNSEEN = {"header", "button", "annotation"}, 'class="unseen"'
_TAG = re.compile(r'<(/?)([a-z][a-z0-9]*)((?:[^<>"]|"[^"]*")*)>')
_SAID = (Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE, Kind.REASONING)


def passage_named(submission: Submission, message: UUID, key: str, quote: str, begins: int) -> Passage:
    if not quote.strip() or _bare(quote) not in _bare(_words_shown(submission, message, key)):
        raise Refused(NOT_SAID)
    return Passage(key, clean(quote), begins)


def quote_in_words(quote: str) -> str:
    """In one line."""
    return visible(" ".join(quote.split()))


def words_of(html: str) -> str:
    """In their order, without what a page says of them. The HTML is of our own making: sound, and its attributes in quotes."""
    words: list[str] = []
    end, hidden, depth = 0, "", 0
    for tag in _TAG.finditer(html):
        if not hidden:
            words.append(html[end : tag.start()])
        end, (closes, name, attributes) = tag.end(), tag.groups()
        if hidden:
            depth += (-1 if closes else 1) if name == hidden else 0
            hidden = hidden if depth else ""
        elif not closes and (name in NO_WORDS or _UNSEEN in attributes):
            hidden, depth = name, 1
    return unescape("".join([*words, "" if hidden else html[end:]]))


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
