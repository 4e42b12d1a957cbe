"""What is streamed is what a reload shows: for any answer, whenever one joins and however often the line breaks."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings

from chatapp import store
from chatapp.core.draft import Draft
from chatapp.core.events import (
    Asked,
    Event,
    Finish,
    ItemDelta,
    ItemDone,
    ItemStarted,
    ResponseEnded,
    Retrying,
)
from chatapp.core.items import Item, Kind
from chatapp.live.growing_item import GrowingItem
from chatapp.markdown import render_blocks_within
from chatapp.pages.operations import Operation
from chatapp.providers.base import ProviderError, Trouble
from chatapp.providers.configured import Catalog
from chatapp.store import in_thread
from chatapp.store.models import Status
from tests.browser.words import RICH, THOUGHT
from tests.markdown.test_laws import LINES
from tests.support.patience import PATIENCE
from tests.support.screen import Element, Screen
from tests.support.stage import ScriptedProvider, Stage, play, stage
from tests.support.tabs import Said, Steps, Tab, bodies, page_html
from tests.turns.test_loop import CLOCK

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

MARKDOWN = ("reasoning", "assistant_message")


class BlocksStay:
    """A finished block stays the same element while its item grows on one connection. Afterwards, and on a page that was
    loaded or came back meanwhile, it goes only where its HTML became another. (A loaded page shows what still grows as blocks
    too; the first news says which of them are finished. One that comes back is told them as they are by then: a definition
    that came late counts. On a busy machine one frame brings that and the end.)"""

    after = "operation"

    def __init__(self) -> None:
        self._seen: dict[str, list[tuple[Element, Any]]] = {}
        self._from_the_start: set[str] = set()

    def joins(self) -> None:
        self._from_the_start.clear()

    def __call__(self, screen: Screen) -> None:
        for body in bodies(screen, *MARKDOWN):
            now = [each for each in body.elements if "data-growing" not in each.attributes]
            if not now and not self._seen.get(body.id):
                self._from_the_start.add(body.id)
            may_change = body.id not in self._from_the_start or not grows(body)
            for (before, shape), after in zip(self._seen.get(body.id, []), now, strict=False):
                assert after is before or (may_change and after.shape() != shape)
            self._seen[body.id] = [(each, each.shape()) for each in now]


def grows(body: Element) -> bool:
    return "data-open" in body.attributes or "data-open" in (body.parent or body).attributes


def pieces(text: str, cuts: Sequence[int]) -> Iterator[str]:
    places = sorted({cut % (len(text) + 1) for cut in cuts})
    for start, end in zip([0, *places], [*places, len(text)], strict=True):
        if start < end:
            yield text[start:end]


def said(key: str, kind: Kind, text: str, cuts: Sequence[int]) -> Iterator[Event]:
    yield ItemStarted(key, kind)
    for piece in pieces(text, cuts):
        yield ItemDelta(key, piece)
    yield ItemDone(Item(key=key, kind=kind, text=text, wire={"id": key, "encrypted_content": "sealed"}))


def called(key: str, call_id: str = "call_1") -> Iterator[Event]:
    names = {"name": "clock", "call_id": call_id}
    yield ItemStarted(key, Kind.TOOL_CALL, **names)
    for letters in "{ }":
        yield ItemDelta(key, letters)
    yield ItemDone(Item(key=key, kind=Kind.TOOL_CALL, text="{ }", **names))


def ended(finish: Finish = Finish.STOP) -> Iterator[Event | None]:
    yield ResponseEnded(finish)
    yield None


@asynccontextmanager
async def watched(tmp_path, **world):
    steps = Steps()
    async with stage(Catalog((), demo=ScriptedProvider([steps.script])), tmp_path, **world) as on:
        yield on, steps


MOVES = st.sampled_from(["go on", "go on", "go on", "let it work", "open", "drop", "join", "reload"])


class Tabs:
    """Several of them, in which this and that happens."""

    def __init__(self, on: Stage, looks: Sequence[Callable[[], Callable[[Screen], None]]]) -> None:
        self.on, self.looks = on, looks
        self.tabs: list[Tab] = []

    async def open(self) -> None:
        self.tabs.append(await Tab(self.on, *(look() for look in self.looks)).open())

    async def happens(self, move: str, which: int) -> None:
        tab = self.tabs[which % len(self.tabs)]
        match move:
            case "let it work":
                await asyncio.sleep(0.003)
            case "open" if len(self.tabs) < 3:
                await self.open()
            case "drop":
                tab.drop()
            case "join":
                tab.join()
            case "reload":
                tab.looks = tuple(look() for look in self.looks)
                await tab.open()

    async def while_it_happens(self, steps: Steps, events: Sequence[Said], moves: Sequence[Any]) -> None:
        for n, event in enumerate(events):
            await steps.say(event)
            if moves:
                await self.happens(*moves[n % len(moves)])

    async def end_as_if_just_loaded(self) -> None:
        for tab in self.tabs:
            if tab._work is None:
                tab.join()
            await tab.sees_the_end()
            await tab.looks_as_if_just_loaded()
            tab.drop()


async def streamed(on: Stage, steps: Steps, tabs: Tabs, events: Sequence[Said], moves: Sequence[Any]) -> None:
    await tabs.open()
    answer = await on.begin()
    await tabs.while_it_happens(steps, events, moves)
    await on.end(answer)
    await tabs.end_as_if_just_loaded()


def laws(examples: int):
    """Fewer of them across processes, where each takes longer."""
    if settings.REDIS_URL:
        examples = 3
    quiet = [hypothesis.HealthCheck.function_scoped_fixture, hypothesis.HealthCheck.too_slow]
    return hypothesis.settings(max_examples=examples, deadline=None, suppress_health_check=quiet)


TEXTS = st.lists(st.sampled_from(LINES), min_size=1, max_size=25).map("\n".join).filter(str.strip)
CUTS = st.lists(st.integers(0, 2000), max_size=12)
MOVING = st.lists(st.tuples(MOVES, st.integers(0, 5)), max_size=15)


@laws(30)
@hypothesis.given(text=TEXTS, thought=TEXTS, cuts=CUTS, moves=MOVING)
def test_any_answer_ends_as_a_reload_shows_it(tmp_path, text, thought, cuts, moves):
    async def story():
        async with watched(tmp_path) as (on, steps):
            events = [
                *said("rs_1", Kind.REASONING, thought, cuts),
                *said("m_1", Kind.ASSISTANT_MESSAGE, text, cuts),
            ]
            await streamed(on, steps, Tabs(on, [BlocksStay]), [*events, *ended()], moves)

    play(story())


def numbered(count: int) -> str:
    """Different words in blocks of many kinds."""
    heads = ("", "# ", "- ", "> ", "1. ", "**", "- [ ] ")
    lines = (f"{heads[n % 7]}" + " ".join(f"w{n * 8 + m}w" for m in range(8)) for n in range(count))
    return "\n\n".join(lines)


class WordsOnlyGrow:
    """The words on screen are the first ones, each once, and never fewer than before."""

    def __init__(self) -> None:
        self._most: dict[str, int] = {}

    def __call__(self, screen: Screen) -> None:
        for body in bodies(screen, *MARKDOWN):
            words = [int(number) for number in re.findall(r"w(\d+)w", body.text)]
            assert words == list(range(len(words)))
            assert len(words) >= self._most.get(body.id, 0)
            self._most[body.id] = len(words)


@pytest.mark.parametrize("blocks", [1, 40])
def test_whoever_joins_at_any_moment_sees_each_word_once_and_none_goes_again(tmp_path, blocks):
    text = numbered(blocks)
    size = len(text) // 15 + 1
    cuts = range(size, len(text), size)

    async def story():
        async with watched(tmp_path) as (on, steps):
            tabs = Tabs(on, [WordsOnlyGrow, BlocksStay])
            await tabs.open()
            answer = await on.begin()
            for event in [*said("m_1", Kind.ASSISTANT_MESSAGE, text, cuts), *ended()]:
                await steps.say(event)
                await tabs.open()
                await tabs.happens("drop", 1)
                await tabs.happens("join", 1)
            await on.end(answer)
            await tabs.end_as_if_just_loaded()

    play(story())


ROUNDS = (
    [
        *said("rs_1", Kind.REASONING, THOUGHT, [9, 30]),
        *said("m_1", Kind.ASSISTANT_MESSAGE, "Let me see.", [4]),
    ],
    [*called("fc_1"), *called("fc_2"), *ended(Finish.TOOL_CALLS)],
    [*said("rs_2", Kind.REASONING, "", []), *called("fc_3", "call_2"), *ended(Finish.TOOL_CALLS)],
    [*said("m_2", Kind.ASSISTANT_MESSAGE, RICH, range(50, 900, 50)), *ended()],
)


@laws(12)
@hypothesis.given(moves=MOVING)
def test_thoughts_calls_and_results_end_as_a_reload_shows_them(tmp_path, moves):
    async def story():
        async with watched(tmp_path, tools=CLOCK) as (on, steps):
            events = [event for part in ROUNDS for event in part]
            await streamed(on, steps, Tabs(on, [BlocksStay]), events, moves)

    play(story())


@laws(12)
@hypothesis.given(moves=MOVING, kept=st.integers(1, 25))
def test_an_answer_that_is_stopped_and_goes_on_ends_as_a_reload_shows_it(tmp_path, moves, kept):
    events = [event for part in ROUNDS for event in part]

    async def story():
        async with watched(tmp_path, tools=CLOCK) as (on, steps):
            tabs = Tabs(on, [])
            await tabs.open()
            answer = await on.begin()
            await tabs.while_it_happens(steps, events[:kept], moves)
            await on.engine.stop(answer)
            await on.end(answer)
            await tabs.end_as_if_just_loaded()
            await tabs.happens("join", 0)
            await on.engine.go_on(answer)
            await tabs.while_it_happens(
                steps, [*said("m_9", Kind.ASSISTANT_MESSAGE, RICH, [99]), *ended()], moves
            )
            await on.end(answer)
            await tabs.end_as_if_just_loaded()

    play(story())


@laws(15)
@hypothesis.given(
    text=st.one_of(st.just(RICH), TEXTS),
    at=st.tuples(st.integers(0, 2000), st.integers(0, 2000)),
    cuts=CUTS,
    moves=MOVING,
    thinks=st.booleans(),
)
@hypothesis.example(text=RICH, at=(98, 85), cuts=[], moves=[], thinks=True)
def test_a_text_that_was_cut_and_went_on_ends_as_a_reload_shows_it(tmp_path, text, at, cuts, moves, thinks):
    """Cut twice, thinking or not before it goes on: the page shows it as one, and so does every page that comes later."""
    first, second = sorted(place % (len(text) + 1) for place in at)
    parts = [text[:first], text[first:second], text[second:]]

    async def story():
        async with watched(tmp_path) as (on, steps):
            tabs = Tabs(on, [BlocksStay])
            await tabs.open()
            answer = await on.begin()
            for n, part in enumerate(parts):
                thought = said(f"rs_{n}", Kind.REASONING, "Hm. And on.", [3]) if thinks else ()
                *words, done = said(f"m_{n}", Kind.ASSISTANT_MESSAGE, part, cuts)
                await tabs.while_it_happens(steps, [*thought, *words], moves)
                if n < 2:
                    await on.engine.stop(answer)
                    await on.end(answer)
                    await tabs.end_as_if_just_loaded()
                    await tabs.happens("join", 0)
                    assert await on.engine.go_on(answer)
            await tabs.while_it_happens(steps, [done, *ended()], moves)
            await on.end(answer)
            await tabs.end_as_if_just_loaded()

    play(story())


def test_a_link_that_nothing_defines_is_as_it_was_written_whenever_the_answer_stops(tmp_path):
    async def story():
        async with watched(tmp_path) as (on, steps):
            tab = await Tab(on).open()
            answer = await on.begin()
            await steps.say(*list(said("m_1", Kind.ASSISTANT_MESSAGE, "See [this][one].\n", []))[:-1])
            await on.engine.stop(answer)
            await on.end(answer)
            await tab.sees_the_end()
            assert await on.engine.go_on(answer)
            await steps.say(*said("rs_1", Kind.REASONING, "And on.", []))
            await tab.sees(lambda screen: "And on." in screen.thread.text)
            await steps.say(*list(said("m_2", Kind.ASSISTANT_MESSAGE, "\nMore.\n", []))[:-1])
            await tab.sees(lambda screen: "[this]" not in screen.thread.text)
            await on.engine.stop(answer)
            await on.end(answer)
            await tab.sees_the_end()
            await tab.looks_as_if_just_loaded()

    play(story())


class OneTable:
    """While it goes on, what is finished is one table at most (its growing end is shaped in the page), and never shorter than it was."""

    def __init__(self) -> None:
        self.rows = 0

    def __call__(self, screen: Screen) -> None:
        below = [each for body in bodies(screen, "assistant_message") for each in body.below()]
        rows = sum(each.tag == "tr" for each in below)
        tables = sum(each.tag == "table" for each in below)
        assert tables <= 1
        assert not tables or rows >= self.rows
        self.rows = max(rows, self.rows)


def test_a_table_that_was_cut_grows_on_as_itself(tmp_path):
    rows = [f"| {n} | **row** {n} |" for n in range(12)]
    text = "\n".join(["| n | what |", "|---|---|", *rows, "", "Then more."])
    at = text.index("row** 4") + 2

    async def story():
        async with watched(tmp_path) as (on, steps):
            tab = await Tab(on).open()
            answer = await on.begin()
            await steps.say(*list(said("m_1", Kind.ASSISTANT_MESSAGE, text[:at], [40]))[:-1])
            await tab.sees(lambda screen: "4" in screen.thread.text)
            await on.engine.stop(answer)
            await on.end(answer)
            await tab.sees_the_end()
            assert await on.engine.go_on(answer)
            await steps.say(*said("rs_1", Kind.REASONING, "And on.", []))
            one = OneTable()
            tab.looks = (one,)
            *words, done = said("m_2", Kind.ASSISTANT_MESSAGE, text[at:], range(0, 900, 60))
            for event in words:
                await steps.say(event)
            await steps.say(done, *ended())
            await on.end(answer)
            await tab.sees_the_end()
            await tab.looks_as_if_just_loaded()
            assert one.rows == len(rows) + 2, "its head, and the mark"

    play(story())


@laws(12)
@hypothesis.given(moves=MOVING, kept=st.integers(1, 25))
def test_an_answer_that_fails_ends_as_a_reload_shows_it(tmp_path, moves, kept):
    events = [event for part in ROUNDS for event in part]
    broken = ProviderError(Trouble.BROKEN, "The line broke.", raw="<b>raw</b>")

    async def story():
        async with watched(tmp_path, tools=CLOCK) as (on, steps):
            tabs = Tabs(on, [])
            await tabs.open()
            answer = await on.begin()
            await tabs.while_it_happens(steps, [*events[:kept], broken], moves)
            await on.end(answer)
            await tabs.end_as_if_just_loaded()

    play(story())


@pytest.mark.one_process("whoever serves claims it in this story, and works on nothing there")
def test_another_attempt_shows_nothing_of_the_last_one(tmp_path):
    async def story():
        async with watched(tmp_path, checkpoint=0.01) as (on, steps):
            tab = await Tab(on).open()
            answer = await on.begin()
            await steps.say(ItemStarted("m_1", Kind.ASSISTANT_MESSAGE), ItemDelta("m_1", "The first words"))
            await tab.sees(lambda screen: "The first words" in screen.thread.text)
            await in_thread(store.claim_turn)(answer, runner=on.engine.runner.name, seen=1)
            await steps.say(ItemDelta("m_1", " and more"))
            await on.let_go(answer)
            await on.engine.runner.recover()
            late = await Tab(on).open()
            await steps.say(ItemStarted("m_1", Kind.ASSISTANT_MESSAGE), ItemDelta("m_1", "The second"))
            for each in (tab, late):
                await each.sees(lambda screen: "The second" in screen.thread.text)
                assert "first words" not in each.screen.thread.text
            await steps.say(ItemDelta("m_1", " words"))
            for each in (tab, late):
                await each.sees(lambda screen: "The second words" in screen.thread.text)
            words = "The second words"
            await steps.say(ItemDone(Item(key="m_1", kind=Kind.ASSISTANT_MESSAGE, text=words)), *ended())
            await on.end(answer)
            for each in (tab, late):
                await each.sees_the_end()
                await each.looks_as_if_just_loaded()

    play(story())


@pytest.mark.one_process("whoever serves claims it in this story, and works on nothing there")
def test_what_another_attempt_says_under_the_same_key_is_shown_as_it_says_it(tmp_path):
    """Where a model names nothing, keys are numbers, and each attempt counts anew."""

    async def story():
        async with watched(tmp_path, checkpoint=0.01) as (on, steps):
            tab = await Tab(on).open()
            answer = await on.begin()
            await steps.say(*said("part-0", Kind.ASSISTANT_MESSAGE, "The *first* words.", []))
            await tab.sees(lambda screen: finished(screen) and not grows(finished(screen)[0].parent))
            await in_thread(store.claim_turn)(answer, runner=on.engine.runner.name, seen=1)
            await steps.say(ItemStarted("part-1", Kind.ASSISTANT_MESSAGE))
            await on.let_go(answer)
            await on.engine.runner.recover()
            await steps.say(*said("part-0", Kind.ASSISTANT_MESSAGE, "The *second* words.", []), *ended())
            await on.end(answer)
            await tab.sees_the_end()
            assert tab.screen.articles[-1].text.count("The second words.") == 1
            assert "first words" not in tab.screen.thread.text
            await tab.looks_as_if_just_loaded()

    play(story())


def test_an_empty_answer_that_is_asked_again_shows_what_comes_then(tmp_path):
    async def story():
        async with watched(tmp_path) as (on, steps):
            tab = await Tab(on).open()
            answer = await on.begin()
            await steps.say(*said("part-0", Kind.ASSISTANT_MESSAGE, "", []))
            await tab.sees(lambda screen: any(not grows(body) for body in bodies(screen, *MARKDOWN)))
            await steps.say(*ended())
            assert (await on.end(answer)).status == Status.FAILED
            await tab.sees_the_end()
            assert await on.engine.go_on(answer)
            await steps.say(*said("part-0", Kind.ASSISTANT_MESSAGE, "Here it is.", []), *ended())
            assert (await on.end(answer)).status == Status.COMPLETE
            await tab.sees_the_end()
            assert "Here it is." in tab.screen.thread.text
            await tab.looks_as_if_just_loaded()

    play(story())


def test_why_nothing_comes_is_said_and_goes_when_something_comes(tmp_path):
    async def story():
        async with watched(tmp_path) as (on, steps):
            early = await Tab(on).open()
            answer = await on.begin()
            await steps.say(Retrying(4.0, "The provider is busy, trying again in 4 s"))
            late = await Tab(on).open()
            for tab in (early, late):
                await tab.sees(lambda screen: "The provider is busy, trying again" in screen.thread.text)
            assert "The provider is busy, trying again in 4 s." in await page_html(on, early.viewer), (
                "without scripts too"
            )
            await steps.say(Asked(0), *said("m_1", Kind.ASSISTANT_MESSAGE, "Here.", []))
            for tab in (early, late):
                await tab.sees(lambda screen: "busy" not in screen.thread.text)
            assert "busy" not in await page_html(on, early.viewer)
            await steps.say(*ended())
            await on.end(answer)
            for tab in (early, late):
                await tab.sees_the_end()
                await tab.looks_as_if_just_loaded()

    play(story())


@pytest.mark.parametrize("finished", [False, True])
def test_a_thought_of_a_try_that_failed_goes_from_every_page_and_the_next_takes_its_place(tmp_path, finished):
    busy = Retrying(4.0, "The provider is busy, trying again in 4 s", ("rs_1",))
    lost = list(said("rs_1", Kind.REASONING, "Half a *th", []))

    async def story():
        async with watched(tmp_path) as (on, steps):
            early = await Tab(on).open()
            answer = await on.begin()
            await steps.say(Asked(0), *(lost if finished else lost[:-1]))
            middle = await Tab(on).open()
            for tab in (early, middle):
                await tab.sees(lambda screen: "Half a" in screen.thread.text)
            await steps.say(busy)
            late = await Tab(on).open()
            for tab in (early, middle, late):
                await tab.sees(lambda screen: "trying again" in screen.thread.text)
                assert "Half a" not in tab.screen.thread.text
            await steps.say(
                *said("rs_2", Kind.REASONING, "Whole.", []), *said("m_1", Kind.ASSISTANT_MESSAGE, "Here.", [])
            )
            await steps.say(*ended())
            row = await on.end(answer)
            assert list(row.metadata["reasoning_durations_ms"]) == ["rs_2"]
            for tab in (early, middle, late):
                await tab.sees_the_end()
                assert "Half a" not in tab.screen.thread.text
                await tab.looks_as_if_just_loaded()

    play(story())


def test_a_wait_that_rows_say_is_over_has_no_place_on_a_page_that_still_hears_of_it(tmp_path):
    """Whoever joins between the commit of the end and the last word of the stream."""
    busy = Retrying(4.0, "The provider is busy, trying again in 4 s")

    async def story():
        async with watched(tmp_path) as (on, steps):
            tab = await Tab(on).open()
            answer = await on.begin()
            await steps.say(busy)
            await tab.sees(lambda screen: "The provider is busy" in screen.thread.text)
            tab.drop()
            await steps.say(Asked(0), *said("m_1", Kind.ASSISTANT_MESSAGE, "Here.", []), *ended())
            stream = (answer, (await on.end(answer)).attempt)
            live = on.engine.live
            live.open(stream, Draft(), lambda: 1.0)
            for event in (
                Asked(0),
                busy,
                ItemStarted("m_2", Kind.ASSISTANT_MESSAGE),
                ItemDelta("m_2", "Late."),
            ):
                live.publish(stream, event, 1.0)
            tab.join()
            await tab.sees(lambda screen: "Late." in screen.thread.text)
            assert "busy" not in tab.screen.thread.text
            live.close(stream)
            await tab.sees_the_end()
            await tab.looks_as_if_just_loaded()

    play(story())


def test_at_the_end_only_the_block_that_a_late_definition_changed_is_another(tmp_path):
    text = "One.\n\nSee [this][1].\n\nThree.\n\nFour.\n\n[1]: https://example.org\n"

    async def story():
        async with watched(tmp_path) as (on, steps):
            tab = await Tab(on, BlocksStay()).open()
            answer = await on.begin()
            *before, done = said("m_1", Kind.ASSISTANT_MESSAGE, text, range(5, len(text), 5))
            await steps.say(*before)
            await tab.sees(lambda screen: "Four" in screen.thread.text and len(finished(screen)) >= 3)
            (body,) = bodies(tab.screen, "assistant_message")
            early = body.elements[:3]
            await steps.say(done, *ended())
            await on.end(answer)
            await tab.sees_the_end()
            assert [now is then for now, then in zip(body.elements, early, strict=False)] == [
                True,
                False,
                True,
            ]
            await tab.looks_as_if_just_loaded()

    play(story())


def test_a_page_that_comes_back_has_a_late_definition_at_once_and_keeps_the_other_blocks(tmp_path):
    text = "One.\n\nSee [this][1].\n\nThree.\n\n[1]: https://example.org\n\nFour.\n\nFive.\n\nSix."

    async def story():
        async with watched(tmp_path) as (on, steps):
            tab = await Tab(on, BlocksStay()).open()
            answer = await on.begin()
            *before, done = said("m_1", Kind.ASSISTANT_MESSAGE, text, [text.index("[1]:")])
            await steps.say(*before[:2])
            await tab.sees(lambda screen: len(finished(screen)) == 2)
            early = finished(tab.screen)
            tab.drop()
            await steps.say(*before[2:])
            tab.join()
            await tab.sees(lambda screen: len(finished(screen)) > 3)
            one, see, *_ = finished(tab.screen)
            assert one is early[0]
            assert see is not early[1] and see.all("href", "https://example.org")
            await steps.say(done, *ended())
            await on.end(answer)
            await tab.sees_the_end()
            assert finished(tab.screen)[:2] == [one, see]
            await tab.looks_as_if_just_loaded()

    play(story())


def finished(screen: Screen) -> list[Element]:
    """The blocks of the answer that no further text changes."""
    found = bodies(screen, "assistant_message")
    return [each for body in found for each in body.elements if "data-growing" not in each.attributes]


def test_letters_of_which_nothing_is_shown_in_the_end_go_from_a_page_that_missed_the_end(tmp_path):
    async def story():
        async with watched(tmp_path) as (on, steps):
            tab = await Tab(on).open()
            answer = await on.begin()
            *before, done = said("m_1", Kind.ASSISTANT_MESSAGE, "[r]: https://r.org", [5])
            await steps.say(*said("rs_1", Kind.REASONING, "Hm.", []), *before[:2])
            await tab.sees(lambda screen: "[r]: " in screen.thread.text)
            tab.drop()
            await steps.say(*before[2:], done, *ended())
            await on.end(answer)
            tab.join()
            await tab.sees_the_end()
            await tab.looks_as_if_just_loaded()

    play(story())


@pytest.mark.parametrize("words", [RICH * 40, f"~~~\n{RICH * 40}\n~~~\n"], ids=["blocks", "code"])
def test_less_than_three_times_the_answer_goes_over_the_line(tmp_path, words):
    async def story():
        async with watched(tmp_path) as (on, steps):
            tab = await Tab(on).open()
            answer = await on.begin()
            for event in [*said("m_1", Kind.ASSISTANT_MESSAGE, words, range(0, len(words), 120)), *ended()]:
                await steps.say(event)
            await on.end(answer)
            await tab.sees_the_end()
            await tab.looks_as_if_just_loaded()
            assert tab.received < 3 * len(await page_html(on, tab.viewer))

    play(story())


def test_large_pieces_that_come_while_the_first_is_rendered_are_shown_once():
    words = [f"{letter * 3000}\n\n" for letter in "abc"]
    screen, shown = Screen('<div id="body"></div>'), asyncio.Event()

    def emit(operation: Operation) -> None:
        screen.do([operation])
        shown.set()

    async def story():
        item = GrowingItem(uuid4(), "m_1", "body", emit)
        for each in words:
            item.write(each)
        await asyncio.wait_for(shown.wait(), PATIENCE)
        item.write("d")
        assert "".join(screen.one("body").text.split()) == "".join("".join(words).split()) + "d"
        item.settle(tuple(await render_blocks_within("".join(words))))
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)
        assert not screen.one("body").all("data-growing")

    asyncio.run(story())


def test_a_loop_that_is_late_renders_later_and_forgets_nothing():
    made: list[Operation] = []
    one, two = asyncio.Event(), asyncio.Event()

    def emit(operation: Operation) -> None:
        made.append(operation)
        for words, shown in (("one", one), ("two", two)):
            if operation[0] == "blocks" and any(words in html for _, html in operation[2]):
                shown.set()

    async def story():
        item = GrowingItem(uuid4(), "m_1", "body", emit)
        item.write("one\n\na line\n\ntw")
        hold_up(0.02)
        await asyncio.wait_for(one.wait(), PATIENCE)
        item.write("o\n\nthree\n\nfour")
        for _ in range(20):
            await asyncio.sleep(0)
        assert [name for name, *_ in made] == ["text", "blocks", "text"]
        await asyncio.wait_for(two.wait(), PATIENCE)
        item.cancel()

    asyncio.run(story())


def hold_up(seconds: float) -> None:
    """Also the loop."""
    time.sleep(seconds)


def test_signs_that_no_page_can_hold_break_no_page(tmp_path):
    bad = "a\ud800b\x00c"
    names = {"name": f"clock{bad}", "call_id": bad}
    call = Item(key="fc_1", kind=Kind.TOOL_CALL, text=bad, **names)
    broken = ProviderError(Trouble.BROKEN, f"It broke: {bad}.", raw=bad)

    async def story():
        async with watched(tmp_path, tools=CLOCK) as (on, steps):
            tabs = Tabs(on, [lambda: every_sign_can_be_sent])
            await tabs.open()
            answer = await on.begin(bad)
            events = [
                *said("rs_1", Kind.REASONING, bad, [2, 4]),
                *said("m_1", Kind.ASSISTANT_MESSAGE, bad, [1]),
            ]
            events += [ItemStarted("fc_1", Kind.TOOL_CALL, **names), ItemDelta("fc_1", bad), ItemDone(call)]
            await tabs.while_it_happens(steps, [*events, *ended(Finish.TOOL_CALLS), broken], [("reload", 0)])
            await on.end(answer)
            await tabs.end_as_if_just_loaded()

    play(story())


def every_sign_can_be_sent(screen: Screen) -> None:
    said = "".join("".join(each.attributes.values()) for each in screen.root.below()) + screen.root.text
    assert "\0" not in said and said.encode()
