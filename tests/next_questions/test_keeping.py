"""A question that is sent while an answer is being written waits for it, and is asked once, when it is complete."""

from __future__ import annotations

import asyncio
import logging
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from chatapp import store
from chatapp.limits.models import DailyLimit
from chatapp.next_questions import store as next_questions
from chatapp.next_questions.models import NextQuestion
from chatapp.next_questions.part import NextQuestions
from chatapp.providers.base import ProviderError
from chatapp.store import deleting, in_thread
from chatapp.store.models import Message
from tests.conversations.asking_tools import Panels, send
from tests.support.front import visitor
from tests.support.page import Page, attribute
from tests.support.script import held, response, text
from tests.support.stage import play, until

from .keeping import asked, gated, keeping, waiting

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]


async def breaches() -> list[str]:
    return await in_thread(lambda: list(store.verify_log()))()


def test_it_is_asked_by_itself_when_the_answer_is_complete(alice):
    async def story():
        async with keeping(alice, alone=False) as it:
            answer = await it.on.begin("Why?")
            kept = await it.keep("And then?", answer, effort="low")
            assert kept.status_code == 200 and "And then?" in kept.text
            assert "Next, when this is complete" in await it.shown()
            it.go.set()
            assert await it.whole(2) == ["Why?", "And then?"]
            last = await in_thread(Message.objects.select_related("parent").latest)("order")
            assert (last.parent.parent_id, last.model, last.effort) == (answer, "scripted:model", "low")
            assert await waiting() == [] and await it.shown() == ""
            assert await breaches() == []

    play(story())


def test_a_second_one_is_added_to_the_first_and_brings_its_model(alice):
    async def story():
        async with keeping(alice, alone=False) as it:
            answer = await it.begin(keep="One", effort="low")
            await it.keep("Two", answer, model="scripted:other")
            assert await waiting() == ["One\n\nTwo"]
            it.go.set()
            assert await it.whole(2) == ["Why?", "One\n\nTwo"]
            last = await in_thread(Message.objects.latest)("order")
            assert (last.model, last.effort) == ("scripted:other", "")

    play(story())


def test_the_same_form_adds_once_also_when_it_comes_again_after_the_question_was_asked(alice):
    async def story():
        async with keeping(alice, alone=False) as it:
            answer, key = await it.on.begin("Why?"), str(uuid4())
            await asyncio.gather(*(it.keep("And?", answer, key=key) for _ in range(4)))
            assert await waiting() == ["And?"]
            it.go.set()
            await it.whole(2)
            late = await it.keep("And?", answer, key=key)
            assert late.status_code == 200
            assert await asked() == ["Why?", "And?"] and await waiting() == []

    play(story())


def test_not_before_all_calls_of_the_answer_are_through(alice):
    """A round is whole then, and the answer is not complete."""

    async def story():
        go = asyncio.Event()
        calls = response(text("Let me look."), send() | {"name": "look"})
        async with keeping(alice, calls, gated(go, response(text())), response(text()), alone=False) as it:
            answer = await it.begin(keep="And?")

            async def looked():
                return any(item.outcome for item in await it.on.items(answer))

            await until(looked)
            await it.ask_all()
            assert await asked() == ["Why?"]
            go.set()
            assert await it.whole(2) == ["Why?", "And?"]

    play(story())


@pytest.mark.parametrize("how", ["stopped", "failed"])
def test_after_an_end_that_is_not_whole_it_waits_for_a_press_and_goes_with_what_is_typed(alice, how):
    async def story():
        reached, go = asyncio.Event(), asyncio.Event()
        ends = {
            "stopped": held(text("Half"), reached=reached),
            "failed": gated(go, response(ProviderError("down", "It is down."))),
        }
        async with keeping(alice, ends[how], response(text()), alone=False) as it:
            answer = await it.begin(keep="And then?")
            if how == "stopped":
                await reached.wait()
                await it.stop(answer)
            else:
                go.set()
                await it.on.end(answer)
            await it.ask_all()
            assert await asked() == ["Why?"]
            shown = await it.shown()
            assert f"the answer {'was stopped' if how == 'stopped' else 'failed'}" in shown
            assert "Send now" in shown and "And then?" in shown
            sent = await it.send(answer, "And why?")
            assert sent.status_code == 200
            assert await asked() == ["Why?", "And then?\n\nAnd why?"]
            again = await it.send(answer)
            assert again.status_code == 409 and "sent meanwhile" in again.text
            await it.rests()
            assert await breaches() == []

    play(story())


