"""Asking at the front door: a first question, the next one, the same one in other words, and the same one again."""

from __future__ import annotations

import asyncio
import json
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.test.html import Element

from chatapp.store import Started, deleting, in_thread
from chatapp.store.models import LIVE, Conversation, Item, Message, Status
from tests.support import turns
from tests.support.front import HTMX, Visitor, house, visitor
from tests.support.listening import Socket
from tests.support.page import Page, attribute, words
from tests.support.screen import Screen
from tests.support.stage import play, until

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

DEMO = "demo:thinker"
BY_SCRIPT = pytest.mark.parametrize("headers", [{}, HTMX], ids=["browser", "script"])

REFRESH = '<meta http-equiv="refresh"'


def begun(owner: User, status: str = Status.COMPLETE) -> Started:
    """A question, and an answer that is this far."""
    started = turns.begun(owner)
    turns.end(started.answer, status, attempt=1)
    return started


def more(owner: User, before: Started, text: str = "And?") -> Started:
    return turns.ended(owner, text, below=before)


def texts() -> list[str]:
    return list(Item.objects.filter(kind="user_message").order_by("pk").values_list("text", flat=True))


def counts() -> tuple[int, int, int]:
    return Conversation.objects.count(), Message.objects.count(), Item.objects.count()


async def row(pk: UUID) -> Message:
    return await in_thread(Message.objects.get)(pk=pk)


async def newest() -> Message:
    return await in_thread(Message.objects.latest)("order")


async def form_of(she: Visitor, conversation: UUID, text: str) -> dict[str, str]:
    """What the composer of this page sends."""
    page = Page(await she.get(f"/c/{conversation}/"))
    return {"text": text, **hidden(page)}


def hidden(page: Page) -> dict[str, str]:
    """The composer's hidden fields."""
    fields = [it for it in page.one("div", id="asking").children if isinstance(it, Element)]
    return {attribute(it, "name"): attribute(it, "value") for it in fields}


def test_a_first_question_opens_a_conversation(alice):
    async def story():
        async with house():
            she = await visitor(alice)
            form = hidden(Page(await she.get("/")))
            response = await she.post("/ask/", {"text": "Why?", **form})
            conversation = await in_thread(Conversation.objects.get)()
            assert response.headers["location"] == f"/c/{conversation.pk}/"
            page = await she.get(response.headers["location"])
            assert "Why?" in page.text and page.status_code == 200

    play(story())


def test_a_script_is_led_to_the_new_conversation(alice):
    async def story():
        async with house():
            response = await (await visitor(alice)).post("/ask/", {"text": "Why?"}, headers=HTMX)
            conversation = await in_thread(Conversation.objects.get)()
            assert response.headers["hx-redirect"] == f"/c/{conversation.pk}/"

    play(story())


def test_the_next_question_stands_below_the_answer_on_screen(alice):
    async def story():
        first = await in_thread(begun)(alice)
        async with house():
            she = await visitor(alice)
            response = await she.post(
                f"/c/{first.conversation}/ask/", await form_of(she, first.conversation, "And?")
            )
            answer = await newest()
            question = await row(answer.parent_id)
            assert question.parent_id == first.answer
            assert response.status_code == 303
            assert response.headers["location"] == f"/c/{first.conversation}/#m-{question.pk}"

    play(story())


def test_what_a_script_is_told_makes_the_page_that_a_reload_shows(alice):
    async def story():
        first = await in_thread(begun)(alice)
        async with house():
            she, where = await visitor(alice), f"/c/{first.conversation}/"
            screen = Screen(main(await she.get(where)))
            asked = await she.post(
                f"{where}ask/", await form_of(she, first.conversation, "And?"), headers=HTMX
            )
            answer = await newest()
            screen.do(json.loads(asked.text))
            stopped = await she.post(f"/m/{answer.pk}/stop/", headers=HTMX)
            screen.do(json.loads(stopped.text))
            fresh = Screen(main(await she.get(where)))
            assert [each.id for each in screen.articles] == [each.id for each in fresh.articles]
            for name in (f"m-{first.answer}", f"m-{answer.parent_id}", "send"):
                assert [*screen.one(name).lines()] == [*fresh.one(name).lines()]
            assert str(answer.pk) in "".join(screen.one("asking").lines())
            assert "data-answering" not in screen.thread.attributes

    play(story())


