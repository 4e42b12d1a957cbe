"""A fork of a program's run is a conversation like any other: its owner goes on in it, and it counts like all they ask."""

from __future__ import annotations

from uuid import UUID

import pytest

from chatapp.core.history import Question
from chatapp.core.recorded import BY_PROGRAM
from chatapp.insight.models import PersonDay
from chatapp.store import in_thread
from chatapp.store.models import Conversation, Item, Message, Role
from chatapp.turns.engine import engine
from tests.support import stage
from tests.support.front import HTMX
from tests.support.page import Page, words
from tests.support.script import call, response, text, thought
from tests.support.stage import play

from .runs import Run, recorded

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

CALLS = response(thought("I look first."), call("shell", '{"command": "ls"}'))
WORDS = response(thought("So that is it."), text("It is fixed."))


async def forked(run: Run, message: UUID) -> Conversation:
    reply = await run.she.post(f"/m/{message}/fork/", {"extent": "branch"})
    assert reply.status_code in (302, 303), reply.text
    return await in_thread(Conversation.objects.get)(program="")


async def asked(run: Run, fork: Conversation, path: str, **form: str) -> Message:
    """Whatever is asked in the fork, and how it ended."""
    reply = await run.she.post(path, form, headers=HTMX)
    assert reply.status_code < 400, reply.text
    newest = await in_thread(Message.objects.filter(conversation=fork, role=Role.ASSISTANT).latest)("order")
    await stage.ended(engine(), newest.pk)
    return await in_thread(Message.objects.get)(pk=newest.pk)


def turns_today() -> int:
    """Of whoever asks, in a run or in the chat."""
    return sum(PersonDay.objects.values_list("turns", flat=True))


def test_one_goes_on_in_a_fork_with_all_that_was_said(alice):
    async def story():
        async with recorded(alice, CALLS, WORDS, WORDS) as run:
            await run.says("Fix the test.")
            await run.gives("models.py")
            (answer,) = await run.answers()
            fork = await forked(run, answer.pk)
            assert fork.instructions == "You are a coding agent."
            page = Page(await run.she.get(f"/c/{fork.pk}/"))
            assert {"Send"} <= set(page.buttons())
            assert "by the program" in words(page.root)
            made = await asked(
                run, fork, f"/c/{fork.pk}/ask/", text="And?", parent=str(fork.head_id), model="scripted:model"
            )
            assert made.status == "complete"
            first, _, *_ = run.provider.asked[-1].history.steps
            assert isinstance(first, Question)
            assert first.text == "Fix the test."
            assert await in_thread(turns_today)() == 3

    play(story())


def test_what_was_stopped_goes_on_in_a_fork_and_is_counted_there(alice):
    async def story():
        async with recorded(alice, CALLS, WORDS) as run:
            await run.says("Fix the test.")
            (answer,) = await run.answers()
            await run.she.post(f"/m/{answer.pk}/stop/")
            fork = await forked(run, answer.pk)
            made = await asked(run, fork, f"/m/{fork.head_id}/continue/")
            assert made.status == "complete"
            assert BY_PROGRAM not in made.metadata
            assert len(made.metadata["counted"]) == 2
            page = Page(await run.she.get(f"/c/{fork.pk}/"))
            (called,) = page.all("details", data_kind="tool_call")
            assert "by the program" in words(called)
            assert await in_thread(turns_today)() == 2

    play(story())


def test_while_it_is_written_its_questions_are_forked(alice):
    async def story():
        async with recorded(alice, CALLS, WORDS) as run:
            await run.says("Fix the test.")
            (answer,) = await run.answers()
            assert f"/m/{answer.parent_id}/fork/" in (await run.page()).text
            fork = await forked(run, answer.parent_id)
            made = await asked(run, fork, f"/m/{fork.head_id}/again/", model="scripted:model")
            assert made.status == "complete"

    play(story())


def test_in_other_words_means_those_of_the_person(alice):
    later = {"role": "developer", "content": "The network is off."}

    async def story():
        async with recorded(alice, WORDS) as run:
            await run.says(later, "Fix the test.")
            (answer,) = await run.answers()
            fork = await forked(run, answer.pk)
            question = await in_thread(Message.objects.get)(conversation=fork, role=Role.USER)
            form = Page(await run.she.get(f"/m/{question.pk}/edit/"))
            (box,) = form.all("textarea", name="text")
            assert words(box) == "Fix the test."

    play(story())


def test_a_picture_that_was_not_kept_goes_to_the_model_as_words(alice):
    async def story():
        async with recorded(alice, WORDS) as run:
            await run.says("Fix the test.")
            (answer,) = await run.answers()
            fork = await forked(run, answer.pk)
            part = {
                "kind": "picture",
                "url": "",
                "data": "",
                "file_id": "",
                "media_type": "",
                "name": "a.png",
                "detail": "",
            }
            wire = {"role": "user", "parts": ["Fix the test.", part]}
            await in_thread(Item.objects.filter(message__conversation=fork, kind="user_message").update)(
                wire=wire
            )
            await asked(run, fork, f"/m/{fork.head_id}/again/")
            (question,) = run.provider.asked[-1].history.steps
            assert isinstance(question, Question)
            assert question.parts == ("Fix the test.", "[A picture named a.png stood here. It was not kept.]")

    play(story())
