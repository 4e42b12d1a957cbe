"""Every open page shows what waits, in the moment it is kept, changed, sent or taken away; and who keeps nothing pays nothing."""

from __future__ import annotations

import asyncio

import pytest

from chatapp.next_questions.page import NOTHING
from chatapp.next_questions.part import NextQuestions
from tests.support.counting import counted
from tests.support.listening import Socket
from tests.support.script import held, response, text
from tests.support.stage import play, until

from .keeping import gated, keeping

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]


def shown(socket: Socket) -> str:
    """What stands above the composer after everything that was told."""
    said = [word[1] for word in socket.said if word[0] == "put" and word[1].startswith('<div id="next"')]
    return said[-1] if said else ""


async def tabs(it, leaf, count: int = 2) -> list[Socket]:
    return [await Socket(f"/ws{it.path}?leaf={leaf}", it.she.session).open() for _ in range(count)]


async def all_see(sockets, look) -> None:
    for each in sockets:
        await each.sees(lambda socket: look(shown(socket)))


def test_every_tab_shows_each_of_its_changes(alice):
    async def story():
        async with keeping(alice, alone=False) as it:
            answer = await it.on.begin("Why?")
            every = await tabs(it, answer)
            await it.keep("Rosebud", answer)
            await all_see(every, lambda said: "Rosebud" in said and "when this is complete" in said)
            late = await tabs(it, answer, 1)
            await all_see(late, lambda said: "Rosebud" in said)
            every += late
            await it.press("edit", answer)
            await all_see(every, lambda said: "<textarea" in said)
            await it.press("save", answer, next_text="Rosehip")
            await all_see(every, lambda said: "Rosehip" in said and "<textarea" not in said)
            await it.press("remove", answer)
            await all_see(every, lambda said: said == NOTHING)
            await it.keep("Again", answer)
            it.go.set()
            await it.whole(2)
            for each in every:
                await each.sees(lambda socket: "Again" in str([w for w in socket.said if w[0] == "add"]))
            await all_see(every, lambda said: said == NOTHING)
            for each in every:
                await each.leave()

    play(story())


def test_every_tab_is_told_that_it_was_not_sent(alice):
    async def story():
        reached = asyncio.Event()
        async with keeping(alice, held(text("Half"), reached=reached), response(text()), alone=False) as it:
            answer = await it.on.begin("Why?")
            every = await tabs(it, answer)
            await it.keep("And then?", answer)
            await reached.wait()
            await it.stop(answer)
            await all_see(every, lambda said: "was stopped" in said and "Send now" in said)
            await it.she.post(f"/m/{answer}/continue/")
            await all_see(every, lambda said: "Next, when this is complete" in said)
            await it.whole(2)
            await all_see(every, lambda said: said == NOTHING)
            for each in every:
                await each.leave()

    play(story())


def test_the_end_of_an_answer_is_told_before_what_is_asked_at_once_behind_it(alice):
    async def story():
        go = asyncio.Event()
        long = text("A whole answer with a table.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n" * 40)
        async with keeping(alice, gated(go, response(long)), response(text("So.")), alone=False) as it:
            answer = await it.on.begin("Why?")
            (tab,) = await tabs(it, answer, 1)
            await it.keep("Rosebud", answer)
            await tab.sees(lambda socket: "Rosebud" in shown(socket))
            go.set()
            await tab.sees(lambda socket: _added(socket, "Rosebud") is not None)
            ends = [at for at, word in enumerate(tab.said) if word[:2] == ["state", "version"] and word[2]]
            assert ends and ends[0] < _added(tab, "Rosebud")
            await tab.leave()

    play(story())


def test_a_page_that_missed_both_is_told_of_the_answer_and_of_what_followed(alice):
    """It shows the beginning of an answer; while its line was broken that ended, and the next question was asked by itself."""

    async def story():
        go = asyncio.Event()
        scripts = (gated(go, response(text("First words."))), response(text("Second words.")))
        async with keeping(alice, *scripts, alone=False) as it:
            answer = await it.begin(keep="Rosebud")
            go.set()
            await it.whole(2)
            (tab,) = await tabs(it, answer, 1)
            await tab.sees(lambda socket: _added(socket, "Rosebud") is not None)
            assert "First words." in str(tab.said[: _added(tab, "Rosebud")])
            assert shown(tab) in ("", NOTHING)
            await tab.leave()

    play(story())


def _added(socket: Socket, words: str) -> int | None:
    """Where among what was told this was put at the end of the page."""
    added = (
        at for at, word in enumerate(socket.said) if word[:2] == ["add", "messages"] and words in word[2]
    )
    return next(added, None)


def test_a_list_is_not_drawn_for_it(alice):
    async def story():
        async with keeping(alice) as it:
            answer = await it.on.begin("Why?")
            listening = await Socket("/ws/", it.she.session).open()
            await it.keep("And then?", answer)
            await it.press("remove", answer)
            await it.stop(answer)
            await listening.is_told("row")
            assert [word[0] for word in listening.said] == ["row"]
            await listening.leave()

    play(story())


def test_who_keeps_nothing_is_asked_nothing(alice, monkeypatch):
    """What asks by itself looks now and then; the end of an answer for which nothing waits is no reason to."""

    async def story():
        with counted(monkeypatch) as count:
            async with keeping(alice) as it:
                part = it.on.engine.part(NextQuestions)
                part._look_seconds = 3600.0
                work = asyncio.create_task(part.keep())

                async def _has_looked():
                    return part._awaited is not None

                answer = await it.on.begin("Why?")
                await until(_has_looked)
                before = _looks(count)
                await it.end(answer)
                await it.on.ask("And?", at=answer)
                assert _looks(count) == before
                work.cancel()

    play(story())


def _looks(count) -> int:
    return sum("chatapp_nextquestion" in sql for sql in count.statements)
