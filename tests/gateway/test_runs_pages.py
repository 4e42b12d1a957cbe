"""A program's run on its owner's pages: what is drawn of it, what its owner can do, and what nobody but the program can."""

from __future__ import annotations

import pytest

from chatapp.catalog.models import KnownModel
from chatapp.core.items import Kind
from chatapp.next_questions.models import NextQuestion
from chatapp.providers.base import ProviderError, Trouble
from chatapp.sharing.store import share
from chatapp.store import in_thread
from chatapp.store.models import Conversation, Item, Message, Role, Status
from tests.support.counting import counted
from tests.support.front import HTMX, visitor
from tests.support.page import Page, attribute, words
from tests.support.script import call, response, text, thought
from tests.support.stage import play

from .runs import NAME, Run, recorded

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

CALLS = response(thought("I look first."), call("shell", '{"command": "ls"}'))
WORDS = response(thought("So that is it."), text("It is fixed."))
REFUSED = f"{NAME} drives this run. Fork it to go on yourself."
KEY = "11111111-1111-4111-8111-111111111111"
LATER = {"role": "developer", "content": "The network is off."}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


async def a_run(run: Run) -> Page:
    """Two questions: one with a call, and one that the program added to."""
    await run.says("Fix the test.")
    await run.gives("models.py")
    await run.says(LATER, "And the others.")
    return Page(await run.page())


def told(page: Page, tag: str, css: str) -> list[str]:
    return [words(it) for it in page.all(tag) if css in attribute(it, "class").split()]


def test_the_page_says_whose_run_it_is_and_what_the_program_said(alice):
    async def story():
        async with recorded(alice, CALLS, WORDS, WORDS) as run:
            page = await a_run(run)
            (line,) = told(page, "p", "run")
            assert line.startswith(f"{NAME}recorded run, begun")
            assert line.endswith("3 requestsits key")
            asked, added = told(page, "details", "program")
            assert "You are a coding agent." in asked
            assert "apply_patch. The program runs them; Thoughtline does not." in asked
            assert added == "Added by the programThe network is off."
            assert [words(it) for it in page.all("div", data_kind="user_message")] == [
                "Fix the test.",
                "And the others.",
            ]

    play(story())


REMINDER = "<system-reminder>\nToday is Friday.\n</system-reminder>"


@pytest.mark.parametrize(
    "question",
    [
        {"role": "user", "content": f"{REMINDER}\n\nFix *it*."},
        {"role": "user", "content": [{"type": "text", "text": said} for said in (REMINDER, "Fix *it*.")]},
    ],
)
def test_what_the_program_put_around_a_question_is_folded_and_goes_to_the_model_as_it_came(alice, question):
    async def story():
        async with recorded(alice, WORDS) as run:
            await run.says(question)
            page = Page(await run.page())
            _, added = told(page, "details", "program")
            assert added == "Added by the program<system-reminder> Today is Friday. </system-reminder>"
            (asked,) = page.all("div", data_kind="user_message")
            assert words(asked) == f"{added}Fix *it*."
            (question_asked,) = run.provider.asked[0].history.steps
            assert question_asked.text == f"{REMINDER}\n\nFix *it*."
            (branch,) = told(page, "nav", "outline")
            assert "Fix it." in branch and "reminder" not in branch
            assert (await run.conversation()).title == "Fix it."

    play(story())


def test_a_call_is_marked_as_the_programs_and_thoughts_that_came_back_are_told_once(alice):
    async def story():
        async with recorded(alice, CALLS, WORDS) as run:
            await run.says("Fix the test.")
            await run.gives("models.py")
            page = Page(await run.page())
            (called,) = page.all("details", data_kind="tool_call")
            assert "by the program" in words(called)
            (back,) = told(page, "p", "restored")
            assert back.startswith("1 thought put back.")
            assert "1 thought was put back that the program had left out." in page_text(page)

    play(story())


def page_text(page: Page) -> str:
    return words(page.root)


def test_an_answer_that_waits_for_its_program_says_so_and_asks_nobody(alice):
    async def story():
        async with recorded(alice, CALLS) as run:
            await run.says("Fix the test.")
            page = Page(await run.page())
            assert not page.all("div", role="group", aria_label="Permission")
            (hands,) = page.all("div", role="group", aria_label="A call of the program")
            assert words(hands).startswith("shellis with the program")
            (leads,) = page.all("div", id="leads")
            assert words(leads).startswith(f"{NAME} is running a call.")
            assert {"Fork and go on", "Stop"} <= set(page.buttons())
            assert "its program" in words(page.one("nav", id="conversations"))

    play(story())


