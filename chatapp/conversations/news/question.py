"""A new question and its answer at the end of the branch on screen: the same operations for whoever asked and whoever watches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from ...pages import operations
from ...pages.operations import Operation
from ...providers.configured import Catalog
from ...store import Questions, is_with_program
from ...store.changes import Begun
from ...store.models import LIVE, Message, Status
from ...thread.item_body import LONG, blocks_of
from ...thread.message import ShownMessage
from ...thread.meter import meter_for, render_meter
from ...thread.outline import render_line, render_questions
from ...thread.page import Viewer, load_message, load_messages, shown_alone
from ..page.composer import being_written, render_asking, render_send
from ..page.leads import render_leads


@dataclass(frozen=True, slots=True)
class NewQuestion:
    """`before`: the answer that was the end of the branch, where it may have lost its Continue."""

    asked: ShownMessage
    answered: ShownMessage
    before: ShownMessage | None = None

    def news(self, catalog: Catalog, questions: Questions) -> list[Operation]:
        """`questions`: how many there are with this one."""
        made = _no_end_any_more(self.before) if self.before else []
        made += [operations.add("messages", render_whole(each)) for each in (self.asked, self.answered)]
        made.append(operations.add("outline", render_line(self.asked, None)))
        made.append(operations.put(render_questions(questions)))
        return made + end_of_branch(self.answered.row, catalog, self.answered.look.program)


def load_question(question: UUID, answer: UUID, viewer: Viewer) -> NewQuestion:
    above = Message.objects.values_list("parent_id", flat=True).get(pk=question)
    *before, asked, answered = load_messages([*([above] if above else []), question, answer], viewer)
    return NewQuestion(asked, answered, before[0] if before else None)


def is_at_hand(written: Begun) -> bool:
    """Whether it can be shown at once: no row is to be read for it, and it is not long."""
    above = written.above
    return (above is None or above.status == Status.COMPLETE) and len(written.words.text) <= LONG


def question_as_written(written: Begun, viewer: Viewer) -> NewQuestion:
    """An answer that is complete looks the same wherever it stands."""
    asked, answer, above = written.question, written.answer, written.above
    alone = {row.pk: (row.pk,) for row in (asked, answer)}
    before = load_message(above.pk, viewer) if above and above.status != Status.COMPLETE else None
    return NewQuestion(
        shown_alone(asked, [written.words], viewer, alone, is_leaf=False),
        shown_alone(answer, [], viewer, alone, is_leaf=True),
        before,
    )


def _no_end_any_more(answer: ShownMessage) -> list[Operation]:
    ending = [operations.put(answer.end_html())] if answer.end else []
    return [operations.shell(answer.shell()), *ending]


def end_of_branch(answer: Message, catalog: Catalog, program: str = "") -> list[Operation]:
    """What the composer does next, and how full the conversation is then. `program`: what writes there instead of a person."""
    if program:
        leads = operations.put(render_leads(program, answer))
        return [leads, operations.state("answering", answering(answer))]
    return [
        operations.put(render_asking(answer.pk)),
        operations.put(render_send(being_written(answer))),
        operations.put(render_meter(meter_for(answer, catalog))),
        operations.state("answering", answering(answer)),
    ]


def answering(answer: Message | None) -> str:
    """What the page says of its last answer: nothing, that it is being written, or that it waits for a person."""
    if answer is None or answer.status not in LIVE:
        return ""
    return "waits" if answer.status == Status.WAITING and not is_with_program(answer) else "1"


def render_whole(message: ShownMessage) -> str:
    """With the bodies of its items."""
    if not message.items:
        return message.html()
    filled = [replace(item, blocks=blocks_of(item.message, item.piece)) for item in message.items]
    return replace(message, items=filled).html()