def test_a_page_that_listens_is_told_only_what_to_expect(alice):
    """Its socket brings the rest."""

    async def story():
        first = await in_thread(begun)(alice)
        async with house():
            she, where = await visitor(alice), f"/c/{first.conversation}/"
            screen = Screen(main(await she.get(where)))
            tab = await Socket(f"/ws/{where[1:]}?leaf={first.answer}", she.session).open()
            form = await form_of(she, first.conversation, "And?")
            asked = await she.post(f"{where}ask/", form, headers=HTMX | {"Listening": "1"})
            answer = await newest()
            assert json.loads(asked.text) == [["expect", f"m-{answer.pk}"]]
            await tab.sees(lambda it: ["state", "leaf", str(answer.pk)] in it.said)
            screen.do(tab.said)
            assert [each.id for each in screen.articles][-2:] == [f"m-{answer.parent_id}", f"m-{answer.pk}"]
            assert str(answer.pk) in "".join(screen.one("asking").lines())
            await tab.leave()

    play(story())


def main(response) -> str:
    """From the branch on screen to the end of the composer."""
    text = response.text
    inside = text[text.index('<div class="middle thread"') : text.index("</main>")]
    return inside


@BY_SCRIPT
def test_sending_a_form_twice_asks_once_and_answers_the_same(alice, headers):
    async def story():
        first = await in_thread(begun)(alice)
        async with house():
            she, where = await visitor(alice), f"/c/{first.conversation}/ask/"
            form = await form_of(she, first.conversation, "And?")
            one, other = [await she.post(where, form, headers=headers) for _ in range(2)]
            assert (one.status_code, one.headers.get("location")) == (
                other.status_code,
                other.headers.get("location"),
            )
            assert await in_thread(texts)() == ["Why?", "And?"]
            if headers:
                assert [op[0] for op in json.loads(one.text)] == [op[0] for op in json.loads(other.text)]

    play(story())


@pytest.mark.both
@pytest.mark.parametrize(
    "where", ["/ask/", "/c/{conversation}/ask/", "/m/{question}/edit/", "/m/{answer}/again/"]
)
def test_fifty_equal_forms_at_once_ask_once(alice, where):
    async def story():
        first = await in_thread(begun)(alice)
        names = {"conversation": first.conversation, "question": first.question, "answer": first.answer}
        before = await in_thread(counts)()
        async with house():
            she, path = await visitor(alice), where.format(**names)
            form = {"text": "And?", "parent": str(first.answer), "key": str(uuid4())}
            responses = await asyncio.gather(*(she.post(path, form) for _ in range(50)))
            assert {response.status_code for response in responses} <= {302, 303}
            assert len({response.headers["location"] for response in responses}) == 1
            conversations, messages, _ = await in_thread(counts)()
            assert conversations - before[0] == (where == "/ask/")
            assert messages - before[1] == (1 if "again" in where else 2)

    play(story())


@BY_SCRIPT
@pytest.mark.parametrize("where", ["/ask/", "/c/{conversation}/ask/"])
def test_the_same_form_with_other_words_comes_back_with_them_and_a_key_of_its_own(alice, where, headers):
    async def story():
        first = await in_thread(begun)(alice)
        async with house():
            she, path = await visitor(alice), where.format(conversation=first.conversation)
            form = {"text": "And?", "parent": str(first.answer), "key": str(uuid4())}
            await she.post(path, form)
            answer = await newest()
            await she.post(f"/m/{answer.pk}/stop/")
            before = await in_thread(counts)()
            response = await she.post(path, form | {"text": "Other words"}, headers=headers)
            assert response.status_code == 409
            assert "sent before, with other words" in response.text
            page = Page(response)
            key = hidden(page)["key"]
            assert key not in ("", form["key"])
            if not headers:
                assert words(page.one("textarea", name="text")) == "Other words"
            assert await in_thread(counts)() == before
            again = form | {"text": "Other words", "key": key}
            assert (await she.post(path, again)).status_code in (302, 303)

    play(story())