def test_its_owner_writes_nothing_into_it(alice):
    async def story():
        async with recorded(alice, CALLS, WORDS, response(ProviderError(Trouble.BROKEN, "It broke."))) as run:
            await run.says("Fix the test.")
            await run.gives("models.py")
            page = Page(await run.page())
            drawn = {attribute(it, "aria-label") for it in page.all("button")} | set(page.buttons())
            assert not drawn & {"Edit", "Ask again", "Send", "Retry", "Continue", "Message"}
            assert not page.all("textarea", name="text")
            assert not [it for it in page.all("a") if words(it) == "Instructions"]

    play(story())


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("/c/{conversation}/ask/", {"text": "And?", "parent": "{answer}", "key": "{key}"}),
        ("/c/{conversation}/ask/", {"text": "And?", "parent": "{answer}", "keep": "1", "key": "{key}"}),
        ("/c/{conversation}/instructions/", {"instructions": "Be brief."}),
        ("/c/{conversation}/tools/", {"tool": "clock", "on": "1"}),
        ("/m/{question}/edit/", {"text": "In other words?", "key": "{key}"}),
        ("/m/{question}/again/", {"key": "{key}"}),
        ("/m/{answer}/again/", {"key": "{key}"}),
    ],
)
def test_whoever_tries_all_the_same_is_refused_in_words(alice, path, form):
    async def story():
        async with recorded(alice, WORDS) as run:
            await run.says("Fix the test.")
            (answer,) = await run.answers()
            names = {
                "conversation": answer.conversation_id,
                "answer": answer.pk,
                "question": answer.parent_id,
            }
            names["key"] = KEY
            said = {name: value.format(**names) for name, value in form.items()}
            reply = await run.she.post(path.format(**names), said, headers=HTMX)
            assert reply.status_code in (200, 409), reply.text
            assert REFUSED in reply.text
            assert await in_thread(Message.objects.count)() == 2

    play(story())


def test_no_question_is_kept_for_the_end_of_what_a_program_is_at(alice):
    async def story():
        async with recorded(alice, CALLS) as run:
            await run.says("Fix the test.")
            (answer,) = await run.answers()
            form = {"text": "And?", "parent": str(answer.pk), "keep": "1", "key": KEY}
            reply = await run.she.post(f"/c/{answer.conversation_id}/ask/", form, headers=HTMX)
            assert REFUSED in reply.text
            assert not await in_thread(NextQuestion.objects.exists)()

    play(story())


@pytest.mark.parametrize("how", ["failed", "stopped", "waiting"])
def test_what_ended_otherwise_is_gone_on_with_by_its_program_alone(alice, how):
    script = CALLS if how != "failed" else response(ProviderError(Trouble.BROKEN, "It broke."))

    async def story():
        async with recorded(alice, script) as run:
            if how == "failed":
                with pytest.raises(AssertionError):
                    await run.says("Fix the test.")
            else:
                await run.says("Fix the test.")
            (answer,) = await run.answers()
            if how == "stopped":
                await run.she.post(f"/m/{answer.pk}/stop/")
            page = Page(await run.page())
            assert not {"Retry", "Continue", "Ask again", "Ask another model"} & set(page.buttons())
            before = (await run.answers())[0]
            reply = await run.she.post(f"/m/{answer.pk}/continue/", headers=HTMX)
            assert reply.status_code == 409
            decided = {"decision": "once fc_1", "seen": "0123 fc_1"}
            assert (await run.she.post(f"/m/{answer.pk}/decide/", decided, headers=HTMX)).status_code == 409
            (after,) = await run.answers()
            assert (after.status, after.attempt) == (before.status, before.attempt) == (how, after.attempt)

    play(story())


def test_stop_ends_what_waits_for_its_program(alice):
    async def story():
        async with recorded(alice, CALLS) as run:
            await run.says("Fix the test.")
            (answer,) = await run.answers()
            await run.she.post(f"/m/{answer.pk}/stop/")
            (stopped,) = await run.answers()
            assert stopped.status == Status.STOPPED
            page = Page(await run.page())
            assert not page.all("div", aria_label="A call of the program")
            assert "Stop" not in page.buttons()

    play(story())


def test_where_a_history_departs_the_way_to_the_first_try_stands_there(alice):
    async def story():
        async with recorded(alice, WORDS) as run:
            await run.says("Fix the test.")
            await run.says("And the others.")
            run.history[-2:] = []
            await run.says("And nothing else.")
            page = Page(await run.page())
            (parted,) = told(page, "p", "parted")
            assert parted.startswith("The program’s history departs here: it dropped its first try")
            (way,) = [it for it in page.all("a") if words(it) == "See the first try"]
            first = Page(await run.page(attribute(way, "href").partition("/c/")[2].partition("/")[2]))
            assert "And the others." in page_text(first)

    play(story())


def test_an_answer_that_went_on_in_another_way_counts_each_request_once(alice):
    async def story():
        async with recorded(alice, CALLS, WORDS, WORDS) as run:
            await run.says("Fix the test.")
            await run.gives("models.py")
            run.history[-2:] = []
            await run.gives("views.py")
            page = Page(await run.page())
            (parted,) = told(page, "p", "parted")
            assert parted.startswith("The program asked for this answer anew, and left its first try behind.")
            assert "3 requests" in told(page, "p", "run")[0]
            (called,) = page.all("details", data_kind="tool_call")
            assert "by the program" in words(called)
            assert "views.py" in words(called)

    play(story())


