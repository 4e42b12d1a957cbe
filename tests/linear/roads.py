"""How text from outside gets to those who want more beside it, and who is not asked at all, and why."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import SimpleNamespace
from uuid import UUID

from django import forms

from chatapp.branches.page import map as tree_map
from chatapp.branches.store.beginnings import BEGINNING, Beginning
from chatapp.catalog.page import models_shown
from chatapp.config.logs import JsonFormatter, TextFormatter
from chatapp.core import contracts
from chatapp.core.attached import AttachedKind
from chatapp.core.events import Finish, ItemDelta, ItemDone, ItemStarted, Usage
from chatapp.core.history import History, Question
from chatapp.core.items import FROM_MODEL, Item, Kind
from chatapp.core.signs import folded
from chatapp.core.signs.of_markdown import dress_of
from chatapp.gateway.doors import chat as chat_door
from chatapp.gateway.doors import messages as messages_door
from chatapp.gateway.doors import responses
from chatapp.gateway.doors.attachments import at_address
from chatapp.gateway.doors.body import json_in
from chatapp.gateway.doors.door import Door, HowEnded, Wrong
from chatapp.gateway.doors.estimate import estimate
from chatapp.gateway.doors.given import Given
from chatapp.gateway.doors.handed import Handed, Sealing
from chatapp.gateway.doors.responses import compacted, kept, socket
from chatapp.gateway.models import ApiKey
from chatapp.gateway.names import model_meant
from chatapp.gateway.replay.digests import Chain
from chatapp.gateway.replay.kept import ModelScope
from chatapp.gateway.replay.restoring import Found, names_of, restored
from chatapp.management.columns import column_after
from chatapp.management.remainders import read, stands_in
from chatapp.markdown.addresses_in_text import Addresses
from chatapp.markdown.asked.pasted import find_pasted
from chatapp.markdown.asked.question import render_question
from chatapp.markdown.formulas import written
from chatapp.markdown.growing import Growing
from chatapp.markdown.latex import Definitions, with_references, written_out
from chatapp.markdown.link_rules import _misleading
from chatapp.markdown.pieces import GrowingPieces
from chatapp.markdown.tail import Known
from chatapp.pages import csv as sheets
from chatapp.pages.door.form_bodies import read_form
from chatapp.pages.door.open_sockets import Rate
from chatapp.providers import refusals
from chatapp.providers.anthropic import refusals as anthropic_refusals
from chatapp.providers.base import ModelSpec, ToolSpec
from chatapp.providers.chat import refusals as chat_errors
from chatapp.providers.configured import Catalog
from chatapp.providers.demo import calling
from chatapp.providers.demo.replies import Reply
from chatapp.providers.openai import refusals as openai_refusals
from chatapp.providers.shape import shape_of
from chatapp.search.forms import ConversationPlace
from chatapp.search.page.excerpts import excerpt, marked
from chatapp.search.store.finding import WantedWords
from chatapp.thread import as_markdown as copying
from chatapp.thread.item import ShownItem
from chatapp.thread.items_so_far import ItemSoFar
from chatapp.tools import TOOLS
from chatapp.tools.mcp import checking, offered, results
from chatapp.tools.page.page_text import PageText

from .files import FILE_ROADS
from .found import modules

Road = Callable[[str], object]
NOBODY = UUID(int=0)

ROADS: dict[str, Road] = {
    "core.contracts.Contract.fits": lambda text: [row.fits(row.dialect, text) for row in contracts.CONTRACTS],
    "core.signs.of_markdown.dress_of": lambda text: [
        list(dress_of(text, len(text) // 2 * half, len(text))) for half in (0, 1)
    ],
    "core.signs.folded.places_of": lambda text: folded.places_of(text, ("a", "e\u0301")),
    "management.columns.column_after": lambda text: column_after(text, 0, 80),
    "management.remainders.read": lambda text: read(text, (7, 11)),
    "management.remainders.stands_in": lambda text: stands_in(1234, text),
    "providers.anthropic.refusals.refusal": lambda text: anthropic_refusals.refusal("A", 400, {}, text),
    "providers.chat.refusals.error_in_stream": lambda text: chat_errors.error_in_stream(
        "A", {"error": text}, text
    ),
    "providers.chat.refusals.refusal_of": lambda text: chat_errors.refusal_of("A", 400, {}, text),
    "providers.demo.calling.calls": lambda text: [
        calling.calls(text, _TOOLS, named=named) for named in (True, False)
    ],
    "providers.openai.refusals.failure": lambda text: openai_refusals.failure("A", {"message": text}),
    "providers.openai.refusals.refusal": lambda text: openai_refusals.refusal("A", 400, {}, text),
    "providers.refusals.refusal_by_status": lambda text: refusals.refusal_by_status(
        "A", 500, {"retry-after": text}, text
    ),
    "search.forms.ConversationPlace.named": lambda text: ConversationPlace.named(f"1.{text}"),
    "search.page.excerpts.excerpt": lambda text: [excerpt(text, ("a", "e", " "), kind) for kind in Kind],
    "search.page.excerpts.marked": lambda text: marked(text, ("a", "e", " ")),
    "search.store.finding.WantedWords.are_in": WantedWords(("a", "aab"), frozenset()).are_in,
    "tools.mcp.offered.usable_tools": lambda text: offered.usable_tools(
        "a", [_offer(text)], offered.LeftOut()
    ),
    "tools.page.page_text.PageText.say": lambda text: _page(text),
    "markdown.addresses_in_text.Addresses.match": Addresses().match,
    "markdown.formulas.written": lambda text: written(text, Definitions(), display=True),
    "markdown.latex.handlers.written_out": lambda text: [
        written_out(before + text + after, Definitions(), display=True)
        for before, after in (("", ""), (r"\ce{", "}"), (r"\SI{1}{", "}"), (r"\text{", "}"), (r"\abs{", "}"))
    ],
    "markdown.latex.handlers.with_references": lambda text: with_references(text, {"a": "1"}),
    # Its colours are made in a process of their own.
    "markdown.asked.question.render_question": lambda text: render_question(text, coloured=False),
    "code that was pasted": lambda text: find_pasted(text.split("\n")),
    "markdown.growing.Growing.look": lambda text: Growing().look(text),
    "markdown.pieces.GrowingPieces.feed": lambda text: GrowingPieces().feed(text, Known()),
    "catalog.page.models_shown.all_models": lambda text: models_shown.all_models([], text),
    # More fields than some are refused before any is read.
    "pages.door.form_bodies.read_form": lambda text: read_form(text.encode().replace(b"&", b"=")),
    "pages.door.open_sockets.Rate.may": lambda text: Rate(64, 1.0).may(text),
    "pages.csv.sheet": lambda text: sheets.sheet("a", ["b"], [[text]] * 3),
}

ROADS |= FILE_ROADS
# What is reached through pages and rows, or begins in a class.
ROADS |= {
    "gateway.names.model_meant": lambda text: model_meant(
        text, ApiKey(), Catalog([]), known=_KNOWN_MODELS, default=""
    ),
    "how a message begins on the map": lambda text: tree_map.beginning_in_words(_beginning(text)),
    "how a thought begins": lambda text: _shown(text).gist,
    "the first argument of a call": lambda text: _shown(json.dumps({"a": text, "b": text})).argument,
    "how far a call is": lambda text: _shown("{}", result=text).progress,
    "a message as Markdown": lambda text: "".join(copying._parts(_row(), _items(text), thoughts=True)),
    "a link's own words": lambda text: _misleading(text, "a.example"),
    "a line of the log": lambda text: TextFormatter(["a-secret"]).format(_record(text)),
    "a line of the log as JSON": lambda text: JsonFormatter(["a-secret"]).format(_record(text)),
    "gateway.doors.handed.Sealing.opened": Sealing(b"key", "of whom").opened,
    "providers.demo.calling.any_calls": lambda text: calling.any_calls(text, _TOOLS),
    "a history made whole": lambda text: _made_whole(text),
    "an answer of the demo": lambda text: Reply(History((Question(text),)), _TOOLS, "high", 0).pieces(),
    "what was sent": lambda text: shape_of({"messages": [{"role": "user", "content": text}], text: text}),
    "a request of the Responses door": lambda text: [_in_responses(said) for said in (text, f"data:{text}")],
    "an answer of the Responses door": lambda text: _out_of_responses(text),
    "what an MCP server answered": lambda text: results.in_text(_answer(text)),
    "a request to the chat door": lambda text: _read(chat_door.DOOR, text),
    "a request to the messages door": lambda text: _read(messages_door.DOOR, text),
    "an answer of the chat door": lambda text: _told(chat_door.DOOR, text),
    "an answer of the messages door": lambda text: _told(messages_door.DOOR, text),
    "gateway.doors.attachments.at_address": lambda text: [
        _unless_wrong(lambda at=at: at_address(Given(at + text), AttachedKind.PICTURE))
        for at in ("", "data:", "data:image/png;base64,", "https://")
    ],
    "arguments of an MCP tool": lambda text: checking.argument_problems(_SCHEMA, {"a": text, "b": [text]}),
}
_KNOWN_MODELS = [ModelSpec(provider="a", dialect="chat", name=f"a-{n}") for n in range(9)]
_TOOLS = [
    ToolSpec(name=tool.name, description=tool.definition["description"], schema=tool.definition["schema"])
    for tool in TOOLS.values()
]
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


def _in_responses(text: str) -> None:
    """With the text in every place where there can be one."""
    parts = [
        {"type": "input_text", "text": text},
        {"type": "input_image", "image_url": text},
        {"type": "input_file", "file_data": text, "filename": text},
    ]
    items = [
        *({"role": "user", "content": [part]} for part in parts),
        {"type": "reasoning", "summary": parts[:1], "encrypted_content": text, "id": text},
        {"type": "function_call", "call_id": text, "name": text, "namespace": text, "arguments": text},
        {"type": "function_call_output", "call_id": text, "output": text},
        {"type": "compaction", "encrypted_content": f"{compacted.OURS}{text}"},
        {"type": text, "id": text},
    ]
    function = {"type": "function", "name": text, "description": text}
    tools = [function, {"type": "namespace", "name": text, "tools": [function]}]
    choice = {"type": "function", "name": text}
    for item in items:
        with suppress(Wrong):
            asked = responses.DOOR.read({"model": text, "input": [item], "instructions": text}, {})
            kept.joined([kept.Exchanged(kept.input_kept(asked, text), [])], asked)
    for body in ({"input": text, "tools": tools, "tool_choice": choice}, {"input": text, "truncation": text}):
        with suppress(Wrong):
            responses.DOOR.read(body, {})
    with suppress(Wrong):
        socket.body_in(text)
    with suppress(Wrong):
        json_in(text.encode(errors="replace"))
    kept.input_place(text)


def _out_of_responses(text: str) -> None:
    writer = responses.DOOR.writer(responses.DOOR.read({"input": "a"}, {}), text, Handed(), 0)
    for key, kind in (("a", Kind.REASONING), ("b", Kind.ASSISTANT_MESSAGE), ("c", Kind.TOOL_CALL)):
        writer.hear(ItemStarted(key, kind, text))
        for at in range(0, len(text), 50):
            writer.hear(ItemDelta(key, text[at : at + 50]))
        writer.hear(ItemDone(Item(key=key, kind=kind, text=text, name=text)))
    writer.end(HowEnded(finish=Finish.STOP, usage=Usage(), at=0))


def _row() -> SimpleNamespace:
    return SimpleNamespace(pk=NOBODY, status="complete", metadata={}, model="")


def _beginning(text: str) -> Beginning:
    return Beginning(_row(), text[:BEGINNING])


def _shown(text: str, result: str = "") -> ShownItem:
    inner = ItemSoFar(key="b", kind=Kind.TOOL_RESULT, text=result, open=True)
    return ShownItem(NOBODY, ItemSoFar(key="a", kind=Kind.TOOL_CALL, text=text, result=inner))


def _items(text: str) -> list[Item]:
    return [Item(key=kind, kind=kind, text=text, name=text) for kind in Kind]


def _record(text: str) -> logging.LogRecord:
    return logging.makeLogRecord({"name": "chatapp.pages", "msg": "%s", "args": (text,), "fact": text})


def _answer(text: str) -> SimpleNamespace:
    block = SimpleNamespace(type="text", text=text)
    return SimpleNamespace(content=[block] * 3, structured_content=None)


def _unless_wrong(work: Callable[[], object]) -> None:
    with suppress(Wrong):
        work()


def _read(door: Door, text: str) -> None:
    """As everything that it may be: a question, a thought, an answer, a name, a word that nobody knows."""
    said = {"content": text, "reasoning_content": text, "function_call": {"name": text, "arguments": text}}
    history = [{"role": "user", "content": text}, {"role": "assistant", **said}]
    body = {"model": text, "messages": history, text: text}
    _unless_wrong(lambda: estimate(door.read(body, {"anthropic-beta": text})))
    _unless_wrong(lambda: door.read(body | {"tool_choice": text, "reasoning_effort": text}, {}))
    _unless_wrong(lambda: door.read(body | {"messages": [{"role": text}]}, {}))


def _told(door: Door, text: str) -> None:
    """A sign at a time at first, then all at once."""
    asked = door.read({"model": "m", "messages": [{"role": "user", "content": "Why?"}]}, {})
    writer = door.writer(asked, "m", Handed(), 0)
    for item in (item for item in _items(text) if item.kind in FROM_MODEL):
        writer.hear(ItemStarted(item.key, item.kind, item.name))
        for sign in text[: len(text) // 2]:
            writer.hear(ItemDelta(item.key, sign))
        writer.hear(ItemDone(item))
    writer.end(HowEnded(finish=Finish.STOP, usage=Usage(), at=0))
    writer.whole()


def _made_whole(text: str) -> None:
    """Of a program that kept nothing but words and calls."""
    call = {"id": f"call_{text[:100]}", "type": "function", "function": {"name": "shell", "arguments": text}}
    messages = [{"role": role, "content": text} for role in ("system", "user", "assistant", "user")]
    messages += [{"role": "assistant", "content": None, "tool_calls": [call]}]
    asked = chat_door.DOOR.read({"model": "m", "messages": messages}, {})
    scope = ModelScope(provider="p", destination="d", dialect="chat", model="m")
    names = names_of(asked.history, Chain(1))
    restored(asked.history, names, Found([]), scope=scope, sealing=Sealing(b"key", "of whom"), dialect="chat")


IN_A_PROCESS_OF_ITS_OWN = """
    markdown.sanitise.sanitised markdown.code.colours.highlighted markdown.code.colours.highlighted_apart
    markdown.code.html.code markdown.code.html.folded_code markdown.code.html.growing_code
    markdown.code.colours.language markdown.formulas.formula
    markdown.formulas.mathml markdown.whole.render_blocks markdown.whole.render markdown.tail.Known.environment
    markdown.tail.advance markdown.within.blocks_waiting markdown.within.render_blocks_within
    markdown.within.feed_within markdown.growing.Growing.feed markdown.growing.Growing.finish markdown.kept.rendered
    markdown.kept.rendered_within markdown.kept.rendered_question markdown.kept.rendered_question_within
    markdown.within.question_waiting markdown.within.question_within tools.page.readable.readable_part tools.page.page_read.page_read
