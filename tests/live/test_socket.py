"""Who may listen, to what, and for how long; and what a socket does with nonsense."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import count
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone

from chatapp.accounts.store import leaving
from chatapp.pages import signed_in
from chatapp.reviews.store import reviewing
from chatapp.reviews.store.submitting import submit
from chatapp.store import Started, changes, deleting, in_thread, titles
from chatapp.store.models import Conversation, Message
from chatapp.turns.engine import engine
from tests.support.front import house, session_of, visitor
from tests.support.listening import Socket, listening
from tests.support.locked import lock
from tests.support.reviewed import reviewer
from tests.support.stage import play, until
from tests.support.turns import ended

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

REFUSED = 1000
NONSENSE, SIGNED_OUT, NOT_YOURS = 4400, 4401, 4404


def address(conversation, leaf="", version="") -> str:
    return f"/ws/c/{conversation}/?leaf={leaf}&version={version}"


OURS = [
    ("http://localhost", "localhost"),
    ("http://localhost:8000", "localhost:8000"),
    ("http://[::1]:8000", "[::1]:8000"),
]
OTHERS = [
    (None, "localhost"),
    ("", "localhost"),
    ("null", "localhost"),
    ("http://localhost:8001", "localhost:8000"),
    ("http://localhost:8000", "localhost"),
    ("https://localhost", "localhost"),
    ("ftp://localhost", "localhost"),
    ("//localhost", "localhost"),
    ("localhost", "localhost"),
    ("http://localhost.example.org", "localhost"),
    ("http://example.org/localhost", "localhost"),
    ("http://me@localhost", "localhost"),
    ("http://localhost/", "localhost"),
    ("http://[", "["),
    ("http://", ""),
    ("http://example.org", "example.org"),
]


@pytest.mark.parametrize(("origin", "host"), OURS)
def test_our_own_pages_may_listen(alice, origin, host):
    async def story():
        async with listening(alice, origin=origin, host=host) as socket:
            assert socket.is_open

    play(story())


@pytest.mark.parametrize(("origin", "host"), OTHERS, ids=str)
def test_pages_from_elsewhere_may_not_listen(alice, origin, host):
    async def story():
        async with listening(alice, origin=origin, host=host) as socket:
            assert socket.code == REFUSED

    play(story())


@pytest.mark.parametrize(
    ("origin", "open"),
    [
        ("https://chat.example.org", True),
        ("http://chat.example.org", False),
        ("https://chat.example.org:8443", False),
        ("https://localhost", False),
        ("http://localhost", False),
        (None, False),
    ],
    ids=str,
)
def test_where_the_public_address_is_known_only_it_may_listen(alice, settings, origin, open):
    settings.PUBLIC_URL = "https://chat.example.org"

    async def story():
        async with listening(alice, origin=origin) as socket:
            assert socket.is_open is open

    play(story())


@pytest.mark.parametrize("path", ["/ws/", "/ws/c/{conversation}/"])
def test_strangers_are_told_to_sign_in(alice, path):
    async def story():
        async with house():
            started = await in_thread(ended)(alice)
            for session in ("", "no-such-session"):
                socket = await Socket(path.format(conversation=started.conversation), session).open()
                assert await socket.is_closed() == SIGNED_OUT

    play(story())


@pytest.mark.parametrize("person", ["bob", "charlie", "dana"])
def test_the_conversation_of_another_person_is_one_that_does_not_exist(request, alice, person):
    other = request.getfixturevalue(person)

    async def story():
        started = await in_thread(ended)(alice)
        heard = []
        for conversation in (started.conversation, uuid4()):
            async with listening(other, path=address(conversation, started.answer)) as socket:
                heard.append((await socket.is_closed(), socket.said))
        assert heard == [(NOT_YOURS, []), (NOT_YOURS, [])]

    play(story())


def test_a_deleted_conversation_is_one_that_does_not_exist(alice):
    async def story():
        started = await in_thread(ended)(alice)
        await in_thread(deleting.delete_conversation)(started.conversation)
        async with listening(alice, path=address(started.conversation)) as socket:
            assert await socket.is_closed() == NOT_YOURS

    play(story())


def give_away(conversation, alice, bob):
    Conversation.objects.filter(pk=conversation).update(owner=bob)


def delete_silently(conversation, alice, bob):
    Conversation.objects.filter(pk=conversation).update(deleted_at=timezone.now())


def delete(conversation, alice, bob):
    deleting.delete_conversation(conversation)


@pytest.mark.parametrize("ends", [give_away, delete_silently, delete])
def test_whoever_may_read_a_conversation_no_more_hears_no_more_of_it(alice, bob, ends):
    async def story():
        started = await in_thread(ended)(alice)
        async with listening(alice, path=address(started.conversation, started.answer)) as socket:
            await hears(socket, started)
            await in_thread(ends)(started.conversation, alice, bob)
            await in_thread(titles.retitle)(started.conversation, "A secret")
            assert await socket.is_closed() == NOT_YOURS
            assert ["state", "title", "A secret"] not in socket.said

    play(story())


@pytest.mark.parametrize("end", ["another conversation's", "another person's", "nobody's", "garbage"])
def test_an_end_that_is_not_of_this_conversation_tells_nothing_of_it(alice, bob, end):
    async def story():
        started = await in_thread(ended)(alice)
        others = {
            "another conversation's": (await in_thread(ended)(alice, "A secret")).answer,
            "another person's": (await in_thread(ended)(bob, "A secret")).answer,
            "nobody's": uuid4(),
            "garbage": "%00%F0x" * 20,
        }
        async with listening(alice, path=address(started.conversation, others[end])) as socket:
            await in_thread(titles.retitle)(started.conversation, "A name")
            await socket.sees(lambda it: ["state", "title", "A name"] in it.said)
            assert "secret" not in str(socket.said)
            assert str(others[end]) not in str(socket.said)

    play(story())


def test_the_list_is_told_to_its_owner_alone(alice, charlie, dana):
    async def story():
        async with listening(alice, charlie, dana) as (hers, his, admins):
            started = await in_thread(ended)(alice)
            await in_thread(ended)(charlie, "Something else")
            await hers.sees(lambda it: str(started.conversation) in str(it.said))
            await his.sees(lambda it: "Something else" in str(it.said))
            assert str(started.conversation) not in str(his.said)
            assert "Something else" not in str(hers.said)
            assert await admins.receive_nothing()

    play(story())


def test_the_list_beside_a_page_catches_up_with_what_happened_before_its_socket_opened(alice):
    async def story():
        started = await in_thread(ended)(alice)
        async with listening(alice, path=address(started.conversation, started.answer)) as socket:
            mine = f'id="c-{started.conversation}"'
            await socket.sees(lambda it: any(said[0] == "put" and mine in said[1] for said in it.said))
            (row,) = [said[1] for said in socket.said if said[0] == "put" and mine in said[1]]
            assert 'aria-current="page"' in row and "data-status" not in row

    play(story())


def test_reviews_are_told_to_both_sides_in_numbers_alone(alice, bob, charlie):
    async def story():
        await in_thread(reviewer)(bob)
        async with listening(alice, bob, charlie) as (hers, his, others):
            started = await in_thread(ended)(alice, "A canary")
            await hers.sees(lambda it: "A canary" in str(it.said))
            leaf = await in_thread(Message.objects.get)(pk=started.answer)
            row = await in_thread(submit)(leaf, by=alice, question="canary")
            await his.sees(lambda it: "1<span" in str(it.said))
            await in_thread(reviewing.claim)(row, by=bob)
            await in_thread(reviewing.append_note)(row, by=bob, text="canary", message=leaf.pk)
            await hers.sees(lambda it: "1<span" in str(it.said))
            assert "canary" not in str(his.said) and str(started.conversation) not in str(his.said)
            assert await others.receive_nothing()

    play(story())


NUMBERLESS = [
    "",
    "x",
    "-1",
    "+1",
    "1.5",
    "1e3",
    " 1",
    "²",
    "١",
    "0x1",
    "9" * 13,
    "{}",
    "[1]",
    "9" * 1_000_000,
    "\0",
]


@pytest.mark.parametrize("words", NUMBERLESS, ids=lambda words: repr(words[:10]))
def test_nonsense_ends_the_socket(alice, words):
    async def story():
        started = await in_thread(ended)(alice)
        async with listening(alice, path=address(started.conversation)) as socket:
            await socket.answer(text=words)
            assert await socket.is_closed() == NONSENSE

    play(story())


@pytest.mark.parametrize("data", [b"", b"1", b"\xff\xfe", b"0" * 1_000_000], ids=lambda data: repr(data[:4]))
def test_binary_frames_end_the_socket(alice, data):
    async def story():
        async with listening(alice) as socket:
            await socket.answer(data=data)
            assert await socket.is_closed() == NONSENSE

    play(story())


def test_a_socket_that_was_ended_says_nothing_more(alice):
    async def story():
        started = await in_thread(ended)(alice)
        async with listening(alice, path=address(started.conversation)) as socket:
            await socket.answer(text="nonsense")
            await socket.is_closed()
            await in_thread(titles.retitle)(started.conversation, "A name")
            assert await socket.receive_nothing()

    play(story())


@pytest.mark.parametrize("number", ["0", "1", "007", "999999999999"])
def test_any_number_is_an_acknowledgement(alice, number):
    async def story():
        started = await in_thread(ended)(alice)
        async with listening(alice, path=address(started.conversation)) as socket:
            await socket.answer(text=number)
            await in_thread(titles.retitle)(started.conversation, "A name")
            await socket.sees(lambda it: ["state", "title", "A name"] in it.said)

    play(story())


async def hears(socket: Socket, started: Started) -> None:
    """Returns when news reach it."""
    names = (f"Name {number}" for number in count())
    while await socket.receive_nothing(0.05):
        await in_thread(titles.retitle)(started.conversation, next(names))
    await socket.sees(lambda it: it.said)


def sign_out(user: User) -> None:
    Session.objects.all().delete()


def deactivate(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def change_password(user: User) -> None:
    user.set_password("another long password")
    user.save()


@pytest.mark.parametrize("path", ["/ws/", "/ws/c/{conversation}/"])
@pytest.mark.parametrize("ends", [sign_out, deactivate, change_password])
def test_who_is_signed_out_hears_no_more_news(alice, ends, path):
    async def story():
        started = await in_thread(ended)(alice)
        async with listening(alice, path=path.format(conversation=started.conversation)) as socket:
            await hears(socket, started)
            await in_thread(ends)(alice)
            await in_thread(titles.retitle)(started.conversation, "A secret")
            assert await socket.is_closed() == SIGNED_OUT
            assert "A secret" not in str(socket.said)

    play(story())


def test_signing_out_in_the_same_browser_ends_the_socket(alice):
    async def story():
        async with house():
            her = await visitor(alice)
            started = await in_thread(ended)(alice)
            socket = await Socket(address(started.conversation, started.answer), her.session).open()
            await hears(socket, started)
            assert (await her.post("/accounts/logout/")).status_code == 302
            await in_thread(titles.retitle)(started.conversation, "A secret")
            assert await socket.is_closed() == SIGNED_OUT
            await socket.leave()

    play(story())


def test_who_is_signed_out_sees_no_more_of_an_answer_that_is_being_written(alice):
    async def story():
        async with house():
            her = await visitor(alice)
            asked = await her.post("/ask/", {"text": "What can Thoughtline do?"})
            conversation = asked.headers["location"].split("/")[2]
            answer = await in_thread(lambda: Conversation.objects.get(pk=conversation).head_id)()
            socket = await Socket(address(conversation, answer), her.session).open()
            await socket.is_told("text")
            await in_thread(sign_out)(alice)
            began = asyncio.get_running_loop().time()
            assert await socket.is_closed() == SIGNED_OUT
            assert asyncio.get_running_loop().time() - began < 5.5
            await socket.leave()

    play(story())


def test_whose_account_is_deleted_hears_no_more(alice):
    async def story():
        started = await in_thread(ended)(alice)
        async with listening(alice, path=address(started.conversation)) as socket:
            await socket.sees(lambda it: ["state", "version", "0.0.complete"] in it.said)
            await in_thread(leaving.leave)(alice)
            await in_thread(changes.tell)(started.conversation, "head moved")
            assert await socket.is_closed() == SIGNED_OUT

    play(story())


def expire_session(user: User) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize("ends", [sign_out, deactivate, change_password, expire_session])
def test_a_silent_socket_learns_too_that_its_person_may_hear_no_more(alice, monkeypatch, ends):
    """Nobody tells it: another process has done it."""
    monkeypatch.setattr(signed_in, "ASK_AGAIN_SECONDS", 0.02)

    async def story():
        async with listening(alice) as socket:
            assert await socket.receive_nothing(0.1)
            await in_thread(ends)(alice)
            assert await socket.is_closed() == SIGNED_OUT

    play(story())


def test_what_happens_to_one_ends_no_silent_socket_of_another(alice, bob, monkeypatch):
    """Also where the other's own session was written meanwhile."""
    monkeypatch.setattr(signed_in, "ASK_AGAIN_SECONDS", 0.02)

    async def story():
        async with listening(alice, bob) as (hers, his):
            for row in await in_thread(lambda: list(Session.objects.all()))():
                await in_thread(_rewritten)(row.session_key)
            await in_thread(deactivate)(alice)
            assert await hers.is_closed() == SIGNED_OUT
            assert await his.receive_nothing(0.1)
            await in_thread(deactivate)(bob)
            assert await his.is_closed() == SIGNED_OUT

    play(story())