def test_what_came_back_is_asked_in_its_new_words_unless_somebody_changed_it_meanwhile(alice):
    async def story():
        reached = asyncio.Event()
        async with keeping(
            alice, held(text("Half"), reached=reached), response(text()), response(text())
        ) as it:
            answer = await it.on.begin("Why?")
            await it.keep("And tehn?", answer)
            await reached.wait()
            await it.she.post(f"/m/{answer}/stop/")
            seen = attribute((await it.page()).one("section", aria_label="Waiting question"), "data-edition")
            await it.press("edit", answer)
            await it.press("save", answer, next_text="And then?")
            await it.send(answer, "And when?", instead=seen)
            assert await asked() == ["Why?", "And then?\n\nAnd when?"]
            await it.rests()
            assert await breaches() == []

    play(story())


def test_what_came_back_while_it_asks_is_kept_and_asked_in_its_new_words(alice):
    async def story():
        async with keeping(alice, response(send()), response(text()), response(text())) as it:
            answer = (await it.on.ask("Why?")).pk
            await it.keep("And tehn?", answer)
            seen = attribute((await it.page()).one("section", aria_label="Waiting question"), "data-edition")
            await it.keep("And then?", answer, instead=seen)
            assert await waiting() == ["And then?"]
            await it.she.post(f"/m/{answer}/stop/")
            seen = attribute((await it.page()).one("section", aria_label="Waiting question"), "data-edition")
            await it.send(answer, "And when?", instead=seen)
            assert await asked() == ["Why?", "And when?"]
            await it.rests()
            assert await breaches() == []

    play(story())


def test_sent_now_it_takes_nothing_along(alice):
    async def story():
        reached = asyncio.Event()
        async with keeping(alice, held(text("Half"), reached=reached), response(text())) as it:
            answer = await it.on.begin("Why?")
            await it.keep("And then?", answer)
            await reached.wait()
            await it.she.post(f"/m/{answer}/stop/")
            await it.send(answer, "And wh", alone="1")
            assert await asked() == ["Why?", "And then?"]

    play(story())


def test_when_a_stopped_answer_goes_on_and_is_complete_it_is_asked(alice):
    async def story():
        reached = asyncio.Event()
        async with keeping(alice, held(text("Half"), reached=reached), response(text()), alone=False) as it:
            answer = await it.begin(keep="And then?")
            await reached.wait()
            await it.stop(answer)
            await it.she.post(f"/m/{answer}/continue/")
            assert await it.whole(2) == ["Why?", "And then?"]

    play(story())


def test_a_permission_question_is_waited_for(alice):
    async def story():
        async with keeping(alice, response(send()), response(text()), alone=False) as it:
            answer = (await it.on.ask("Why?")).pk
            assert (await it.keep("And then?", answer)).status_code == 200
            await it.ask_all()
            assert "when you have decided" in await it.shown()
            assert (await it.send(answer)).status_code == 409
            assert await asked() == ["Why?"] and await waiting() == ["And then?"]
            await (await Panels(it.on, it.she).look()).press("denied fc_call_1")
            assert await it.whole(2) == ["Why?", "And then?"]

    play(story())