"""
IN_PIECES = """
    providers.anthropic.stream.MessagesParser.feed providers.chat.growing_words.GrowingWords.say
    providers.chat.stream.ChatParser.feed providers.chat.tags.TagReader.feed
    providers.openai.stream.ResponsesParser.feed providers.reader.Reader.hear
    pages.door.daphne.CappedRequest.handleContentChunk pages.door.daphne.CappedRequest.requestReceived
    pages.door.long_messages.RoomyProtocol.onMessageFrameData pages.door.long_messages.RoomyProtocol.onClose
    providers.sse.Decoder.feed live.growing_item.GrowingItem.write live.growing_item.GrowingItem.write_plainly
    live.growing_item.GrowingItem.tell live.continued_item.ContinuedItem.write
"""
THROUGH_OTHERS = """
    pages.stencils.Stencil.fill_with
    providers.anthropic.messages.MessagesWire.refusal providers.chat.completions.ChatCompletions.refusal
    providers.openai.responses.ResponsesWire.refusal providers.base.Parser.feed providers.base.Wire.refusal
    providers.whole_answers.words providers.failures.hide_key providers.refusals.trouble_error tools.base.Tool.run
    tools.page.fetching.fetched tools.page.tool.page_in_words tools.mcp.connection.Session.call tools.mcp.server.Server.call
    conversations.forms.Instructions.validate accounts.forms.accounts.SignUpForm.validate_password_for_user
    accounts.forms.accounts.ResetForm.get_users tools.page.page_text.PageText.begin_link tools.page.page_text.PageText.end_part
    thread.items_so_far.item_from_draft thread.sent.sent_of thread.whole_text.Seams.marked thread.whole_text.Seams.after
    thread.whole_text.seams_within