def _rewritten(session: str) -> None:
    store = signed_in.SessionStore(session)
    store["seen"] = "news"
    store.save()


@pytest.mark.skipif(
    connection.vendor != "postgresql", reason="A file of SQLite can be read whoever writes it."
)
def test_a_database_that_is_away_for_a_moment_closes_no_socket(alice, monkeypatch, caplog):
    """What it cannot be asked it is asked again."""
    monkeypatch.setattr(signed_in, "ASK_AGAIN_SECONDS", 0.02)

    async def begins_anew() -> bool:
        return "a listening socket begins anew" in caplog.text

    async def story(database):
        started = await in_thread(ended)(alice)
        async with listening(alice, path=address(started.conversation, started.answer)) as socket:
            await hears(socket, started)
            await asyncio.to_thread(database.shut)
            engine().notices._tell_of_silence()
            await until(begins_anew)
            await asyncio.to_thread(database.open)
            await in_thread(titles.retitle)(started.conversation, "Afterwards")
            await socket.sees(lambda it: ["state", "title", "Afterwards"] in it.said)

    with lock() as database:
        play(story(database))


def test_many_who_stay_are_asked_after_in_two_queries(alice, bob, django_assert_num_queries):
    loop = asyncio.new_event_loop()
    here = [
        signed_in.Present(session_of(each), each, loop.create_future())
        for each in (alice, bob)
        for _ in range(20)
    ]
    loop.close()
    assert signed_in.who_has_left(here) == []
    with django_assert_num_queries(2):
        assert signed_in.who_has_left(here) == []
    deactivate(alice)
    assert signed_in.who_has_left(here) == here[:20]