def test_it_is_edited_and_not_sent_meanwhile(alice):
    async def story():
        async with keeping(alice, alone=False) as it:
            answer = await it.begin(keep="And tehn?")
            assert "<textarea" in (await it.press("edit", answer)).json()[0][1]
            await it.end(answer)
            await it.ask_all()
            assert await asked() == ["Why?"]
            assert "Next, when you have saved it" in str((await it.page()).root)
            empty = await it.press("save", answer, next_text=" ")
            assert empty.status_code == 409 and "Write a question first." in empty.text
            await it.press("save", answer, next_text="And then?\r\nHm?")
            assert await it.whole(2) == ["Why?", "And then?\nHm?"]
            for what in ("edit", "save", "leave", "remove"):
                late = await it.press(what, answer, next_text="Too late")
                assert late.status_code == 409 and "sent meanwhile" in late.text

    play(story())


def test_left_as_it_was_it_is_asked_as_it_was(alice):
    async def story():
        async with keeping(alice, alone=False) as it:
            answer = await it.begin(keep="And then?")
            await it.press("edit", answer)
            await it.end(answer)
            await it.press("leave", answer)
            assert await it.whole(2) == ["Why?", "And then?"]

    play(story())


def test_what_is_removed_is_never_asked(alice):
    async def story():
        async with keeping(alice) as it:
            answer = await it.begin(keep="And then?")
            await it.press("remove", answer)
            await it.end(answer)
            await it.ask_all()
            assert await asked() == ["Why?"]
            assert not await in_thread(NextQuestion.objects.exists)()
            gone = await it.press("remove", answer)
            assert gone.status_code == 409 and "No question waits" in gone.text

    play(story())


def test_a_refused_one_says_why_and_keeps_its_words(alice):
    async def story():
        async with keeping(alice, alone=False) as it:
            answer = await it.begin(keep="And then?")
            await in_thread(DailyLimit.objects.create)(who=DailyLimit.Who.EVERYBODY, turns=1)
            it.go.set()

            async def told():
                return "1 turn" in await it.shown()

            await until(told)
            shown = await it.shown()
            assert "Not sent" in shown and "when this is complete" not in shown and "data-back" in shown
            assert await waiting() == ["And then?"] and await asked() == ["Why?"]
            await in_thread(DailyLimit.objects.all().delete)()
            await it.send(answer)
            assert await it.whole(2) == ["Why?", "And then?"]

    play(story())


def test_whose_model_is_gone_it_says_so_and_is_sent_to_another(alice):
    async def story():
        async with keeping(alice, alone=False) as it:
            answer = await it.begin(keep="And then?")
            await in_thread(NextQuestion.objects.update)(model="nobody:gone")
            it.go.set()

            async def told():
                return "nobody" in await it.shown()

            await until(told)
            assert await asked() == ["Why?"]
            await it.send(answer)
            assert await it.whole(2) == ["Why?", "And then?"]

    play(story())


def test_it_is_not_asked_where_its_conversation_or_answer_was_deleted_and_comes_back_with_it(alice):
    async def story():
        async with keeping(alice) as it:
            answer = await it.begin(keep="And then?")
            row = await it.end(answer)
            await in_thread(deleting.delete_conversation)(it.on.conversation.pk)
            await it.ask_all()
            await in_thread(deleting.restore_conversation)(it.on.conversation.pk, alice)
            gone = await in_thread(deleting.delete_below)(row)
            await it.ask_all()
            assert await asked() == ["Why?"] and await waiting() == ["And then?"]
            await in_thread(deleting.undo)(gone.id, alice)
            await it.ask_all()
            assert await it.whole(2) == ["Why?", "And then?"]

    play(story())


def test_it_is_not_asked_for_somebody_who_may_not_come_in_any_more(alice):
    async def story():
        async with keeping(alice) as it:
            answer = await it.begin(keep="And then?")
            await it.end(answer)
            await in_thread(User.objects.filter(pk=alice.pk).update)(is_active=False)
            await it.ask_all()
            assert await asked() == ["Why?"]

    play(story())


def test_many_who_look_at_once_ask_it_once(alice):
    """As several servers do that share a database."""

    async def story():
        async with keeping(alice) as it:
            answer = await it.begin(keep="And then?")
            await it.end(answer)
            others = [NextQuestions() for _ in range(6)]
            await asyncio.gather(*(each.ask_all() for each in others), it.send(answer, "Now"))
            await it.whole(2)
            assert len(await asked()) == 2
            assert await breaches() == []

    play(story())