"""
ASKS_A_DATABASE = """
    search.store.filling.hold_mark search.store.filling.leave_mark search.store.filling.held_writing search.store.filling.Filling.step
    search.store.grams.unseal
    gateway.served.going_on.GoingOn.keep
    gateway.served.serving.let_in_by gateway.served.serving.opened
    gateway.recording.turn.RecordedTurn.stop gateway.replay.kept.Memory.forget pages.door.reception.person_of
    pages.door.reception.sender_of
    reviews.page.passages.passage_named
    reviews.access.reviewer_named reviews.access.note_on reviews.access.submitted_message pages.signed_in.who_is_signed_in
    pages.signed_in.proof_of
    pages.signed_in.still_proved
    conversations.page.composer.composer_for live.conversation.ConversationNews.catch_up thread.page.shown_of
    next_questions.news.next_now next_questions.page.render_next
    pages.signed_in.Presence.until_signed_out providers.demo.DemoProvider.model
    config.sqlite.base.DatabaseWrapper.create_cursor
"""
ASKS_THE_WORLD = """
    pages.door.long_messages.RoomyProtocol.sendData
    providers.client.request net.dial.resolved net.dial.dialled net.guarded_network.Network.connect_tcp
    net.guarded_network.Stream.get_extra_info net.guarded_network.Stream.start_tls net.guarded_network.Stream.write
    net.dial.Guard.addresses  tools.mcp.connection.connected
    tools.mcp.over_stdio.started markdown.renderers.Renderers.ask markdown.renderers.Renderers.do
    live.socket.Listening.receive
    processes.children.Helper.last_answer processes.children.Helper.send
