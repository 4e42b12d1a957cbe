"""Turns that end in every way through the real engine are counted once, whenever they are counted."""

from __future__ import annotations

import asyncio
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth import get_user_model

from chatapp import store
from chatapp.accounts.store import accounts
from chatapp.accounts.store.leaving import leave
from chatapp.branches.store import forking
from chatapp.catalog.models import KnownModel
from chatapp.core.counting import COUNTED
from chatapp.core.events import Finish
from chatapp.core.spread import bucket
from chatapp.insight.models import ModelDay, PersonDay
from chatapp.insight.store import sums as figures
from chatapp.providers.base import ProviderError, Trouble
from chatapp.store import in_thread
from chatapp.store.models import Conversation, Message, Status
from tests.support.script import Ticks, call, held, response, text, thought
from tests.support.stage import ScriptedCatalog, ScriptedProvider, Stage, play, stage
from tests.support.sums import by_model, by_person, in_all

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]

BUSY = ProviderError(Trouble.CREDIT, "There is no credit left.")


def model(*scripts) -> ScriptedCatalog:
    return ScriptedCatalog(ScriptedProvider(scripts))


async def sums() -> Counter[str]:
    return await in_thread(in_all)()


def ends(counts: Counter[str]) -> dict[str, int]:
    return {name.partition(":")[2]: n for name, n in counts.items() if name.startswith("ended:")}


def test_an_answer_with_thoughts_and_calls_adds_all_its_rounds_once(tmp_path):
    ticks = Ticks()
    scripts = [
        response(thought(key="rs_1", lasts=2.0), call(), ticks=ticks),
        response(thought(key="rs_2", lasts=5.0), text("Noon."), ticks=ticks),
    ]

    async def story():
        async with stage(model(*scripts), tmp_path, now=ticks) as on:
            await on.ask()
            found = await sums()
            assert (found["answers"], found["turns"], found["thoughts"]) == (1, 1, 2)
            assert found["thinking_ms"] == 7000
            assert found[f"thought:{bucket(2000)}"] == found[f"thought:{bucket(5000)}"] == 1
            assert (found["input"], found["output"], found["replayed"]) == (20, 10, 1)
            assert ends(found) == {"complete": 1}
            # Ten tokens were written in all: an answer of the shortest length, that thought for seven seconds.
            assert found[f"length:0:{bucket(7000)}"] == 1
            tools = {name: number for name, number in found.items() if name.startswith("tool:")}
            assert {name.rpartition(":")[2] for name in tools} <= {"calls", "failed", "ms"}
            assert sum(number for name, number in tools.items() if name.endswith(":calls")) == 1

    play(story())


def test_models_that_invent_tools_fill_no_day_with_their_names():
    many = Counter({f"tool:t{n}:calls": 1 for n in range(200)})
    kept = figures.added(Counter(turns=1), many)
    assert len(kept) == figures.MOST_TOOLS + 2 and sum(kept.values()) == 201
    assert kept[f"tool:{figures.OTHER_TOOLS}:calls"] == 200 - figures.MOST_TOOLS
    assert figures.added(kept, Counter({"tool:t0:calls": 1}))["tool:t0:calls"] == 2


@pytest.mark.one_process("its clock counts ticks")
def test_a_stopped_answer_that_goes_on_is_one_answer_of_two_turns(tmp_path):
    ticks = Ticks()

    async def story():
        reached = asyncio.Event()
        rest = response(thought(key="rs_2", lasts=1.0), text("Because."), ticks=ticks)
        async with stage(model(held(thought("Hm."), reached=reached), rest), tmp_path, now=ticks) as on:
            answer = await on.begin()
            await reached.wait()
            ticks.seconds += 3
            await on.engine.stop(answer)
            assert (await sums())["thinking_ms"] == 3000
            await on.go_on(answer)
            found = await sums()
            assert (found["answers"], found["turns"], found["thoughts"]) == (1, 2, 2)
            assert (found["thinking_ms"], found["input"]) == (4000, 10)
            assert found["dropped:cut turn"] == 1
            assert ends(found) == {"stopped": 1, "complete": 1}

    play(story())


def test_a_failure_counts_by_its_kind_and_its_retry_does_not_make_it_undone(tmp_path):
    async def story():
        async with stage(model(response(BUSY), response(text())), tmp_path) as on:
            failed = await on.ask()
            assert failed.status == Status.FAILED
            await on.go_on(failed.pk)
            found = await sums()
            assert ends(found) == {"failed:credit": 1, "complete": 1}
            assert (found["answers"], found["turns"]) == (1, 2)

    play(story())


