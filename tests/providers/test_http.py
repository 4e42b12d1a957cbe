"""What an answer over HTTP becomes, when it is asked for again, and how it is stopped."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from chatapp.core.events import Event, Finish, ItemDelta, ItemDone, ItemStarted, ResponseEnded, Retrying
from chatapp.core.items import Item, KeyMaker
from chatapp.providers.base import Ask, ProviderError, Trouble
from chatapp.providers.http import HttpProvider
from tests.support.patience import PATIENCE
from tests.support.serving import (
    EVENT_STREAM,
    Peer,
    Script,
    answer,
    cut,
    head,
    piece,
    raw,
    reset,
    serving,
    silence,
    stream,
)

from .asking import KEY, LIMITS, ask, endpoint, run
from .fake_wire import TEXT, FakeWire, frame, question, says

BUSY = answer(503, b'{"error": {"message": "overloaded"}}')


def test_an_answer_becomes_its_events_in_order():
    told = ask(stream(*says("Bonjour")))
    assert told.events == [
        ItemStarted("a", TEXT),
        ItemDelta("a", "Bonjour"),
        ItemDone(Item(key="a", kind=TEXT, text="Bonjour")),
        ResponseEnded(Finish.STOP),
    ]


def test_the_question_is_posted_as_the_wire_words_it():
    asked = ask(stream(*says("ok"))).server.asked[0]
    assert (asked.method, asked.target) == ("POST", "/v1/answers")
    assert json.loads(asked.body) == {"model": "m", "instructions": "Réponds"}
    assert "Réponds".encode() in asked.body
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["accept-encoding"] == "identity"
    assert asked.headers["accept"] == "text/event-stream"


def test_events_come_while_the_answer_is_still_being_written():
    async def main() -> None:
        async with serving(stream(frame(start="a"), frame(delta="first"), then=silence)) as server:
            provider = HttpProvider(endpoint(server.url), FakeWire())
            async with aclosing(provider.stream(question(), KeyMaker())) as events:
                assert await anext(events) == ItemStarted("a", TEXT)
                assert await anext(events) == ItemDelta("a", "first")

    run(main)


def test_letters_are_heard_in_the_moment_they_arrive_and_wake_nobody():
    heard: list[str] = []
    asked_for = asyncio.Event()

    def hear(event: ItemDelta) -> None:
        assert asyncio.current_task() is None
        heard.append(event.text)
        asked_for.set()

    async def script(peer: Peer) -> None:
        await peer.send(head(200, EVENT_STREAM | {"transfer-encoding": "chunked"}))
        await peer.send(piece(frame(start="a")))
        for said in [frame(delta="one"), frame(delta="t") + frame(delta="wo"), frame(delta="three")]:
            await asked_for.wait()
            asked_for.clear()
            await peer.send(piece(said))
        await asked_for.wait()
        await peer.send(piece(frame(done="all") + frame(end=True)) + b"0\r\n\r\n")

    async def main() -> None:
        async with serving(script) as server:
            provider = HttpProvider(endpoint(server.url), FakeWire(), limits=LIMITS)
            async with aclosing(provider.stream(question(), KeyMaker(), hear)) as events:
                assert await anext(events) == ItemStarted("a", TEXT)
                asked_for.set()
                rest = [event async for event in events]
        assert heard == ["one", "two", "three"]
        assert rest == [ItemDone(Item(key="a", kind=TEXT, text="all")), ResponseEnded(Finish.STOP)]

    run(main)


def test_what_comes_before_other_events_is_not_heard_after_them():
    order: list[Any] = []
    together = b"".join(says("one"))

    async def main() -> None:
        async with serving(stream(together)) as server:
            provider = HttpProvider(endpoint(server.url), FakeWire(), limits=LIMITS)
            async with aclosing(provider.stream(question(), KeyMaker(), order.append)) as events:
                async for event in events:
                    order.append(event)
        assert [type(event) for event in order] == [ItemStarted, ItemDelta, ItemDone, ResponseEnded]

    run(main)


def test_what_was_said_before_an_error_is_heard_before_it():
    heard: list[Any] = []
    failing = frame(start="a"), frame(delta="one") + frame(fail="refused", again=False)

    async def main() -> None:
        async with serving(stream(*failing)) as server:
            provider = HttpProvider(endpoint(server.url), FakeWire(), limits=LIMITS)
            with pytest.raises(ProviderError) as caught:
                async with aclosing(provider.stream(question(), KeyMaker(), heard.append)) as events:
                    async for event in events:
                        heard.append(event)
            assert caught.value.trouble is Trouble.REFUSED
        assert heard == [ItemStarted("a", TEXT), ItemDelta("a", "one")]

    run(main)


def test_bytes_may_be_cut_anywhere():
    whole = b"".join(says("Grüße, 世界 🌍"))
    told = ask(stream(*(bytes([byte]) for byte in whole)))
    assert told.text == "Grüße, 世界 🌍"
    assert isinstance(told.events[-1], ResponseEnded)


def test_nothing_after_the_end_of_an_answer_counts():
    told = ask(stream(*says("ok"), frame(start="b"), frame(delta="more")))
    assert told.text == "ok"
    assert isinstance(told.events[-1], ResponseEnded)


def test_a_complete_answer_is_complete_though_the_connection_breaks_after_it():
    told = ask(stream(*says("ok"), then=reset))
    assert (told.text, told.error) == ("ok", None)


def test_a_connection_serves_one_question_after_the_other():
    async def main() -> None:
        async with serving(*[stream(*says("ok"))] * 3) as server:
            provider = HttpProvider(endpoint(server.url), FakeWire())
            for _ in range(3):
                assert len([event async for event in provider.stream(question(), KeyMaker())]) == 4
            assert server.connections == 1

    run(main)


def test_many_answers_stream_at_the_same_time():
    async def one(provider: HttpProvider) -> int:
        return len([event async for event in provider.stream(question(), KeyMaker())])

    async def main() -> None:
        all_here = asyncio.Barrier(120)

        async def script(peer: object) -> None:
            await all_here.wait()
            await stream(*says("ok"))(peer)  # type: ignore[arg-type]

        async with serving(*[script] * 120) as server:
            provider = HttpProvider(endpoint(server.url), FakeWire())
            assert await asyncio.gather(*[one(provider) for _ in range(120)]) == [4] * 120

    run(main)


@pytest.mark.parametrize(
    "opening", [b"\xef\xbb\xbf", b": waiting\n\n", b"\n\n\n", b"id: 1\n", b"retry: 5\n\n", b"event: x\n"]
)
def test_a_stream_may_open_in_every_way_that_the_format_has(opening: bytes):
    assert ask(stream(opening + b"".join(says("ok")))).text == "ok"


def test_a_stream_without_its_label_is_read():
    assert ask(stream(*says("ok"), headers={"content-type": "application/json"})).text == "ok"


def test_a_conversation_that_no_json_can_hold_is_not_sent():
    class Deep(FakeWire):
        def body(self, ask: Ask) -> dict[str, Any]:
            body: dict[str, Any] = {}
            for _ in range(100_000):
                body = {"in": body}
            return body

    async def main() -> None:
        with pytest.raises(ProviderError) as caught:
            await anext(HttpProvider(endpoint("http://127.0.0.1:1"), Deep()).stream(question(), KeyMaker()))
        assert caught.value.trouble is Trouble.REFUSED

    run(main)


# Asking again


def test_a_busy_provider_is_asked_again_and_each_wait_is_announced():
    told = ask(BUSY, BUSY, stream(*says("ok")))
    assert told.announced == ["Fake is busy, trying again in 1 s", "Fake is busy, trying again in 2 s"]
    assert (told.slept, told.text) == ([1, 2], "ok")


def test_the_wait_is_announced_before_it_begins():
    told = ask(BUSY, stream(*says("ok")))
    assert [type(event) for event in told.events[:2]] == [Retrying, ItemStarted]


def test_after_four_more_attempts_the_refusal_counts():
    told = ask(*[BUSY] * 5)
    assert (told.slept, told.trouble) == ([1, 2, 4, 8], Trouble.BUSY)
    assert told.error and told.error.status == 503
    assert len(told.server.asked) == 5


def test_the_wait_that_the_provider_asks_for_is_kept():
    told = ask(answer(429, b"{}", {"retry-after": "7"}), stream(*says("ok")))
    assert (told.slept, told.announced) == ([7], ["Fake is busy, trying again in 7 s"])


def test_a_wait_is_never_longer_than_a_minute():
    assert ask(answer(429, b"{}", {"retry-after": "86400"}), stream(*says("ok"))).slept == [60]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_asked_again(status: int):
    assert ask(answer(status, b"no"), stream(*says("ok"))).text == "ok"


@pytest.mark.parametrize(
    ("status", "trouble"),
    [
        (400, Trouble.REFUSED),
        (401, Trouble.KEY),
        (402, Trouble.CREDIT),
        (403, Trouble.FORBIDDEN),
        (404, Trouble.NOT_FOUND),
        (413, Trouble.TOO_LONG),
    ],
)
def test_what_will_not_pass_is_asked_once(status: int, trouble: Trouble):
    told = ask(answer(status, b'{"error": "because"}'))
    assert (told.trouble, told.slept) == (trouble, [])
    assert told.error and told.error.raw == '{"error": "because"}'


@pytest.mark.parametrize(
    "broken",
    [
        cut,
        reset,
        stream(then=cut),
        stream(b'data: {"sta', then=reset),
        stream(),
        answer(200, b""),
        raw(b"HTTP/1.1 200 OK\r\n"),
    ],
    ids=["no answer", "reset", "no body", "half an event", "empty stream", "empty body", "half a head"],
)
def test_a_connection_that_breaks_before_the_first_item_is_tried_again(broken: Script):
    told = ask(broken, stream(*says("ok")))
    assert (told.slept, told.text) == ([1], "ok")


@pytest.mark.parametrize("broken", [cut, reset], ids=["closed", "reset"])
def test_after_the_first_item_nothing_is_asked_again(broken: Script):
    told = ask(stream(frame(start="a"), frame(delta="half"), then=broken))
    assert (told.text, told.slept, told.trouble) == ("half", [], Trouble.BROKEN)
    assert len(told.server.asked) == 1


def test_an_answer_that_ends_without_its_end_is_broken():
    told = ask(stream(frame(start="a"), frame(delta="half")))
    assert (told.text, told.trouble) == ("half", Trouble.BROKEN)


def test_an_error_inside_a_stream_is_retried_only_before_the_first_item():
    overloaded = frame(fail="busy", again=True)
    assert ask(stream(overloaded), stream(*says("ok"))).text == "ok"
    late = ask(stream(frame(start="a"), overloaded))
    assert (late.trouble, late.slept) == (Trouble.BUSY, [])


def test_events_before_an_error_in_the_same_bytes_are_not_lost():
    told = ask(stream(frame(start="a") + frame(delta="seen") + frame(fail="broken", again=True)))
    assert (told.text, told.trouble) == ("seen", Trouble.BROKEN)


def test_attempts_that_gave_nothing_use_no_keys():
    told = ask(BUSY, stream(then=cut), stream(*says("ok")), keys=KeyMaker({"a"}))
    assert [event.key for event in told.events if isinstance(event, ItemStarted)] == ["part-1"]


def test_a_provider_that_is_not_there_is_tried_again_and_then_named():
    told = ask(url="http://127.0.0.1:1/v1")
    assert (told.trouble, told.slept) == (Trouble.UNREACHABLE, [1, 2, 4, 8])
    assert told.announced[0] == "Fake cannot be reached, trying again in 1 s"


# Stopping


def _stopped_after(*frames: bytes, take: int) -> None:
    async def main() -> None:
        async with serving(stream(*frames, then=silence)) as server:
            events = HttpProvider(endpoint(server.url), FakeWire(), limits=LIMITS).stream(
                question(), KeyMaker()
            )
            for _ in range(take):
                await anext(events)
            await events.aclose()
            await asyncio.wait_for(server.gone.wait(), PATIENCE)

    run(main)


def test_closing_the_stream_closes_the_connection():
    _stopped_after(frame(start="a"), frame(delta="x"), take=2)


def test_closing_in_the_middle_of_a_read_full_of_events_closes_the_connection():
    _stopped_after(frame(start="a") + frame(delta="x") * 50, take=3)


def test_a_cancelled_turn_closes_the_connection():
    async def main() -> None:
        heard: list[Event] = []
        began = asyncio.Event()

        async def turn(url: str) -> None:
            async for event in HttpProvider(endpoint(url), FakeWire()).stream(question(), KeyMaker()):
                heard.append(event)
                began.set()

        async with serving(stream(frame(start="a"), then=silence)) as server:
            task = asyncio.create_task(turn(server.url))
            await began.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(server.gone.wait(), PATIENCE)
            assert heard == [ItemStarted("a", TEXT)]

    run(main)


def test_a_turn_cancelled_before_the_first_byte_closes_the_connection():
    async def main() -> None:
        asked = asyncio.Event()

        async def script(peer: object) -> None:
            asked.set()
            await silence(peer)  # type: ignore[arg-type]

        async def turn(url: str) -> None:
            async for _ in HttpProvider(endpoint(url), FakeWire()).stream(question(), KeyMaker()):
                pass

        async with serving(script) as server:
            task = asyncio.create_task(turn(server.url))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(server.gone.wait(), PATIENCE)

    run(main)


def test_a_server_that_lingers_after_its_answer_does_not_hold_it_up():
    told = ask(stream(*says("ok"), then=silence))
    assert (told.text, told.error) == ("ok", None)


def test_an_answer_with_a_length_is_read_as_well():
    body = b"".join(says("ok"))
    assert ask(answer(200, body, content_type="text/event-stream")).text == "ok"


def test_an_answer_that_ends_with_its_connection_is_read_as_well():
    told = ask(raw(head(200, {"content-type": "text/event-stream"}) + b"".join(says("ok"))))
    assert told.text == "ok"


def test_an_interim_answer_is_passed_over():
    hint = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
    whole = hint + head(200, {"transfer-encoding": "chunked"}) + piece(b"".join(says("ok"))) + b"0\r\n\r\n"
    assert ask(raw(whole)).text == "ok"