"""
THROUGH_A_FORMULA = """
    markdown.latex.definitions.Definitions.define markdown.latex.definitions.Definitions.name
    markdown.latex.reader.LatexReader.took markdown.latex.reader.LatexReader.bracketed
"""
CUT_SHORT_BEFORE = "tools.clock.in_zone"
NAMES_OF_OURS = """
    gateway.served.remembered.Remembered.keep gateway.served.remembered.Remembered.way_to
    gateway.served.remembered.Remembered.forget search.store.grams.unpacked
    pages.static_files.Storage.url pages.static_files.StaticFiles.immutable_file_test
    gateway.asking.efforts.effort_for conversations.news.question.end_of_branch conversations.page.leads.render_leads
    thread.programs.with_program
    core.named.identity core.named.number
    core.counting.newest core.durations.thought_in_words core.history.learned core.decision.decision_item
    providers.configured.Catalog.default_model providers.configured.Catalog.find providers.configured.Catalog.is_own
    providers.configured.Catalog.label providers.configured.Catalog.look providers.configured.Catalog.offered
    providers.configured.Catalog.provider providers.configured.Provider.model providers.http.HttpProvider.model
    providers.local.provider.LocalProvider.model
    tools.calculator.arithmetic.called tools.base.tool tools.mcp.offered.LeftOut.add tools.mcp.as_tool.fingerprint_of
    pages.commands.away pages.commands.refused conversations.page.composer.render_asking
    conversations.page.composer.render_refused thread.endings.ending core.plural.many
    core.plural.one_or_more core.model_name.ModelName.of
    gateway.cache.page.CachePage.provider_in_words
    insight.page.insight.Sums.of insight.page.insight.time_of sharing.page.links.url_of thread.meter.meter_of
    catalog.page.models_shown.find_model
    pages.in_address.id_in pages.in_address.number_in pages.operations.blocks pages.operations.keep thread.permission.panel_id
    markdown.kept.Kept.get markdown.kept.Kept.put pages.static_files.StaticFiles.add_files
    pages.static_files.Storage.stored_name thread.page.Viewer.larger thread.page.for_others thread.timeline.timeline_of
    reviews.forms.see_other exchange.formats.json_reader.JsonReader.broken exchange.formats.chains.Bounded.nested
    templatetags.chat.icon pages.fonts.finder.FontFinder.find next_questions.page.shown_next
    conversations.news.question.end_of_branch conversations.page.leads.render_leads thread.programs.with_program
