"""A new question and its answer at the end of the branch on screen: the same operations for whoever asked and whoever watches."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from django.template.loader import render_to_string
from django.urls import reverse

from ...pages import operations
from ...pages.operations import Operation
from ...providers.configured import Catalog
from ...store import count_questions
from ...store.models import LIVE, Message, Status
from ...thread.item_body import blocks_of
from ...thread.message import ShownMessage
from ...thread.meter import meter_for
from ...thread.outline import render_line
from ...thread.page import Viewer, load_messages
from ..page.composer import render_asking, render_send


def question_news(question: UUID, answer: UUID, viewer: Viewer) -> list[Operation]:
    """The answer that was the end of the branch may have lost its Continue."""
    above = Message.objects.values_list("parent_id", flat=True).get(pk=question)
    *before, asked, answered = load_messages([*([above] if above else []), question, answer], viewer)
    made = [operation for message in before for operation in _no_end_any_more(message)]
    made += [operations.add("messages", render_whole(message)) for message in (asked, answered)]
    made.append(operations.add("outline", render_line(asked, None)))
    count = {"questions": count_questions(answered.row.conversation_id, answer)}
    made.append(operations.put(render_to_string("thread/_questions.html", count)))
    return made + end_of_branch(answered.row, viewer.catalog)


def _no_end_any_more(answer: ShownMessage) -> list[Operation]:
    ending = [operations.put(answer.end_html())] if answer.end else []
    return [operations.shell(answer.shell()), *ending]


def end_of_branch(answer: Message, catalog: Catalog) -> list[Operation]:
    """What the composer does next, and how full the conversation is then."""
    stop = reverse("stop", args=[answer.pk]) if answer.status in LIVE else ""
    return [
        operations.put(render_asking(answer.pk)),
        operations.put(render_send(stop)),
        operations.put(render_to_string("thread/_meter.html", {"meter": meter_for(answer, catalog)})),
        operations.state("answering", answering(answer)),
    ]


def answering(answer: Message | None) -> str:
    """What the page says of its last answer: nothing, that it is being written, or that it waits for a person."""
    if answer is None or answer.status not in LIVE:
        return ""
    return "waits" if answer.status == Status.WAITING else "1"


def render_whole(message: ShownMessage) -> str:
    """With the bodies of its items."""
    filled = [replace(item, blocks=blocks_of(item.message, item.piece)) for item in message.items]
    return replace(message, items=filled).html()