def test_an_answer_at_the_models_limit_is_told_apart_from_one_that_somebody_stopped(tmp_path):
    async def story():
        async with stage(model(response(text(), finish=Finish.LENGTH)), tmp_path) as on:
            await on.ask()
            assert ends(await sums()) == {"length": 1}

    play(story())


def test_what_an_answer_cost_is_counted_at_the_price_of_its_time(tmp_path):
    KnownModel.objects.create(name="scripted:model", input_price=Decimal(2), output_price=Decimal(10))

    async def story():
        async with stage(model(response(text())), tmp_path) as on:
            await on.ask()
            await in_thread(KnownModel.objects.update)(input_price=Decimal(1000))
            assert (await sums())["cost"] == 10 * 2 + 5 * 10
            await in_thread(KnownModel.objects.all().delete)()
            await on.ask()
            found = await sums()
            assert (found["cost"], found["unpriced"], found["turns"]) == (70, 1, 2)

    play(story())


async def _every_end(on: Stage, reached: asyncio.Event) -> None:
    for _ in range(4):
        await on.ask()
    answer = await on.begin()
    await reached.wait()
    await on.engine.stop(answer)
    await on.again(answer)


def _every_script(reached: asyncio.Event) -> list[Any]:
    return [
        response(thought(), text()),
        response(thought(), BUSY),
        response(text(), finish=Finish.LENGTH),
        response(thought(), call()),
        response(thought(), text()),
        held(thought(), text(), reached=reached),
        response(text()),
    ]


def test_answers_from_before_anything_was_kept_are_counted_as_if_it_had_been(tmp_path):
    """Where each of them ended once, today, and no price was known."""

    async def story():
        reached = asyncio.Event()
        async with stage(model(*_every_script(reached)), tmp_path) as on:
            await _every_end(on, reached)
            await in_thread(forget_and_count)()

    play(story())


def forget_and_count() -> None:
    kept = by_model(), by_person()
    for row in Message.objects.all():
        Message.objects.filter(pk=row.pk).update(
            metadata={name: value for name, value in row.metadata.items() if name != COUNTED}
        )
    ModelDay.objects.all().delete()
    PersonDay.objects.all().delete()
    assert figures.are_missing()
    assert figures.count_anew() == 6
    assert (by_model(), by_person()) == kept
    assert not figures.are_missing()


def test_an_answer_from_before_anything_was_kept_goes_on_and_is_counted_once(tmp_path):
    async def story():
        async with stage(model(response(text(), finish=Finish.LENGTH), response(text())), tmp_path) as on:
            answer = await on.ask()
            await in_thread(forget_and_count_one)()
            await on.go_on(answer.pk)
            found = await sums()
            assert (found["answers"], found["turns"], found["input"]) == (1, 2, 20)

    play(story())


def forget_and_count_one() -> None:
    row = Message.objects.get(role="assistant")
    row.metadata.pop(COUNTED)
    row.save()
    ModelDay.objects.all().delete()
    PersonDay.objects.all().delete()
    figures.count_anew()


def test_a_fork_counts_nothing_until_it_goes_on_and_then_only_what_comes(tmp_path):
    async def story():
        scripts = response(thought(), text(), finish=Finish.LENGTH), response(text())
        async with stage(model(*scripts), tmp_path) as on:
            answer = await on.ask()
            before = await sums()
            copy = await in_thread(forked)(answer)
            assert await sums() == before
            assert await on.engine.go_on(copy)
            await on.end(copy)
            found = await sums()
            assert (found["answers"], found["turns"], found["input"]) == (1, 2, 20)
            used = await in_thread(lambda: PersonDay.objects.get(user__username="bob"))()
            assert (used.answers, used.turns, used.input) == (0, 1, 10)

    play(story())


def forked(answer: Message):
    bob, _ = get_user_model().objects.get_or_create(username="bob")
    conversation = forking.fork(answer, by=bob).conversation
    return Conversation.objects.get(pk=conversation.pk).head_id


def test_who_leaves_is_named_no_more_and_the_sums_stay(tmp_path):
    async def story():
        async with stage(model(response(text())), tmp_path) as on:
            await on.ask()

    play(story())
    alice = get_user_model().objects.get(username="alice")
    leave(alice)
    assert [(row.user_id, row.input) for row in PersonDay.objects.all()] == [(None, 10)]
    assert in_all()["answers"] == 1


def test_the_first_account_goes_on_with_what_a_terminal_used():
    terminal = accounts.who_asks_from_a_terminal()
    started = store.open_conversation(terminal, "Why?", tools=[], asked=store.AskedFor(model="a:b"))
    store.stop(started.answer, None)
    dana = get_user_model()(username="dana")
    dana.set_password("a long enough password")
    accounts.start_account(dana, by_owner=True)
    assert PersonDay.objects.get().user == dana