def test_the_same_history_again_makes_another_answer_that_says_so(alice):
    async def story():
        async with recorded(alice, WORDS) as run:
            await run.says("Fix the test.")
            run.history.pop()
            await run.says()
            page = Page(await run.page())
            (parted,) = told(page, "p", "parted")
            assert "asked for this answer anew" in parted
            assert "2 / 2" in page_text(page)

    play(story())


def test_results_that_never_came_are_told_so(alice):
    async def story():
        async with recorded(alice, CALLS, WORDS) as run:
            await run.says("Fix the test.")
            await run.says("Never mind. Something else.")
            page = Page(await run.page())
            (called,) = page.all("details", data_kind="tool_call")
            assert "its result never came" in words(called)
            assert told(page, "p", "cut") == ["The program went on without what it had called for"]

    play(story())


def test_what_stood_beside_the_words_is_said_in_words(alice):
    async def story():
        async with recorded(alice, WORDS) as run:
            await run.says("Fix the test.")
            question = await in_thread(Message.objects.get)(role=Role.USER)
            wire = {"role": "user", "parts": ["Fix the test.", {"kind": "picture", "name": "a <b>.png"}]}
            await in_thread(Item.objects.filter(message=question).update)(wire=wire)
            said = words(Page(await run.page()).one("div", data_kind="user_message"))
            assert said == "Fix the test.A picture, a <b>.png was sent along. What is in it is not kept here."

    play(story())


PAGES = ("", "?at={last}", "map/")


def test_what_it_cost_is_told_where_somebody_said_what_its_model_costs(alice):
    async def story():
        async with recorded(alice, CALLS, WORDS) as run:
            await run.says("Fix the test.")
            await run.gives("models.py")
            (answer,) = await run.answers()
            for facts in answer.metadata["rounds"]:
                facts["usage"] = {"input": 1_000_000, "output": 0}
            await in_thread(answer.save)()
            assert "$" not in told(Page(await run.page()), "p", "run")[0]
            price = {"input_price": 2, "output_price": 8}
            await in_thread(KnownModel.objects.create)(name="scripted:model", **price)
            assert "2 requests$ 4.00" in told(Page(await run.page()), "p", "run")[0]

    play(story())


def test_whoever_has_a_link_sees_who_called_and_not_what_the_program_told(alice):
    async def story():
        async with recorded(alice, CALLS, WORDS) as run:
            await run.says("Fix the test.")
            await run.gives("models.py")
            (answer,) = await run.answers()
            shared = await in_thread(share)(answer, by=alice)
            said = page_text(Page(await (await visitor()).get(f"/s/{shared.token}/")))
            assert "by the program" in said
            assert "You are a coding agent." not in said

    play(story())


def test_no_page_of_a_run_asks_more_than_a_page_may(alice, monkeypatch):
    async def story():
        with counted(monkeypatch) as count:
            async with recorded(alice, CALLS, WORDS, WORDS) as run:
                await a_run(run)
                last = (await run.answers())[-1].pk
                for path in PAGES:
                    with count.one() as cost:
                        assert (await run.page(path.format(last=last))).status_code == 200
                    assert len(cost.statements) <= 15, "\n".join(cost.statements)

    play(story())


def test_everything_else_works_on_it_as_on_all_others(alice):
    async def story():
        async with recorded(alice, CALLS, WORDS, WORDS) as run:
            await a_run(run)
            first, last = await run.answers()
            assert (await run.page("map/")).status_code == 200
            compared = await run.she.get(f"/compare/?a={first.pk}&b={last.pk}")
            assert compared.status_code == 200
            shared = await run.she.post(
                f"/m/{last.pk}/share/", {"thoughts": "on", "tools": "on", "expires": "week"}
            )
            assert shared.status_code in (200, 302, 303)
            assert (
                await run.she.post(f"/m/{last.pk}/submit/", {"scope": "tree", "question": "Right?"})
            ).status_code < 400
            assert "Fix the test." in (await run.she.get("/conversations/?q=fix")).text
            conversation = (await run.conversation()).pk
            copied = (await run.she.get(f"/m/{last.parent_id}/copy/")).text
            assert copied.strip() == "And the others."
            assert (await run.she.post(f"/m/{last.pk}/delete/")).status_code < 400
            assert (await run.she.post(f"/c/{conversation}/delete/")).status_code < 400
            deleted = await in_thread(Conversation.objects.get)(pk=conversation)
            assert deleted.deleted_at

    play(story())


def test_the_map_shows_what_a_person_asked_and_not_what_a_program_added(alice):
    async def story():
        async with recorded(alice, CALLS, WORDS, WORDS) as run:
            await a_run(run)
            said = page_text(Page(await run.page("map/")))
            assert "And the others." in said
            assert "The network is off." not in said

    play(story())


def test_a_question_of_its_program_keeps_its_items_as_they_were_told(alice):
    async def story():
        async with recorded(alice, CALLS, WORDS, WORDS) as run:
            await a_run(run)
            rows = Item.objects.filter(message__role=Role.USER, kind=Kind.USER_MESSAGE).order_by("pk")
            assert [row.text for row in await in_thread(list)(rows)] == [
                "Fix the test.",
                "The network is off.",
                "And the others.",
            ]

    play(story())
