"""What is inside an element of a message: its blocks, for a thread that may wait and for the event loop."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from uuid import UUID

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

from ..core.hosts import Misleading, misleading_hosts
from ..core.items import Kind
from ..core.pretty_json import pretty, pretty_result
from ..core.signs.added import Added, AddedTo, added_to
from ..core.signs.visible import visible
from ..markdown import blocks_waiting
from ..markdown.kept import (
    Blocks,
    rendered,
    rendered_question,
    rendered_question_within,
    rendered_within,
)
from ..pages.elements import item_id
from .items_so_far import ItemSoFar
from .whole_text import part_of, part_within

ARGUMENTS = '<h3 class="faint">Arguments</h3>'
_RESULT = """<div id="{}" data-kind="tool_result" data-item-key="{}" data-outcome="{}">\
<h3 class="faint">Result</h3>{}</div>"""
_ADDED = """<details class="program step" id="{}" data-kind="program"><summary data-gist="{}">\
<strong>Added by the program</strong></summary><div>{}</div></details>"""
_ATTACHED = """<p class="faint attached">{} was sent along. What is in it is not kept here.</p>"""
# What is laid out in some milliseconds is; the event loop waits for nothing longer.
LONG = 8 * 1024
MARKDOWN = (Kind.REASONING, Kind.ASSISTANT_MESSAGE)


def blocks_of(message: UUID, piece: ItemSoFar) -> Blocks:
    if piece.withheld:
        return (f'<p class="faint">{piece.withheld}</p>',)
    if piece.whole:
        return part_of(message, piece.whole)
    if piece.kind in MARKDOWN:
        if piece.open:
            return tuple(blocks_waiting(piece.text, message=str(message), key=piece.key))
        return rendered(message, piece.key, piece.text) or _silent(piece)
    if piece.kind is Kind.USER_MESSAGE and not piece.role:
        asked = asked_in(piece)
        words = rendered_question(message, piece.key, asked.words) if asked.words else ()
        return _among_added(message, piece, asked, words)
    return _as_preformatted(message, piece)


async def blocks_within(message: UUID, piece: ItemSoFar) -> Blocks:
    if piece.whole:
        return await part_within(message, piece.whole)
    if piece.kind in MARKDOWN:
        return await rendered_within(message, piece.key, piece.text) or _silent(piece)
    if piece.kind is Kind.USER_MESSAGE and not piece.role:
        asked = asked_in(piece)
        words = await rendered_question_within(message, piece.key, asked.words) if asked.words else ()
        return _among_added(message, piece, asked, words)
    if len(piece.text) + len(piece.result.text if piece.result else "") > LONG:
        return await asyncio.to_thread(_as_preformatted, message, piece)
    return _as_preformatted(message, piece)


def asked_in(question: ItemSoFar) -> AddedTo:
    """The words of whoever asked, and what a program put around them."""
    return added_to(question.text) if question.by_program else AddedTo(question.text)


def _among_added(message: UUID, piece: ItemSoFar, asked: AddedTo, words: Blocks) -> Blocks:
    here = item_id(message, piece.key)
    before, behind = _added(f"{here}-before", asked.before), _added(f"{here}-behind", asked.behind)
    return (*before, *words, *_beside(piece), *behind)


def _added(element: str, added: Added) -> Blocks:
    if not added:
        return ()
    return (format_html(_ADDED, element, ", ".join(added.names), SafeString(well(added.text))),)


def _silent(piece: ItemSoFar) -> Blocks:
    """A thought whose provider keeps its words to itself."""
    words = "The words of this thought were not shown by its provider."
    return (f'<p class="faint">{words}</p>',) if piece.kind is Kind.REASONING else ()


def _as_preformatted(message: UUID, piece: ItemSoFar) -> Blocks:
    match piece.kind:
        case Kind.TOOL_CALL:
            return _call_body(message, piece)
        case Kind.PERMISSION_DECISION:
            return ()
        case Kind.USER_MESSAGE:
            return (well(piece.text), *_beside(piece))
        case Kind.TOOL_RESULT | Kind.REASONING | Kind.ASSISTANT_MESSAGE:
            return (well(pretty_result(piece.text)), *_beside(piece))


def _call_body(message: UUID, call: ItemSoFar) -> Blocks:
    """Arguments and result, as text."""
    blocks = (ARGUMENTS, well(arguments(call.text)))
    if call.result is None or call.result.open:
        return blocks
    result = call.result
    text = SafeString("".join((well(pretty_result(result.text)), *_beside(result))))
    return (*blocks, format_html(_RESULT, item_id(message, result.key), result.key, result.outcome, text))


def _beside(piece: ItemSoFar) -> Blocks:
    """What a program sent along with the words."""
    return tuple(format_html(_ATTACHED, visible(words)) for words in piece.attached)


def well(text: str) -> str:
    return f'<pre class="well" tabindex="0">{escape(text)}</pre>'


def arguments(text: str) -> str:
    """Of a call, as people read them: whole, with nothing hidden."""
    return visible(pretty(text))


def misleading(text: str) -> list[Misleading]:
    """Where addresses in the arguments of a call lead elsewhere than it seems, as people read it."""
    return [replace(one, shown=visible(one.shown), real=visible(one.real)) for one in misleading_hosts(text)]
