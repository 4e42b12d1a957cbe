"""What is done to an answer, in statements of its own request: an exact number, however long the conversation is. A turn that begins
with it goes its own way, and is counted in `tests/live/test_cost.py`."""

from __future__ import annotations

import asyncio

import pytest

from chatapp.limits.models import DailyLimit
from chatapp.providers.base import ProviderError
from chatapp.store import in_thread
from tests.support.counting import counted
from tests.support.front import HTMX
from tests.support.reviewed import turn
from tests.support.script import held, response, text
from tests.support.stage import play

from .asking_tools import Panels, Toolbox, furnished, send

pytestmark = pytest.mark.django_db(transaction=True)

# Each with what it asks for beside the session with its account, and the message that it is done to.
COSTS = {
    "page while it runs": 13,  # as of any conversation, with the draft
    # Since when it runs, its row, what is stored of it, and what is kept; its figures: price, person (3 at first), model (4 at first);
    # its row again, its draft, how it is found. Then the answer, for the composer.
    "stop": 18,
    "page when it was stopped": 12,
    "continue": 10,  # row, what is below it (2), who else runs, limit, lock, items, write
    "page when it failed": 12,
    "retry": 10,  # as continue
    "decide": 10,  # who else runs, locks (2), answer, items; decision, write, what goes on
    "again": 10,  # choices, question (2), its conversation, limit, answer above, write; what is sent
    "again without the oldest": 11,  # the branch besides
    "in other words": 10,  # as a question
}


@pytest.mark.parametrize("turns", [1, 150])
def test_what_is_done_to_an_answer_costs_exactly_this(alice, monkeypatch, turns):
    costs: dict[str, int] = {}
    reached = asyncio.Event()
    scripts = (
        held(text("Half"), reached=reached),
        response(text()),
        response(ProviderError("down", "It is down.")),
        response(text()),
        response(send()),
        response(text()),
    )

    async def story():
        with counted(monkeypatch) as count:
            async with furnished(alice, Toolbox(), *scripts) as (on, she):
                page = f"/c/{on.conversation.pk}/"

                async def walk(name, path, form=None):
                    with count.one() as cost:
                        answer = await (she.get(path) if form is None else she.post(path, form, headers=HTMX))
                    assert answer.status_code in (200, 303), answer.text
                    costs[name] = len(cost.statements)

                first = await in_thread(_branch)(alice, on.conversation.pk, turns)
                answer = await on.begin(at=first)
                await reached.wait()
                await walk("page while it runs", page)
                await walk("stop", f"/m/{answer}/stop/", {})
                await walk("page when it was stopped", page)
                await walk("continue", f"/m/{answer}/continue/", {})
                await on.end(answer)
                failed = (await on.ask(at=answer)).pk
                await walk("page when it failed", page)
                await walk("retry", f"/m/{failed}/continue/", {})
                await on.end(failed)
                asks = (await on.ask(at=failed)).pk
                (seen,) = (await Panels(on, she).look()).seen
                await walk("decide", f"/m/{asks}/decide/", {"decision": "once fc_call_1", "seen": seen})
                await on.end(asks)
                await walk("again", f"/m/{asks}/again/", {})
                await walk("again without the oldest", f"/m/{asks}/again/", {"leave_out": "1"})
                question = (await on.row(asks)).parent_id
                await walk("in other words", f"/m/{question}/edit/", {"text": "Else?"})

    play(story())
    assert costs == COSTS


def _branch(owner, conversation, turns):
    DailyLimit.objects.all().delete()
    last = turn(owner, "Why?", conversation=conversation)
    for _ in range(turns):
        last = turn(owner, "And?", "So.", last.answer, conversation)
    return last.answer
