"""A conversation's title comes by itself, from its own model, and never instead of a person's."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack

import pytest

from chatapp.providers.base import OFF, ProviderError, Trouble
from chatapp.providers.configured import Catalog
from chatapp.store import in_thread, titles
from chatapp.store.models import Conversation, TitledBy
from chatapp.turns.title_from_model import Titles
from tests.support.faults import locked, short_patience
from tests.support.providers import TOOLS, Line, catalog_for
from tests.support.script import call, held, response, text, thought
from tests.support.stage import ScriptedCatalog, ScriptedProvider, play, stage, until

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

WORDS = "Why is the sky dark at night?"
ANSWER = response(thought(), text("Because it is young."))
LINES = [
    Line("openai", "responses"),
    Line("anthropic", "messages"),
    Line("deepseek", "chat", "@deepseek"),
    Line("openrouter", "chat", "@openrouter"),
]


async def titled(on):
    row = await in_thread(Conversation.objects.get)(pk=on.conversation.pk)
    return row.title, row.titled_by


def told(*scripts, tmp_path, story, **more):
    """Alice asks and is answered by the first script; the others answer for the title."""
    provider = ScriptedProvider([ANSWER, *scripts])

    async def play_it():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            await on.ask(WORDS)
            assert await titled(on) == (WORDS, TitledBy.WORDS)
            await story(on, Titles(on.engine.catalog, **more), provider)

    play(play_it())


def test_the_title_request_carries_the_exchange_and_nothing_else(tmp_path):
    async def story(on, finder, provider):
        await finder.find_missing()
        assert await titled(on) == ("Olbers' paradox", TitledBy.MODEL)
        turn, ask = provider.asked
        (question,) = ask.history.steps
        assert WORDS in question.text and "Because it is young." in question.text
        assert "Hm." not in question.text
        assert (ask.effort, ask.conversation) == (OFF, "")
        assert (list(ask.tools), ask.history.replayed) == ([], 0)
        assert (turn.effort, turn.instructions) == ("", "Be brief.")
        assert ask.instructions != turn.instructions
        await finder.find_missing()
        assert len(provider.asked) == 2

    told(
        response(text('"Olbers\u2019 paradox"\n\nThat is it.'.replace("\u2019", "'"))),
        tmp_path=tmp_path,
        story=story,
    )


@pytest.mark.parametrize(
    "script",
    [
        response(ProviderError(Trouble.BUSY, "Busy.", again=True)),
        response(text("Half a"), ProviderError(Trouble.BROKEN, "Broken.")),
        response(thought()),
        response(text("\u202e \u200b")),
        response(text("x" * 60_000)),
        response(call()),
    ],
    ids=["busy", "broken", "only a thought", "only hidden signs", "endless", "a call"],
)
def test_where_the_model_finds_none_the_words_stay_and_nobody_asks_again(tmp_path, script):
    async def story(on, finder, provider):
        await finder.find_missing()
        await finder.find_missing()
        assert (await titled(on))[0] == WORDS
        assert len(provider.asked) == 2

    told(script, tmp_path=tmp_path, story=story)


def test_a_model_that_takes_too_long_is_not_waited_for(tmp_path):
    async def story(on, finder, provider):
        began = time.monotonic()
        await finder.find_missing()
        assert time.monotonic() - began < 20
        assert (await titled(on))[0] == WORDS

    told(held(text(), reached=asyncio.Event()), tmp_path=tmp_path, story=story, patience=0.1)


def test_a_person_who_is_faster_keeps_their_title(tmp_path):
    reached = asyncio.Event()
    go_on = asyncio.Event()

    async def script(ask, keys):
        reached.set()
        await go_on.wait()
        async for event in response(text("The model's"))(ask, keys):
            yield event

    async def story(on, finder, provider):
        finding = asyncio.create_task(finder.find_missing())
        await reached.wait()
        await in_thread(titles.retitle)(on.conversation.pk, "Mine")
        go_on.set()
        await finding
        assert await titled(on) == ("Mine", TitledBy.PERSON)

    told(script, tmp_path=tmp_path, story=story)


def test_two_processes_ask_once(tmp_path):
    async def story(on, finder, provider):
        other = Titles(on.engine.catalog)
        await asyncio.gather(finder.find_missing(), other.find_missing())
        assert len(provider.asked) == 2
        assert (await titled(on))[0] == "Stars"

    told(response(text("Stars")), tmp_path=tmp_path, story=story)


def test_an_answer_that_failed_gives_no_title_and_the_next_one_does(tmp_path):
    provider = ScriptedProvider(
        [response(ProviderError(Trouble.BUSY, "Busy.")), ANSWER, response(text("Stars"))]
    )

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            finder = Titles(on.engine.catalog)
            failed = await on.ask(WORDS)
            await finder.find_missing()
            assert len(provider.asked) == 1
            await on.again(failed.pk)
            await finder.find_missing()
            assert (await titled(on))[0] == "Stars"

    play(story())


def test_the_demo_is_not_asked(tmp_path):
    async def story():
        async with stage(Catalog([]), tmp_path, model="demo:thinker") as on:
            await on.ask("Hello")
            await Titles(on.engine.catalog).find_missing()
            assert (await titled(on))[0] == "Hello"

    play(story())


def test_a_title_comes_as_soon_as_the_answer_has_ended_and_when_somebody_wants_it_anew(tmp_path):
    provider = ScriptedProvider([ANSWER, response(text("Stars")), response(text("Darkness"))])

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            finding = asyncio.create_task(Titles(on.engine.catalog).keep_finding(look=3600))

            async def said(title):
                return (await titled(on))[0] == title

            await asyncio.sleep(0)
            await on.ask(WORDS)
            await until(lambda: said("Stars"))
            await in_thread(titles.retitle)(on.conversation.pk, "")
            await until(lambda: said("Darkness"))
            finding.cancel()

    play(story())


@pytest.mark.parametrize("line", LINES, ids=str)
def test_every_protocol_words_the_request_as_its_provider_takes_it(up, tmp_path, line):
    name = up.add("titles", {"turns": [{"items": [{"reasoning": {"summary": "Hm."}}, {"text": "*Stars*"}]}]})
    model = f"{line.provider}:{name}{line.suffix}"

    async def story():
        async with stage(catalog_for(up), tmp_path, tools=TOOLS, model=model) as on:
            row = await on.ask(WORDS)
            assert row.status == "complete", row.metadata
            await Titles(on.engine.catalog).find_missing()
            assert (await titled(on))[0] == "Stars"

    play(story())
    turn, title = up.requests("titles")
    assert title["status"] == 200, title
    body = title["body"]
    assert "tools" in turn["body"] and "tools" not in body
    assert len(body.get("input") or body["messages"]) <= 2
    assert body.get("max_tokens", 0) <= 2048
    assert body.get("store") in (None, False)
    assert "prompt_cache_key" not in body
    assert EFFORTS[line.provider](body), body


EFFORTS = {
    "openai": lambda body: body["reasoning"]["effort"] == "none",
    "anthropic": lambda body: body["output_config"]["effort"] == "low",
    "deepseek": lambda body: body["thinking"] == {"type": "disabled"},
    "openrouter": lambda body: body["reasoning"] == {"enabled": False},
}


def test_a_title_that_cannot_be_written_is_written_later_and_not_asked_for_again(tmp_path, caplog):
    """The database is locked while the model finds it."""
    busy = ExitStack()

    async def locking(ask, keys):
        busy.enter_context(locked())
        async for event in response(text("Olbers' paradox"))(ask, keys):
            yield event

    async def story(on, finder, provider):
        finding = asyncio.create_task(finder.find_missing())

        async def waits():
            return "a title waits for the database" in caplog.text

        await until(waits)
        busy.close()
        await finding
        assert await titled(on) == ("Olbers' paradox", TitledBy.MODEL)
        assert len(provider.asked) == 2

    caplog.set_level("INFO")
    with short_patience(), busy:
        told(locking, tmp_path=tmp_path, story=story, again=0.01)
