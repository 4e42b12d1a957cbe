"""Every way in which a request can fail ends in one error with a sentence, and the key is never in it."""

from __future__ import annotations

import json
import logging
import traceback
from dataclasses import replace

import pytest

from chatapp.providers.base import Trouble
from chatapp.providers.whole_answers import REFUSAL_CAP
from tests.support.serving import answer, forever, head, raw, silence, stream

from .asking import KEY, LIMITS, ask
from .fake_wire import frame, says

ERROR = {"error": {"message": "the model is asleep"}}


# Limits


def test_a_provider_that_never_answers_is_silent():
    told = ask(silence, limits=replace(LIMITS, silence=0.05))
    assert (told.trouble, told.slept) == (Trouble.SILENT, [])


def test_a_provider_that_falls_silent_is_silent_and_keeps_what_it_said():
    told = ask(
        stream(frame(start="a"), frame(delta="half"), then=silence), limits=replace(LIMITS, silence=0.05)
    )
    assert (told.text, told.trouble) == ("half", Trouble.SILENT)


def test_bytes_that_say_nothing_do_not_hold_a_turn_for_ever():
    told = ask(forever(b": still here\n\n"), limits=replace(LIMITS, total=0.1))
    assert told.trouble is Trouble.SILENT
    assert told.error and told.error.sentence == "Fake did not finish its answer in time. Try again."


def test_one_event_has_a_size_limit():
    told = ask(forever(b"x" * 1000, opening=b"data: "), limits=replace(LIMITS, event=20_000))
    assert told.trouble is Trouble.TOO_LARGE


def test_a_whole_answer_has_a_size_limit():
    told = ask(
        forever(frame(delta="x" * 1000), opening=frame(start="a")), limits=replace(LIMITS, answer=50_000)
    )
    assert told.trouble is Trouble.TOO_LARGE
    assert 40_000 < len(told.text) <= 50_000


def test_a_refusal_is_read_up_to_a_limit():
    told = ask(answer(400, b"x" * 1_000_000, content_type="text/plain"))
    assert told.trouble is Trouble.REFUSED
    assert told.error and 0 < len(told.error.raw) <= REFUSAL_CAP


def test_a_refusal_that_breaks_off_is_still_a_refusal():
    told = ask(raw(head(401, {"content-length": "500"}) + b'{"error": "no'))
    assert told.trouble is Trouble.KEY
    assert told.error and told.error.raw == '{"error": "no'


# Answers that are no stream


def test_a_page_instead_of_a_stream_is_garbage():
    page = b"<!doctype html><title>Sign in to the hotel's network</title>"
    told = ask(answer(200, page, content_type="text/html"))
    assert (told.trouble, told.slept) == (Trouble.GARBAGE, [])
    assert told.error and told.error.raw == page.decode()


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream"])
def test_an_error_body_under_200_is_a_refusal(content_type: str):
    told = ask(answer(200, json.dumps(ERROR).encode(), content_type=content_type))
    assert told.trouble is Trouble.REFUSED
    assert told.error and "asleep" in told.error.raw


@pytest.mark.parametrize(
    "body", [b'{"choices": []}', b"[1]", b'{"error', b"null", b"\x1f\x8b\x08\x00", b"OK", b"{" * 100_000]
)
def test_anything_else_under_200_is_garbage(body: bytes):
    assert ask(answer(200, body)).trouble is Trouble.GARBAGE


def test_the_words_of_garbage_fit_every_database():
    told = ask(answer(200, b"<\x00\xff\xed\xa0\x80>"))
    assert told.error
    assert "\x00" not in told.error.raw
    told.error.raw.encode()


# What the network does


@pytest.mark.parametrize(
    "bytes_",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x16\x03\x01\x02\x00",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000,
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnot a number\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\ndata: {}\n\n",
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nset-cookie: =;;\x80=\r\ncontent-encoding: br\r\n\r\n\x00",
        b"\x00" * 1000,
    ],
    ids=str,
)
def test_whatever_the_other_side_says_is_an_error_in_words(bytes_: bytes):
    told = ask(*[raw(bytes_)] * 5)
    assert told.error
    assert told.error.sentence.startswith(("Fake", "The connection to Fake"))


@pytest.mark.parametrize(
    "url",
    [
        "/",
        "localhost:1",
        "ftp://127.0.0.1/",
        "http://",
        "http://127.0.0.1:99999/v1",
        "http://127.0.0.1:-1/v1",
        "http://[::1",
        "http://" + "a" * 70 + ".example/",
        "http://no.such.name.invalid/",
        "http://a\x00b/",
        "http://127.0.0.1/\ud800",
        "javascript:alert(1)",
    ],
)
def test_an_address_that_leads_nowhere_is_unreachable(url: str):
    assert ask(url=url).trouble is Trouble.UNREACHABLE


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(status: int):
    told = ask(answer(status, b"", {"location": "/elsewhere"}))
    assert told.trouble is Trouble.UNREACHABLE
    assert len(told.server.asked) == 1


@pytest.mark.parametrize("location", ["http://[", "\x80", "//:0", "http://a b:c/"])
def test_a_redirect_to_nonsense_is_an_error_in_words(location: str):
    assert ask(*[answer(302, b"", {"location": location})] * 5).error


# The key


def shown(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error) + str(vars(type(error)))


def test_a_key_that_a_server_repeats_is_hidden():
    for script in (
        answer(401, f"no such key: {KEY}".encode()),
        stream(frame(fail="key", again=False, why=KEY)),
    ):
        told = ask(script)
        assert told.error and told.error.raw
        assert KEY not in shown(told.error)


@pytest.mark.parametrize("end", ["\n", " ", "é", "\x7f", "\r\nx-evil: 1", "\ud800"])
def test_a_key_that_fits_no_header_is_refused_without_showing_it(end: str):
    told = ask(stream(*says("ok")), key=KEY + end)
    assert told.trouble is Trouble.KEY
    assert told.error and KEY not in shown(told.error)
    assert told.server.asked == []


def test_the_key_is_in_no_log_line(caplog: pytest.LogCaptureFixture):
    for name in ("httpx", "httpcore", "asyncio"):
        caplog.set_level(logging.DEBUG, logger=name)
    ask(stream(*says("ok")))
    ask(answer(401, b"no"))
    assert caplog.records
    assert KEY not in caplog.text