def test_what_comes_while_it_is_being_sent_waits_for_the_answer_to_it(alice):
    async def story():
        go, later = asyncio.Event(), asyncio.Event()
        scripts = (gated(go, response(text())), gated(later, response(text())), response(text()))
        async with keeping(alice, *scripts, alone=False) as it:
            answer = await it.begin(keep="Two")
            go.set()

            async def sent():
                return len(await asked()) == 2

            await until(sent)
            await it.keep("Three", answer)
            assert await waiting() == ["Three"]
            later.set()
            assert await it.whole(3) == ["Why?", "Two", "Three"]
            third = await in_thread(Message.objects.select_related("parent__parent__parent").latest)("order")
            assert third.parent.parent.parent.parent_id == answer

    play(story())


def test_where_the_branch_went_on_without_it_it_waits_at_its_new_end(alice):
    async def story():
        reached = asyncio.Event()
        async with keeping(alice, held(text("Half"), reached=reached), response(text())) as it:
            answer = await it.begin(keep="Later")
            await reached.wait()
            await it.stop(answer)
            await it.on.ask("From a terminal", at=answer)
            await it.ask_all()
            assert "Later" in await it.shown()
            await it.ask_all()
            assert await it.whole(2) == ["Why?", "From a terminal", "Later"]

    play(story())


def test_it_goes_along_to_the_answer_that_is_made_instead(alice):
    async def story():
        reached, go = asyncio.Event(), asyncio.Event()
        scripts = (held(text("Half"), reached=reached), gated(go, response(text())), response(text()))
        async with keeping(alice, *scripts, alone=False) as it:
            answer = await it.begin(keep="And then?")
            await reached.wait()
            await it.stop(answer)
            await it.she.post(f"/m/{answer}/again/", {"model": "scripted:model"})
            assert "Next, when this is complete" in await it.shown()
            go.set()
            await it.whole(2)
            assert await asked() == ["Why?", "And then?"]

    play(story())


def test_below_a_complete_answer_what_was_to_be_kept_is_asked_at_once(alice):
    async def story():
        async with keeping(alice) as it:
            it.go.set()
            answer = (await it.on.ask("Why?")).pk
            await it.keep("And then?", answer)
            assert await asked() == ["Why?", "And then?"] and await waiting() == []

    play(story())


def test_without_words_or_with_too_many_nothing_is_kept(alice):
    async def story():
        async with keeping(alice) as it:
            answer = await it.on.begin("Why?")
            none = await it.keep(" \n", answer)
            assert none.status_code == 400
            long = await it.keep("x" * (4 * 1024 * 1024 + 1), answer)
            assert long.status_code == 409 and "too long" in long.text
            elsewhere = await it.keep("And?", uuid4())
            assert elsewhere.status_code == 409
            assert await waiting() == []

    play(story())


def test_without_scripts_a_form_keeps_it_and_the_page_says_so(alice):
    async def story():
        async with keeping(alice, alone=False) as it:
            answer = await it.on.begin("Why?")
            plain = await it.she.get(it.path)
            assert 'http-equiv="refresh"' in plain.text and "?write" in plain.text
            writing = await it.she.get(f"{it.path}?write")
            assert 'http-equiv="refresh"' not in writing.text
            assert "Send keeps your question until this answer is complete." in writing.text
            assert Page(writing).all("button", name="keep", value="1")
            kept = await it.keep("And then?", answer, script=False)
            assert (kept.status_code, kept.headers["location"]) == (303, f"{it.path}#next")
            edited = await it.she.post(f"/m/{answer}/next/edit/")
            assert edited.status_code == 303
            page = await it.she.get(it.path)
            assert 'http-equiv="refresh"' not in page.text and 'name="next_text"' in page.text
            saved = await it.she.post(f"/m/{answer}/next/save/", {"next_text": "Or what?"})
            assert saved.status_code == 303 and "Or what?" in await it.shown()
            late = await it.she.post(f"/m/{uuid4()}/next/save/", {"next_text": "Not lost"})
            assert late.status_code == 404 and "Not lost" in late.text
            it.go.set()
            assert await it.whole(2) == ["Why?", "Or what?"]

    play(story())


