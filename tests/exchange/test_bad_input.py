"""Bad input as anybody may send it: the page names the file and what is wrong with it and where, or what was mended; nothing is half there,
and the next file comes."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile

import pytest

from chatapp import store
from chatapp.exchange.models import Import, ImportPiece
from chatapp.store import in_thread
from chatapp.store.models import Conversation
from tests.support.front import HTMX, house, visitor
from tests.support.stage import play

from .bringing import answer, ours, question, said
from .test_bad_files import BROKEN, MB, PAIR, packed, within
from .test_pages import at_work, bring, newest, page

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]


def bomb() -> bytes:
    """A list that packs to a thousandth."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file,
        file.open("conversations.json", "w") as inside,
    ):
        inside.write(b'{"format":"thoughtline","version":1,"conversations":[')
        for _ in range(100):
            inside.write(b" " * MB)
    return out.getvalue()


REFUSED = {
    "a zip bomb": (bomb, "which no conversations do"),
    "a zip with paths that climb": (
        lambda: packed(("../conversations.json", ours(PAIR))),
        "“../conversations.json” leads out of it",
    ),
    **{
        what: (lambda what=what: BROKEN[what][0], BROKEN[what][1])
        for what in (
            "very deep",
            "very deep in a message",
            "a name twice",
            "a lone surrogate as it is",
            "a number beyond all",
            "a wrong format under a right name",
            "half a file",
            "one word without an end",
        )
    },
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_come_is_named_with_its_place_and_keeps_nothing_else_from_coming(alice, what):
    make, words = REFUSED[what]

    async def story():
        async with at_work():
            she = await visitor(alice)
            await bring(she, make(), name="bad.json", piece=8 * MB)
            row = await in_thread(newest)(alice)
            await she.post(f"/import/{row.pk}/check/")
            shown = await page(she, "checked")
            assert "bad.json" in shown and "Not read: " in shown and words in shown
            assert (await she.post(f"/import/{row.pk}/start/", {"skip": "on"})).status_code == 409
            await she.post(f"/import/{row.pk}/end/")
            await in_thread(nothing_is_there)()
            assert await comes(she, alice, ours(PAIR)) == 1

    def nothing_is_there():
        assert not Conversation.objects.exists() and not ImportPiece.objects.exists()

    play(story())


async def comes(who, owner, data: bytes) -> int:
    """How many conversations there are of them, when this file has come."""
    await bring(who, data, name="kept.json", piece=8 * MB)
    row = await in_thread(newest)(owner)
    await who.post(f"/import/{row.pk}/check/")
    shown = await page(who, "checked")
    assert "Not read" not in shown, shown
    assert (await who.post(f"/import/{row.pk}/start/", {"skip": "on"})).status_code == 303
    await page(who, "choosing")
    return await in_thread(Conversation.objects.filter(owner=owner, deleted_at=None).count)()


TIMED = answer(
    items=[{"key": "r", "kind": "reasoning", "text": "Hm."}], recorded={"reasoning_durations_ms": {"r": -5}}
)
TURNED = answer(recorded={"timings_ms": {"msg_1": {"start": 9, "end": 1}}})
MENDED = {
    "half of a sign": (lambda: within('"\\ud800"'), ""),
    "U+0000": (lambda: within('"a\\u0000b"'), ""),
    "10,000 first questions": (
        lambda: ours(said(*[question(n) for n in range(1, 10_001)])),
        "Conversations with several first questions",
    ),
    "a cycle": (
        lambda: ours(said(question(), answer(), question(3, 4), answer(4, 3))),
        "A loop of messages, cut where it closed",
    ),
    "the year 0": (lambda: ours(said(question(created_at="0000-01-01T00:00:00Z"), answer())), "Moments that"),
    "the year 99999": (
        lambda: ours(said(question(created_at="99999-01-01T00:00:00Z"), answer())),
        "Moments that cannot be right",
    ),
    "a negative time": (lambda: ours(said(question(), TIMED)), "Times of thoughts that cannot be right"),
    "a reversed time": (lambda: ours(said(question(), TURNED)), "Moments that cannot be right"),
}


@pytest.mark.parametrize("what", MENDED)
def test_what_can_be_mended_comes_and_it_is_said(alice, what):
    make, words = MENDED[what]

    async def story():
        async with at_work():
            she = await visitor(alice)
            data = make()
            await bring(she, data, name="odd.json", piece=8 * MB)
            row = await in_thread(newest)(alice)
            await she.post(f"/import/{row.pk}/check/")
            assert words in await page(she, "checked")
            await she.post(f"/import/{row.pk}/end/")
            assert await comes(she, alice, data) == 1
            (copy,) = await in_thread(list)(Conversation.objects.filter(owner=alice))
            assert (await she.get(f"/c/{copy.pk}/")).status_code == 200
            assert await in_thread(list)(store.verify_log()) == []

    play(story())


def test_the_same_file_twenty_times_at_once_is_there_once(alice):
    async def story():
        async with at_work():
            she = await visitor(alice)
            await asyncio.gather(*(bring(she, ours(PAIR)) for _ in range(20)))
            row = await in_thread(newest)(alice)
            for command, step in (("check", "checked"), ("start", "choosing")):
                sent = (she.post(f"/import/{row.pk}/{command}/", {"skip": "on"}) for _ in range(20))
                statuses = sorted(reply.status_code for reply in await asyncio.gather(*sent))
                # Whoever waited for the database for too long is told so, and nothing was done.
                assert statuses[0] == 303 and {*statuses[1:]} <= {409, 503}, (command, statuses)
                await page(she, step)
            assert await in_thread(Conversation.objects.filter(owner=alice).count)() == 1
            assert await in_thread(Import.objects.filter(owner=alice).count)() == 1

    play(story())


def test_more_than_may_come_in_a_day_is_refused_before_it_is_sent(alice):
    async def story():
        async with house():
            she = await visitor(alice)
            told = {"name": "all.json", "size": 3 * 1024**3}
            refused = await she.post("/import/files/", told, headers=HTMX)
            assert refused.status_code == 409 and "more than 2 GB in one day" in refused.text

    play(story())


def test_ids_of_others_are_nobodys_in_a_file_and_at_an_address(alice, bob):
    async def story():
        async with at_work():
            she, he = await visitor(alice), await visitor(bob)
            await comes(he, bob, ours(PAIR))
            theirs = await in_thread(Conversation.objects.get)(owner=bob)
            named = said(
                question(author="bob"), answer(), id=str(theirs.pk), head=str(theirs.pk), owner=bob.pk
            )
            assert await comes(she, alice, ours(named)) == 1
            assert await in_thread(Conversation.objects.filter(owner=bob).count)() == 1
            file = await bring(he, ours(PAIR))
            row = await in_thread(newest)(bob)
            sent = {"content": b"x", "headers": HTMX | {"X-CSRFToken": she.token}}
            assert (await she.send("POST", f"/import/files/{file}/?begins=0", **sent)).status_code == 404
            assert (await she.get(f"/import/files/{file}/")).status_code == 404
            for address in (f"files/{file}/remove", *(f"{row.pk}/{do}" for do in ("check", "start", "end"))):
                assert (await she.post(f"/import/{address}/")).status_code == 404
            assert json.loads((await he.get(f"/import/files/{file}/")).text)["received"] == len(ours(PAIR))

    play(story())