def test_a_key_counts_for_one_place_only(alice):
    """A page that was come back to has an old key; what is pressed there is meant all the same."""

    async def story():
        one, other = await in_thread(begun)(alice), await in_thread(begun)(alice)
        async with house():
            she, key = await visitor(alice), {"key": str(uuid4())}
            for started in (one, other):
                await she.post(f"/m/{started.answer}/again/", key)
                await she.post(f"/c/{started.conversation}/ask/", key | {"text": "And?"})
            messages = await in_thread(list)(Message.objects.values_list("conversation", flat=True))
            assert sorted(map(messages.count, {one.conversation, other.conversation})) == [5, 5]

    play(story())


@BY_SCRIPT
@pytest.mark.parametrize("status", LIVE)
def test_below_an_answer_that_is_being_written_nothing_is_asked_and_the_words_stay(alice, status, headers):
    async def story():
        first = await in_thread(begun)(alice, status)
        before = await in_thread(counts)()
        async with house():
            she = await visitor(alice)
            form = {"text": "And this?", "parent": str(first.answer), "key": str(uuid4())}
            response = await she.post(f"/c/{first.conversation}/ask/", form, headers=headers)
            assert response.status_code == 409
            assert "still being written" in response.text
            assert hidden(Page(response))["parent"] == str(first.answer)
            if not headers:
                assert words(Page(response).one("textarea", name="text")) == "And this?"
            assert await in_thread(counts)() == before

    play(story())


def test_what_was_refused_meanwhile_is_not_taken_away_by_the_page_that_looks_for_letters(alice):
    """Without scripts the page of a running answer loads itself again; not while words stand in it that were not taken."""

    async def story():
        first = await in_thread(begun)(alice, Status.RUNNING)
        async with house():
            she = await visitor(alice)
            form = {"text": "And?", "parent": str(first.answer), "key": str(uuid4())}
            refused = await she.post(f"/c/{first.conversation}/ask/", form)
            assert refused.status_code == 409
            assert "And?" in refused.text
            assert REFRESH not in refused.text
            assert REFRESH in (await she.get(f"/c/{first.conversation}/")).text

    play(story())


def test_a_stale_tab_makes_a_branch(alice):
    async def story():
        first = await in_thread(begun)(alice)
        async with house():
            she = await visitor(alice)
            stale = await form_of(she, first.conversation, "From the old tab")
            await in_thread(more)(alice, first)
            response = await she.post(f"/c/{first.conversation}/ask/", stale)
            assert response.status_code == 303
            below = Message.objects.filter(parent=first.answer)
            assert await in_thread(below.count)() == 2
            assert "From the old tab" in (await she.get(f"/c/{first.conversation}/")).text

    play(story())


def test_other_branches_are_free_while_one_answers(alice):
    async def story():
        first = await in_thread(begun)(alice)
        async with house():
            she, where = await visitor(alice), f"/c/{first.conversation}/ask/"
            for text in ("One", "Two", "Three"):
                response = await she.post(where, {"text": text, "parent": str(first.answer)})
                assert response.status_code == 303
            live = Message.objects.filter(parent__parent=first.answer, status__in=LIVE)
            assert await in_thread(live.count)() == 3

    play(story())