def test_a_conversation_that_is_deleted_ends_the_socket(alice):
    async def story():
        started = await in_thread(ended)(alice)
        async with listening(alice, path=address(started.conversation, started.answer)) as socket:
            await in_thread(deleting.delete_conversation)(started.conversation)
            assert await socket.is_closed() == NOT_YOURS

    play(story())


def test_a_question_tells_its_own_session_at_once_and_asks_after_every_other(alice):
    """Whoever asks has just been looked up; what another session is told, its own rows have to allow."""

    async def story():
        async with house():
            started, she = await in_thread(ended)(alice), await visitor(alice)
            elsewhere = await in_thread(session_of)(alice)
            here, there = [
                await Socket(address(started.conversation, started.answer), session).open()
                for session in (she.session, elsewhere)
            ]
            for socket in (here, there):
                # The row of the list comes last of what a page is told at first.
                await socket.is_told("say")
                await socket.sees(
                    lambda it: any(each[1].startswith("<li") for each in it.said if each[0] == "put")
                )
                socket.said.clear()
            await in_thread(Session.objects.filter(session_key=elsewhere).delete)()
            form = {"text": "And?", "parent": str(started.answer), "model": "demo:thinker"}
            await she.post(f"/c/{started.conversation}/ask/", form, headers={"HX-Request": "true"})
            await here.is_told("add")
            assert await there.is_closed() == SIGNED_OUT
            assert there.said == []
            await here.leave()

    play(story())