def test_forks_links_and_reviews_do_not_have_it(alice, bob):
    async def story():
        async with keeping(alice) as it:
            before = (await in_thread(store.load_items)((await it.on.row(await it.on.begin())).parent_id))[0]
            answer = await in_thread(Message.objects.get)(role="assistant")
            await it.keep("My secret plan", answer.pk)
            await it.press("edit", answer.pk)
            it.go.set()
            await it.on.end(answer.pk)
            await it.she.post(f"/m/{answer.pk}/fork/", {"extent": "everything"})
            await it.she.post(f"/m/{answer.pk}/share/", {"thoughts": "on", "tools": "on", "expires": "week"})
            from chatapp.sharing.models import Share

            token = (await in_thread(Share.objects.get)()).token
            link = await (await visitor(bob)).get(f"/s/{token}/")
            assert before.text in link.text and "secret plan" not in link.text
            rows = await in_thread(lambda: list(NextQuestion.objects.values_list("after", flat=True)))()
            assert rows == [answer.pk]

    play(story())


def test_an_account_goes_with_what_waits_in_it(alice):
    async def story():
        async with keeping(alice) as it:
            answer = await it.begin(keep="And then?")
            await it.stop(answer)
            await in_thread(deleting.remove_account)(alice)
            assert not await in_thread(NextQuestion.objects.exists)()

    play(story())


def test_no_log_line_tells_its_words(alice, caplog):
    async def story():
        caplog.set_level(logging.DEBUG)
        async with keeping(alice, alone=False) as it:
            answer = await it.begin(keep="Rosebud")
            await it.press("edit", answer)
            await it.press("save", answer, next_text="Rosebud once more")
            await in_thread(NextQuestion.objects.update)(model="nobody:gone")
            it.go.set()

            async def told():
                return "nobody" in await it.shown()

            await until(told)
        assert "Rosebud" not in caplog.text

    play(story())


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ({"text": " "}, "cannot be asked"),
        ({"keys": "nonsense"}, "forms that it was made of"),
    ],
)
def test_what_waits_is_proved(alice, damage, said):
    async def story():
        async with keeping(alice) as it:
            await it.begin(keep="And then?")
            await in_thread(NextQuestion.objects.update)(**damage)
            assert said in "".join(await breaches())
            await in_thread(NextQuestion.objects.all().delete)()

    play(story())


def test_what_was_asked_and_still_waits_is_found(alice):
    async def story():
        async with keeping(alice, alone=False) as it:
            answer = await it.begin(keep="And then?")
            it.go.set()
            await it.whole(2)
            await in_thread(NextQuestion.objects.update)(asked_as=None, text="And then?", why_not="no")
            assert "although it was asked" in "".join(await breaches())
            await in_thread(NextQuestion.objects.update)(asked_as=answer, text="")
            assert "not the answer to it" in "".join(await breaches())
            await in_thread(NextQuestion.objects.all().delete)()

    play(story())


def test_what_is_not_ones_own_is_not_added_to_or_sent(alice, charlie):
    async def story():
        async with keeping(alice) as it:
            answer = await it.begin(keep="And then?")
            he = await visitor(charlie)
            form = {"text": "Mine", "parent": str(answer), "next": str(answer), "key": str(uuid4())}
            for more in ({"keep": "1"}, {}):
                assert (await he.post(f"{it.path}ask/", form | more)).status_code == 404
            other = await in_thread(store.start_conversation)(charlie, tools=[])
            for more in ({"keep": "1"}, {}):
                refused = await he.post(f"/c/{other.pk}/ask/", form | more)
                assert refused.status_code == 409
            assert await waiting() == ["And then?"]
            assert await in_thread(next_questions.load_next)(charlie, answer) is None

    play(story())