@BY_SCRIPT
@pytest.mark.parametrize("what", ["deleted", "of another conversation", "of nothing", "a question"])
def test_a_parent_that_cannot_be_followed_is_refused_in_words(alice, what, headers):
    async def story():
        first = await in_thread(begun)(alice)
        other, later = await in_thread(begun)(alice), await in_thread(more)(alice, first)
        await in_thread(lambda: deleting.delete_below(Message.objects.get(pk=later.question)))()
        parents = {
            "deleted": later.answer,
            "of another conversation": other.answer,
            "of nothing": uuid4(),
            "a question": first.question,
        }
        before = await in_thread(counts)()
        async with house():
            form = {"text": "Hm?", "parent": str(parents[what])}
            response = await (await visitor(alice)).post(
                f"/c/{first.conversation}/ask/", form, headers=headers
            )
            assert response.status_code == 409
            assert "not in this conversation" in response.text or "only follow an answer" in response.text
            if not headers:
                assert words(Page(response).one("textarea", name="text")) == "Hm?"
            assert await in_thread(counts)() == before

    play(story())


def test_an_edited_question_stands_beside_the_old_one_with_the_model_of_its_answer(alice):
    async def story():
        first = await in_thread(begun)(alice)
        second = await in_thread(more)(alice, first)
        await in_thread(Message.objects.filter(pk=second.answer).update)(effort="low")
        async with house():
            she = await visitor(alice)
            page = await she.get(f"/m/{second.question}/edit/")
            assert words(Page(page).one("textarea", name="text")) == "And?"
            response = await she.post(f"/m/{second.question}/edit/", {"text": "And that?"})
            assert response.status_code == 303
            answer = await newest()
            question = await row(answer.parent_id)
            assert question.parent_id == first.answer
            assert (answer.model, answer.effort) == (DEMO, "low")
            assert await in_thread(texts)() == ["Why?", "And?", "And that?"]

    play(story())


@BY_SCRIPT
def test_an_edit_without_words_comes_back(alice, headers):
    async def story():
        first = await in_thread(begun)(alice)
        async with house():
            she = await visitor(alice)
            response = await she.post(f"/m/{first.question}/edit/", {"text": " \n"}, headers=headers)
            assert response.status_code == 400
            assert "Write a question first." in response.text
            # A script has the form still.
            assert bool(Page(response).all("textarea", name="text")) is not bool(headers)

    play(story())


@BY_SCRIPT
def test_an_edit_that_was_sent_before_with_other_words_keeps_them(alice, headers):
    async def story():
        first = await in_thread(begun)(alice)
        async with house():
            she, key = await visitor(alice), str(uuid4())
            await she.post(f"/m/{first.question}/edit/", {"text": "One", "key": key})
            form = {"text": "Another", "key": key}
            response = await she.post(f"/m/{first.question}/edit/", form, headers=headers)
            assert response.status_code == 409
            if not headers:
                assert words(Page(response).one("textarea", name="text")) == "Another"
            assert attribute(Page(response).one("input", id=f"edit-{first.question}-key"), "value") != key

    play(story())


def test_asking_again_makes_a_sibling_and_changes_nothing_old(alice):
    async def story():
        first = await in_thread(begun)(alice)
        old = await in_thread(Message.objects.filter(pk=first.answer).values().get)()
        async with house():
            she = await visitor(alice)
            response = await she.post(f"/m/{first.answer}/again/", {"effort": "high", "model": DEMO})
            answer = await newest()
            assert response.headers["location"] == f"/c/{first.conversation}/"
            assert (answer.parent_id, answer.effort) == (first.question, "high")
            assert await in_thread(Message.objects.filter(pk=first.answer).values().get)() == old
            page = await she.get(f"/c/{first.conversation}/")
            assert "2 / 2" in page.text

    play(story())


@BY_SCRIPT
@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/m/{answer}/edit/", "Only questions can be edited."),
        ("/m/{question}/stop/", "Only answers can be stopped."),
        ("/m/{question}/continue/", "This can be answered no more"),
        ("/m/{answer}/continue/", "This can be answered no more"),
    ],
)
def test_what_makes_no_sense_for_a_message_is_refused_in_words(alice, path, sentence, headers):
    async def story():
        first = await in_thread(begun)(alice)
        before = await in_thread(counts)()
        async with house():
            she = await visitor(alice)
            where = path.format(answer=first.answer, question=first.question)
            response = await she.post(where, {"text": "x"}, headers=headers)
            assert response.status_code == 409
            assert sentence in response.text
            assert await in_thread(counts)() == before

    play(story())


