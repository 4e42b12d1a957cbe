"""Through the front door: a file goes out, another person brings it in pieces, sees what would come, and has it."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest

from chatapp.exchange.models import Import
from chatapp.exchange.part import LongWork
from chatapp.store import in_thread
from chatapp.store.models import Conversation
from tests.support.front import HTMX, house, visitor
from tests.support.stage import play, until

from .bringing import ours, question, said
from .filled import filled

pytestmark = [pytest.mark.both, pytest.mark.across, pytest.mark.django_db(transaction=True)]


@asynccontextmanager
async def at_work():
    """A house in which somebody does what takes long."""
    async with house() as engine:
        work = asyncio.create_task(engine.part(LongWork).keep())
        try:
            yield
        finally:
            work.cancel()


async def bring(who, data: bytes, *, name: str = "x.json", piece: int = 1000) -> str:
    """As the script does it."""
    place = await who.post("/import/files/", {"name": name, "size": len(data)}, headers=HTMX)
    file, received = place.json()["file"], place.json()["received"]
    while received < len(data):
        reply = await who.send(
            "POST",
            f"/import/files/{file}/?begins={received}",
            content=data[received : received + piece],
            headers=HTMX | {"X-CSRFToken": who.token, "Content-Type": "application/octet-stream"},
        )
        received = reply.json()["received"]
    return file


async def page(who, step: str) -> str:
    async def there():
        text = (await who.get("/import/", headers=HTMX)).text
        return text if f'data-step="{step}"' in text else None

    return await until(there)


def newest(owner) -> Import:
    return Import.objects.filter(owner=owner).order_by("-created_at")[0]


def test_a_file_goes_out_and_comes_in_at_another_persons(alice, bob):
    async def story():
        hers = await in_thread(filled)(alice)
        async with at_work():
            she, he = await visitor(alice), await visitor(bob)
            file = (await she.get(f"/c/{hers.pk}/export/?format=json")).content
            assert "Choose files" in (await he.get("/import/")).text
            await bring(he, file)
            row = await in_thread(newest)(bob)
            assert "x.json" in (await he.get("/import/")).text
            assert (await he.post(f"/import/{row.pk}/check/")).status_code == 303
            shown = await page(he, "checked")
            assert "Import 1 conversation" in shown and "to the millisecond: 4" in shown
            assert (
                await he.post(f"/import/{row.pk}/start/", {"skip": "on"}, headers=HTMX)
            ).status_code == 200

            async def came():
                return await in_thread(Conversation.objects.filter(owner=bob, deleted_at=None).first)()

            copy = await until(came)
            opened = (await he.get(f"/c/{copy.pk}/")).text
            assert "Thought for 3 seconds" in opened and "Imported from Thoughtline" in opened
            again = (await he.get(f"/c/{copy.pk}/export/?format=json")).json()
            assert again["conversations"] == json.loads(file)["conversations"]
            await page(he, "choosing")
            assert (await he.post(f"/import/{row.pk}/end/")).status_code == 303
            assert (await he.get(f"/c/{copy.pk}/")).status_code == 404

    play(story())


def test_without_scripts_small_files_come_by_the_form(alice):
    async def story():
        async with at_work():
            she = await visitor(alice)
            files = [("files", (f"{n}.json", ours(said(question(text=f"{n}?"))))) for n in range(2)]
            form = {"csrfmiddlewaretoken": she.token}
            assert (await she.send("POST", "/import/files/", data=form, files=files)).status_code == 303
            assert "Import 2 conversations" in await page(she, "checked")

    play(story())


def test_a_title_that_attacks_is_shown_as_it_is(alice):
    async def story():
        attack = '"><script>alert(1)</script>'
        async with at_work():
            she = await visitor(alice)
            data = ours(said(question(), question(3, 77), title=attack))
            await bring(she, data, name=f"{attack}.json")
            row = await in_thread(newest)(alice)
            await she.post(f"/import/{row.pk}/check/")
            shown = await page(she, "checked")
            assert "&lt;script&gt;" in shown and "<script>alert" not in shown

    play(story())


def test_a_piece_that_is_too_large_or_stands_elsewhere_is_refused(alice):
    async def story():
        async with house():
            she = await visitor(alice)
            reply = await she.post("/import/files/", {"name": "x", "size": 20_000_000}, headers=HTMX)
            path = f"/import/files/{reply.json()['file']}/"
            headers = HTMX | {"X-CSRFToken": she.token, "Content-Type": "application/octet-stream"}
            for begins, size, status in ((0, 9_000_000, 413), (5, 10, 409), (0, 8 * 1024 * 1024, 200)):
                sent = await she.send("POST", f"{path}?begins={begins}", content=b"x" * size, headers=headers)
                assert sent.status_code == status, (begins, size)
            assert (await she.get(path, headers=HTMX)).json() == {
                "received": 8 * 1024 * 1024,
                "size": 20_000_000,
            }
            for wrong in ("?begins=", "?begins=-1", ""):
                assert (
                    await she.send("POST", path + wrong, content=b"x", headers=headers)
                ).status_code == 400
            for form in ({"name": "x"}, {"name": "x", "size": "many"}):
                assert (await she.post("/import/files/", form, headers=HTMX)).status_code == 400

    play(story())


def test_what_is_over_is_refused_and_what_is_not_there_does_not_exist(alice):
    async def story():
        async with house():
            she = await visitor(alice)
            await bring(she, ours(said(question())))
            row = await in_thread(newest)(alice)
            assert (await she.post(f"/import/{row.pk}/start/")).status_code == 409
            assert (await she.post(f"/import/{row.pk}/end/")).status_code == 303
            for command in ("check", "start", "end"):
                assert (await she.post(f"/import/{row.pk}/{command}/")).status_code == 404
                assert (await she.post(f"/import/{uuid4()}/{command}/")).status_code == 404

    play(story())
