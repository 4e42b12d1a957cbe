"""Everything of one's own leaves as one zip: all that is one's own, nothing that is a secret or another's, and it comes in again."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from django.utils import timezone

from chatapp.exchange.models import Archive, ArchivePiece
from chatapp.exchange.store import archives
from chatapp.exchange.store.at_work import DEAD, Abandoned, LongJob
from chatapp.gateway.store.keys import KeyChoices, create_key
from chatapp.oversight.models import Look
from chatapp.oversight.store.looks import append_looks
from chatapp.reviews.models import Note, Submission
from chatapp.reviews.store.submitting import submit
from chatapp.sharing.store import share
from chatapp.store import Refused, deleting, in_thread
from chatapp.store.models import Message
from tests.support.front import house, visitor
from tests.support.stage import play, until

from .bringing import came
from .filled import file_of, filled
from .test_pages import at_work

pytestmark = pytest.mark.both


def made(owner) -> Archive:
    archives.begin(owner)
    taken = archives.take("here")
    archives.make(LongJob(taken, "here"))
    taken.refresh_from_db()
    return taken


def bytes_of(archive) -> bytes:
    return b"".join(archives.pieces_of(archive.pk))


def inside(archive) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(bytes_of(archive)))


def test_all_conversations_are_in_it_and_come_in_again(alice, bob):
    sources = [filled(alice, "One"), filled(alice, "Two")]
    deleting.delete_conversation(filled(alice, "Gone").pk)
    filled(bob, "Not hers")
    archive = made(alice)
    assert (archive.state, archive.done, archive.conversations_done) == ("ready", 12, 2)
    assert archive.size == len(bytes_of(archive))
    copies = came(bob, bytes_of(archive), name="{}.zip")
    assert {file_of(copy) for copy in copies} == {file_of(source) for source in sources}


def test_what_is_beside_conversations_is_in_it_and_no_secret_is(alice, bob, dana):
    hers = filled(alice, "One")
    leaf = Message.objects.get(pk=hers.head_id)
    link = share(leaf, by=alice)
    submission = submit(leaf, by=alice)
    Submission.objects.filter(pk=submission.pk).update(verdict="approved", reason="Good.", reviewer=bob)
    Note.objects.create(submission=submission, message=leaf, author=bob, text="Hm.")
    append_looks(dana, [hers.pk], Look.What.TRANSCRIPT, address="")
    _, secret = create_key(alice, KeyChoices(name="Editor"))
    packed = inside(made(alice))
    told = {name: json.loads(packed.read(name)) for name in packed.namelist() if name.endswith(".json")}
    assert told["settings.json"]["username"] == "alice"
    assert told["shares.json"][0]["conversation"] == "One"
    (review,) = told["reviews.json"]["received"]
    assert (review["verdict"], review["reviewer"], review["notes"][0]["text"]) == ("approved", "bob", "Hm.")
    assert [look["who"] for look in told["looks.json"]] == ["dana"]
    whole = b"".join(packed.read(name) for name in packed.namelist()).decode()
    secrets = [secret, link.token, alice.password, str(hers.pk)]
    assert not [each for each in secrets if each in whole]
    # Of what was submitted to somebody only their own word is theirs.
    given = json.loads(inside(made(bob)).read("reviews.json"))["given"]
    assert given[0]["reason"] == "Good." and "One" not in json.dumps(given)


def test_it_is_made_in_pieces_and_by_whoever_takes_it_up(alice, monkeypatch):
    monkeypatch.setattr(archives, "PIECE", 500)
    filled(alice)
    archives.begin(alice)
    with pytest.raises(Refused, match="being made already"):
        archives.begin(alice)
    taken = archives.take("dead")
    assert archives.take("here") is None
    monkeypatch.setattr("chatapp.exchange.store.at_work.BEAT_SECONDS", -1)
    with pytest.raises(Abandoned):
        archives.make(LongJob(taken, "dead", lambda: False))
    Archive.objects.update(touched_at=timezone.now() - 2 * DEAD)
    again = archives.take("here")
    archives.make(LongJob(again, "here"))
    assert ArchivePiece.objects.count() > 1 and inside(again).testzip() is None
    with pytest.raises(Abandoned):
        archives.make(LongJob(taken, "dead"))


def test_it_goes_in_a_day_and_with_its_owner(alice, bob):
    made(alice)
    Archive.objects.update(created_at=timezone.now() - 2 * archives.KEPT)
    deleting.purge()
    assert not ArchivePiece.objects.exists()
    made(bob)
    deleting.remove_account(bob)
    assert not Archive.objects.exists()


def test_only_so_many_are_made_in_a_day(alice, monkeypatch):
    monkeypatch.setattr(archives, "MOST_A_DAY", 1)
    made(alice)
    with pytest.raises(Refused, match="were made today"):
        made(alice)


@pytest.mark.django_db(transaction=True)
def test_it_is_fetched_by_its_owner_alone_and_can_be_taken_away(alice, bob):
    async def story():
        await in_thread(filled)(alice)
        async with at_work():
            she, he = await visitor(alice), await visitor(bob)
            assert "Prepare the zip" in (await she.get("/settings/export/")).text
            assert (await she.post("/settings/export/")).status_code == 303

            async def ready():
                row = await in_thread(Archive.objects.get)()
                return row if row.state == "ready" else None

            row = await until(ready)
            path = f"/settings/export/{row.pk}/"
            file = await she.get(path)
            assert file.headers["content-length"] == str(row.size) == str(len(file.content))
            assert zipfile.ZipFile(io.BytesIO(file.content)).testzip() is None
            assert (await he.get(path)).status_code == 404
            assert (await she.post(f"{path}remove/")).status_code == 303
            assert (await she.get(path)).status_code == 404

    play(story())


@pytest.mark.django_db(transaction=True)
def test_what_is_not_ready_is_not_there(alice):
    async def story():
        row = await in_thread(archives.begin)(alice)
        async with house():
            she = await visitor(alice)
            assert (await she.get(f"/settings/export/{row.pk}/")).status_code == 404
            assert "Preparing your zip" in (await she.get("/settings/export/")).text

    play(story())
