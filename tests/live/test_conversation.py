"""What a page of a conversation hears of what happens elsewhere: questions, siblings, deletions, titles."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest

from chatapp import store
from chatapp.core.items import Item, Kind
from chatapp.live.conversation import STALE
from chatapp.providers.configured import Catalog
from chatapp.store import deleting, in_thread, titles
from chatapp.store.models import Message
from tests.support.script import held, response, text
from tests.support.stage import ScriptedProvider, Stage, play, stage
from tests.support.tabs import Tab

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]


@asynccontextmanager
async def answered(tmp_path, *words: str):
    """A conversation of so many questions and answers, and a tab that shows it."""
    scripts = [response(text(each)) for each in (*words, "And that.")]
    async with stage(Catalog((), demo=ScriptedProvider(scripts)), tmp_path) as on:
        answers: list[Message] = []
        for number, _ in enumerate(words):
            answers.append(await on.ask(f"Question {number}?", at=answers[-1].id if answers else None))
        yield on, answers, await Tab(on).open()


def places(tab: Tab) -> list[str]:
    """What the pickers say, from top to bottom."""
    return [each.text for each in tab.screen.root.below() if each.tag == "output"]


async def delete(message: Message) -> deleting.Deletion:
    return await in_thread(deleting.delete_below)(message)


async def question_of(on: Stage, answer: Message) -> Message:
    return await on.row(answer.parent_id)


def is_stale(tab: Tab) -> bool:
    return tab.screen.thread.attributes.get("data-stale") == STALE


def test_a_question_that_is_asked_elsewhere_is_shown_with_its_answer(tmp_path):
    async def story():
        async with answered(tmp_path, "One.") as (on, (first,), tab):
            await on.ask("And?", at=first.id)
            await tab.sees_the_end()
            await tab.looks_as_if_just_loaded()
            assert "Answer finished" in tab.screen.said[-1]

    play(story())


@pytest.mark.parametrize("before", [0, 1])
def test_questions_that_were_asked_while_the_line_was_broken_are_shown_afterwards(tmp_path, before):
    async def story():
        async with answered(tmp_path, *["One."] * before) as (on, answers, tab):
            tab.drop()
            last = answers[-1].id if answers else None
            for words in ("And?", "And then?"):
                last = (await on.ask(words, at=last)).id
            tab.join()
            await tab.sees_the_end()
            await tab.looks_as_if_just_loaded()

    play(story())


def test_a_second_answer_that_ended_while_the_line_was_broken_is_shown_whole(tmp_path):
    reached = asyncio.Event()

    async def story():
        scripts = [response(text("One.")), held(text("Half of it"), reached=reached)]
        async with stage(Catalog((), demo=ScriptedProvider(scripts)), tmp_path) as on:
            first = await on.ask("Question?")
            tab = await Tab(on).open()
            second = await on.begin("And?", at=first.id)
            await tab.sees(lambda screen: "Half of it" in screen.thread.text)
            tab.drop()
            await in_thread(finish)(second, "All of it.")
            tab.join()
            await tab.sees(lambda screen: "All of it." in screen.thread.text)
            await tab.sees_the_end()
            await tab.looks_as_if_just_loaded()

    play(story())


def finish(answer, words: str) -> None:
    """As the process that runs it does, in words that the broken line did not carry."""
    claim = store.Claim(answer, Message.objects.get(pk=answer).attempt)
    item = Item(key="part-0", kind=Kind.ASSISTANT_MESSAGE, text=words)
    store.finish(claim, [item], store.Measured(timings={"part-0": {"start": 0, "end": 1}}))


def test_another_answer_is_counted_where_the_old_branch_is_shown(tmp_path):
    async def story():
        async with answered(tmp_path, "One.", "Two.") as (on, (first, second), tab):
            await on.again(first.id)
            await tab.sees(lambda _: places(tab) == ["1 / 2"])
            await on.again(second.id)
            await tab.sees(lambda _: places(tab) == ["1 / 2", "1 / 2"])
            assert tab.screen.thread.attributes["data-leaf"] == str(second.id)

    play(story())


def test_a_question_in_other_words_is_counted_where_the_old_one_is_shown(tmp_path):
    async def story():
        async with answered(tmp_path, "One.", "Two.") as (on, (first, _), tab):
            await on.ask("In other words?", at=first.id)
            await tab.sees(lambda _: places(tab) == ["1 / 2"])
            await on.ask("The first one in other words?")
            await tab.sees(lambda _: places(tab) == ["1 / 2", "1 / 2"])

    play(story())


def test_an_answer_to_a_question_that_lost_its_own_is_shown(tmp_path):
    async def story():
        async with answered(tmp_path, "One.") as (on, (first,), tab):
            await delete(first)
            await tab.open()
            assert len(tab.screen.articles) == 1
            await on.again(first.id)
            await tab.sees_the_end()
            await tab.looks_as_if_just_loaded()

    play(story())


def test_a_sibling_that_is_deleted_is_counted_no_more_until_it_comes_back(tmp_path):
    async def story():
        async with answered(tmp_path, "One.") as (on, (first,), tab):
            other = await on.again(first.id)
            await tab.open()
            assert places(tab) == ["2 / 2"]
            deletion = await delete(first)
            await tab.sees(lambda _: places(tab) == [])
            await in_thread(deleting.undo)(deletion.id, on.conversation.owner)
            await tab.sees(lambda _: places(tab) == ["2 / 2"])
            assert not is_stale(tab) and other.id

    play(story())


def test_a_page_whose_end_is_deleted_says_so_until_it_comes_back(tmp_path):
    async def story():
        async with answered(tmp_path, "One.", "Two.") as (on, (_, second), tab):
            deletion = await delete(await question_of(on, second))
            await tab.sees(lambda _: is_stale(tab))
            assert STALE in tab.screen.said
            await in_thread(deleting.undo)(deletion.id, on.conversation.owner)
            await tab.sees(lambda _: not is_stale(tab))
            await on.ask("And?", at=second.id)
            await tab.sees_the_end()
            await tab.looks_as_if_just_loaded()

    play(story())


def test_a_page_whose_end_was_deleted_while_the_line_was_broken_says_so(tmp_path):
    async def story():
        async with answered(tmp_path, "One.", "Two.") as (on, (first, second), tab):
            tab.drop()
            await delete(await question_of(on, second))
            tab.join()
            await tab.sees(lambda _: is_stale(tab))
            await on.ask("And?", at=first.id)
            await on.ask("In other words?")
            assert [each.attributes["data-message-id"] for each in tab.screen.articles][-1] == str(second.id)

    play(story())


def test_a_deletion_of_what_is_shown_ends_a_page_that_watches_an_answer(tmp_path):
    async def story():
        async with answered(tmp_path, "One.") as (on, (first,), tab):
            answer = await on.begin("And?", at=first.id)
            await on.engine.stop(answer)
            await delete(first)
            await tab.sees(lambda _: is_stale(tab))

    play(story())


def test_a_title_that_was_found_is_shown(tmp_path):
    async def story():
        async with answered(tmp_path, "One.") as (on, _, tab):
            await in_thread(titles.retitle)(on.conversation.id, "A new name")
            await tab.sees(lambda screen: screen.thread.attributes.get("data-title") == "A new name")

    play(story())