"""
# A request and an answer as a whole take these roads.
THROUGH_A_DOOR = """
    gateway.doors.body.json_in gateway.doors.body.refuse_too_many
    core.attached.told gateway.doors.chat.answers.answer_of gateway.doors.chat.door.ChatDoor.error
    gateway.doors.chat.errors.error_body gateway.doors.chat.writing.ChatWriter.grew gateway.doors.door.Door.error
    gateway.doors.door.Door.writer gateway.doors.given.Given.at gateway.doors.given.Given.must gateway.doors.given.Given.says
    gateway.doors.given.Given.take gateway.doors.given.Given.wrong gateway.doors.in_turn.ToldPiece.say gateway.doors.in_turn.Teller.grew
    gateway.doors.messages.blocks.growth gateway.doors.messages.door.MessagesDoor.error
    gateway.doors.messages.errors.error_body gateway.doors.messages.writing.MessagesWriter.grew gateway.doors.models.for_anthropic
    gateway.doors.handed.Handed.item gateway.doors.handed.Handed.response gateway.doors.handed.Handed.seal
    gateway.doors.handed.Sealing.sealed gateway.replay.restoring.restored gateway.replay.restoring.Found.of
    gateway.recording.told.name_of gateway.served.socket.RespondingSocket.receive providers.demo.calling.filled
