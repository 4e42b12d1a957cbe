"""How text from outside gets to those who want more beside it, and who is not asked at all, and why."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from uuid import UUID

from chatapp.providers.demo.reading import Situation
from django import forms

from chatapp.core import contracts
from chatapp.core.items import Item, Kind
from chatapp.logs import JsonFormatter, TextFormatter
from chatapp.management.columns import column_after
from chatapp.management.remainders import read, stands_in
from chatapp.providers import anthropic_refusals, chat_errors, openai_refusals, refusals
from chatapp.providers.demo.replies import reply
from chatapp.providers.shape import shape_of
from chatapp.store.tree_map import BEGINNING, Beginning
from chatapp.tools.mcp import checking, offered, results
from chatapp.tools.page_text import PageText
from chatapp.web import copying, models_shown, sheets, tree_map
from chatapp.web.markdown.addresses import Addresses
from chatapp.web.markdown.growing import Growing
from chatapp.web.markdown.links import _misleading
from chatapp.web.open_sockets import Rate
from chatapp.web.pieces import Piece
from chatapp.web.shown_item import ShownItem

from .found import modules

Road = Callable[[str], object]
NOBODY = UUID(int=0)

ROADS: dict[str, Road] = {
    "core.contracts.Contract.fits": lambda text: [row.fits(row.dialect, text) for row in contracts.CONTRACTS],
    "management.columns.column_after": lambda text: column_after(text, 0, 80),
    "management.remainders.read": lambda text: read(text, (7, 11)),
    "management.remainders.stands_in": lambda text: stands_in(1234, text),
    "providers.anthropic_refusals.refusal": lambda text: anthropic_refusals.refusal("A", 400, {}, text),
    "providers.chat_errors.error_in_stream": lambda text: chat_errors.error_in_stream(
        "A", {"error": text}, text
    ),
    "providers.chat_errors.refusal_of": lambda text: chat_errors.refusal_of("A", 400, {}, text),
    "providers.demo.replies.reply": lambda text: reply(
        Situation(question=text, tools=("calculator",)), "high"
    ),
    "providers.openai_refusals.failure": lambda text: openai_refusals.failure("A", {"message": text}),
    "providers.openai_refusals.refusal": lambda text: openai_refusals.refusal("A", 400, {}, text),
    "providers.refusals.refused": lambda text: refusals.refused("A", 500, {"retry-after": text}, text),
    "tools.mcp.offered.usable": lambda text: offered.usable("a", [_offer(text)], offered.LeftOut()),
    "tools.page_text.PageText.say": lambda text: _page(text),
    "web.markdown.addresses.Addresses.match": Addresses().match,
    "web.markdown.growing.Growing.look": lambda text: Growing().look(text),
    "web.models_shown.all_models": lambda text: models_shown.all_models([], text),
    "web.open_sockets.Rate.may": lambda text: Rate(64, 1.0).may(text),
    "web.sheets.sheet": lambda text: sheets.sheet("a", ["b"], [[text]] * 3),
}

# What is reached through pages and rows, or begins in a class.
ROADS |= {
    "how a message begins on the map": lambda text: tree_map.words_of(_beginning(text)),
    "how a thought begins": lambda text: _shown(text).gist,
    "the first argument of a call": lambda text: _shown(json.dumps({"a": text, "b": text})).argument,
    "how far a call is": lambda text: _shown("{}", result=text).progress,
    "a message as Markdown": lambda text: "".join(copying._parts(_row(), _items(text), thoughts=True)),
    "a link's own words": lambda text: _misleading(text, "a.example"),
    "a line of the log": lambda text: TextFormatter(["a-secret"]).format(_record(text)),
    "a line of the log as JSON": lambda text: JsonFormatter(["a-secret"]).format(_record(text)),
    "what was sent": lambda text: shape_of({"messages": [{"role": "user", "content": text}], text: text}),
    "what an MCP server answered": lambda text: results.in_text(_answer(text)),
    "arguments of an MCP tool": lambda text: checking.argument_problems(_SCHEMA, {"a": text, "b": [text]}),
}
_SCHEMA = {
    "properties": {"a": {"type": "number", "pattern": "(a+)+$"}, "b": {"items": {"enum": ["x"]}}},
    "additionalProperties": False,
}


def fields() -> Iterator[tuple[str, Road]]:
    """The fields of all forms, and what makes them clean."""
    for module in modules():
        for name, form in vars(module).items():
            if not isinstance(form, type) or not issubclass(form, forms.BaseForm):
                continue
            if form.__module__ == module.__name__:
                for field, each in getattr(form, "base_fields", {}).items():
                    if not isinstance(each, forms.ModelChoiceField):
                        yield f"{module.__name__}.{name}.{field}", each.clean


def _offer(text: str) -> dict[str, object]:
    return {"name": text[:60], "title": text, "description": text, "inputSchema": {"type": "object"}}


def _page(text: str) -> str:
    page = PageText()
    for part in (text, " ", text):
        page.begin_link(text)
        page.say(part)
        page.end_link()
    page.begin_verbatim()
    page.say(text)
    return page.text()


def _row() -> SimpleNamespace:
    return SimpleNamespace(pk=NOBODY, status="complete", metadata={}, model="")


def _beginning(text: str) -> Beginning:
    return Beginning(_row(), text[:BEGINNING])


def _shown(text: str, result: str = "") -> ShownItem:
    inner = Piece(key="b", kind=Kind.TOOL_RESULT, text=result, open=True)
    return ShownItem(NOBODY, Piece(key="a", kind=Kind.TOOL_CALL, text=text, result=inner))


def _items(text: str) -> list[Item]:
    return [Item(key=kind, kind=kind, text=text, name=text) for kind in Kind]


def _record(text: str) -> logging.LogRecord:
    return logging.makeLogRecord({"name": "chatapp.web", "msg": "%s", "args": (text,), "fact": text})


def _answer(text: str) -> SimpleNamespace:
    block = SimpleNamespace(type="text", text=text)
    return SimpleNamespace(content=[block] * 3, structured_content=None)


IN_A_PROCESS_OF_ITS_OWN = """
    templatetags.chat.markdown web.markdown.code.highlighted web.markdown.code.language web.markdown.formulas.formula
    web.markdown.formulas.mathml web.markdown.page.blocks web.markdown.page.render web.markdown.tail.Known.environment
    web.markdown.tail.advance web.markdown.tail.opened web.markdown.within.blocks_waiting web.markdown.within.blocks_within
    web.markdown.within.feed_within web.markdown.within.finish_within web.markdown.within.render_waiting
    web.markdown.within.render_within web.markdown.growing.Growing.feed web.markdown.growing.Growing.finish
    web.rendered.rendered web.rendered.rendered_within tools.readable.readable tools.reading.page_read