def test_a_running_answer_is_stopped_from_any_page_and_again_without_harm(alice):
    async def story():
        async with house():
            she = await visitor(alice)
            await she.post("/ask/", {"text": "Why?"})
            answer = await newest()
            await until(lambda: in_thread(Message.objects.filter(pk=answer.pk, status="running").exists)())
            for _ in range(2):
                response = await she.post(f"/m/{answer.pk}/stop/")
                assert response.headers["location"].endswith(f"#m-{answer.pk}")
                stopped = await row(answer.pk)
                assert stopped.status == Status.STOPPED
                assert stopped.metadata["ended"]["by"] == str(alice.pk)

    play(story())


def test_a_stopped_answer_goes_on_in_the_same_message(alice):
    async def story():
        first = await in_thread(begun)(alice, Status.STOPPED)
        async with house():
            she = await visitor(alice)
            response = await she.post(f"/m/{first.answer}/continue/")
            assert response.headers["location"] == f"/c/{first.conversation}/#m-{first.answer}"
            assert (await row(first.answer)).status in LIVE
            assert await in_thread(counts)() == (1, 2, 1)

    play(story())


@pytest.mark.parametrize("kept", [0, 1])
def test_retry_asks_again_in_the_same_message_only_where_nothing_was_kept(alice, kept):
    async def story():
        first = await in_thread(begun)(alice, Status.FAILED)
        await in_thread(Message.objects.filter(pk=first.answer).update)(next_seq=kept)
        async with house():
            she = await visitor(alice)
            key = {"key": str(uuid4())}
            for _ in range(2):
                assert (await she.post(f"/m/{first.answer}/continue/", key)).status_code in (303, 409)
            assert (await in_thread(counts)())[1] == 2 + kept
            assert (await row(first.answer)).status in (LIVE if not kept else [Status.FAILED])

    play(story())


def test_the_oldest_turns_are_left_out_where_that_is_asked(alice):
    async def story():
        first = await in_thread(begun)(alice)
        last = first
        for number in range(6):
            last = await in_thread(more)(alice, last, f"Question {number} " * 50)
        async with house():
            she = await visitor(alice)
            form = {"text": "And now?", "parent": str(last.answer), "leave_out": "1"}
            await she.post(f"/c/{first.conversation}/ask/", form)
            answer = await newest()
            assert answer.sent_from_id not in (None, first.question)
            for parent in (uuid4(), "x"):
                response = await she.post(f"/c/{first.conversation}/ask/", form | {"parent": str(parent)})
                assert response.status_code in (400, 409)

    play(story())


ASKED = {
    "a question": {"text": "Mine?", "model": DEMO},
    "no words": {"text": " ", "model": DEMO},
    "a model that nobody has": {"text": "Mine?", "model": "nobody:none"},
    "without the oldest": {"text": "Mine?", "model": DEMO, "leave_out": "1"},
    "below an answer": {"text": "Mine?", "model": DEMO, "parent": "{answer}"},
}


@BY_SCRIPT
@pytest.mark.parametrize("who", ["bob", "charlie", "dana"])
@pytest.mark.parametrize("form", ASKED.values(), ids=ASKED.keys())
def test_in_the_conversation_of_another_person_nobody_asks_whatever_they_send(
    request, alice, who, form, headers
):
    """It is one that does not exist: both say the same, and nothing is written."""
    person = request.getfixturevalue(who)

    async def story():
        async with house():
            first, other = await in_thread(begun)(alice), await visitor(person)
            before = await in_thread(counts)()
            stands = await in_thread(Conversation.objects.values().get)(pk=first.conversation)
            sent = {name: value.format(answer=first.answer) for name, value in form.items()}
            said = [
                await other.post(f"/c/{pk}/ask/", sent, headers=headers)
                for pk in (first.conversation, uuid4())
            ]
            assert [answer.status_code for answer in said] == [404, 404]
            assert await in_thread(counts)() == before
            assert await in_thread(Conversation.objects.values().get)(pk=first.conversation) == stands

    play(story())