"""
NOT_ASKED = frozenset(
    " ".join(
        (
            IN_A_PROCESS_OF_ITS_OWN,
            IN_PIECES,
            THROUGH_OTHERS,
            THROUGH_A_DOOR,
            ASKS_A_DATABASE,
            ASKS_THE_WORLD,
            THROUGH_A_FORMULA,
            CUT_SHORT_BEFORE,
            NAMES_OF_OURS,
        )
    ).split()
)
# Their own readers of the environment and of rows, the terminal's commands, and pages, which the forms and the functions above make.
NOT_WALKED = (
    "gateway.described",
    "accounts.admin",
    "accounts.models",
    "accounts.store",
    "accounts.views",
    "admin_pages",
    "branches.models",
    "branches.store",
    "branches.verify",
    "branches.views",
    "catalog.admin",
    "exchange.models",
    "exchange.store",
    "exchange.views",
    "catalog.forms",
    "catalog.models",
    "catalog.page.known_models",
    "catalog.page.providers",
    "catalog.part",
    "catalog.store",
    "catalog.views",
    "checks.",
    "config.databases",
    "config.environment",
    "config.mail_server",
    "conversations.store",
    "conversations.views",
    # A whole request and a whole answer take the roads above.
    "gateway.doors.responses",
    "gateway.admin",
    "gateway.cache.admin",
    "gateway.cache.part",
    "gateway.cache.views",
    "gateway.described",
    "gateway.models",
    "gateway.part",
    "gateway.store",
    "gateway.verify",
    "gateway.views",
    "insight.models",
    "insight.store",
    "insight.views",
    "limits.",
    "management.",
    "mcp_servers.",
    "models",
    "next_questions.models",
    "next_questions.part",
    "next_questions.store",
    "next_questions.verify",
    "next_questions.views",
    "operation.",
    "oversight.",
    "pages.errors",
    "pages.fonts.subset",
    "pages.limiting.throttle",
    "pages.models",
    "pages.preferences",
    "pages.staff",
    "providers.local.files",
    "providers.local.holder",
    "providers.local.install",
    "providers.local.process",
    "providers.local.smollm2",
    "reviews.models",
    "reviews.store",
    "reviews.verify",
    "reviews.views",
    "settings.",
    "sharing.models",
    "sharing.store",
    "sharing.views",
    "store.",
    "thread.views",
    "turns.",
)