"""
IN_PIECES = """
    providers.anthropic_stream.MessagesParser.feed providers.chat_items.Growing.say providers.chat_parser.ChatParser.feed
    providers.chat_tags.TagReader.feed providers.openai_stream.ResponsesParser.feed providers.reading.Reader.read
    web.daphne_door.CappedRequest.handleContentChunk web.daphne_door.CappedRequest.requestReceived
    providers.sse.Decoder.feed web.growing_item.GrowingItem.write web.growing_item.GrowingItem.write_plainly
"""
THROUGH_OTHERS = """
    providers.anthropic_messages.MessagesWire.refusal providers.chat_completions.ChatCompletions.refusal
    providers.openai_responses.ResponsesWire.refusal providers.base.Parser.feed providers.base.Wire.refusal providers.bodies.words
    providers.failures.hide providers.refusals.trouble_error tools.base.Tool.run tools.fetching.fetched tools.read_page.in_words
    tools.mcp.connection.Session.call tools.mcp.server.Server.call web.asking.Instructions.validate
    web.forms.SignUpForm.validate_password_for_user web.forms.ResetForm.get_users tools.page_text.PageText.begin_link
    tools.page_text.PageText.end_part web.pieces.from_draft web.sent.sent_of
"""
ASKS_A_DATABASE = """
    web.access.reviewer_named web.access.note_on web.access.submitted_message web.signed_in.who_is_signed_in
    web.composer.composer_for web.conversation_news.ConversationNews.catch_up web.thread.shown_of
    web.signed_in.Presence.until_signed_out providers.demo.DemoProvider.model
"""
ASKS_THE_WORLD = """
    providers.client.request providers.transport.resolved providers.transport.Guard.addresses tools.dialling.resolved
    tools.dialling.Guard.addresses tools.dialling.OnlyThese.connect_tcp tools.mcp.connection.connected tools.mcp.stdio.started
    web.markdown.renderers.Renderers.ask web.markdown.renderers.Renderers.do web.consumers.Listening.receive
"""
CUT_SHORT_BEFORE = "tools.clock.in_zone"
NAMES_OF_OURS = """
    core.counting.newest core.durations.thought_in_words core.history.learned core.permission.decision_item
    providers.catalog.Catalog.default_model providers.catalog.Catalog.find providers.catalog.Catalog.is_own
    providers.catalog.Catalog.label providers.catalog.Catalog.look providers.catalog.Catalog.offered
    providers.catalog.Catalog.provider providers.catalog.Provider.model providers.http.HttpProvider.model
    providers.local.LocalProvider.model providers.demo.pieces.as_wire tools.arithmetic.apply tools.arithmetic.called
    tools.base.tool tools.mcp.offered.LeftOut.add tools.mcp.tools.fingerprint_of web.commands.away web.commands.refused
    web.composer.render_asking web.composer.render_refused web.composer.render_send web.endings.ending web.figures.many
    web.insight.Sums.of web.insight.time_of web.links.url_of web.meter.meter_of web.models_shown.find web.numbers.number_in
    web.operations.blocks web.operations.keep web.permission.panel_id web.rendered.Kept.get web.rendered.Kept.put
    web.static_files.StaticFiles.add_files web.static_files.Storage.stored_name web.thread.Viewer.larger
    web.timeline.timeline_of web.review_forms.see_other templatetags.chat.icon
"""
NOT_ASKED = frozenset(
    " ".join(
        (
            IN_A_PROCESS_OF_ITS_OWN,
            IN_PIECES,
            THROUGH_OTHERS,
            ASKS_A_DATABASE,
            ASKS_THE_WORLD,
            CUT_SHORT_BEFORE,
            NAMES_OF_OURS,
        )
    ).split()
)
# Their own readers of the environment and of rows, the terminal's commands, and pages, which the forms and the functions above make.
NOT_WALKED = ("store.", "admin.", "management.", "local_model.", "environment.", "databases.", "mail_server.")
NOT_WALKED += ("checks.", "models.", "turns.", "web.views.", "settings.")
