"""`manage.py verify_log` looks at one moment, and what it found is told to whoever runs the house; so is the last backup."""

from __future__ import annotations

import getpass

import pytest
from django.core.management import CommandError, call_command

from chatapp import store
from chatapp.management.proved import prove
from chatapp.operation.models import Upkeep
from chatapp.operation.store.upkeep import SAVED, VERIFIED
from chatapp.pages.words.amounts import in_bytes
from chatapp.store.models import Conversation, Message, Role
from tests.support.faults import read_only
from tests.support.page import Page, words
from tests.support.patience import PATIENCE
from tests.support.threads import InThread

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def damaged(alice) -> Conversation:
    conversation = store.start_conversation(alice, tools=[])
    Message.objects.create(conversation=conversation, role=Role.USER, order=0)
    return conversation


@pytest.fixture
def her(client, dana):
    client.force_login(dana)
    return client


def sums(her) -> dict[str, str]:
    page = Page(her.get("/insight/operation/"))
    return dict(zip(map(words, page.all("dt")), map(words, page.all("dd")), strict=True))


def test_what_is_written_meanwhile_is_not_looked_at_and_need_not_wait(alice, damaged):
    """A question without words is looked for last."""
    told: list[str] = []

    def write() -> None:
        conversation = store.start_conversation(alice, tools=[])
        Message.objects.create(conversation=conversation, role=Role.USER, order=0)

    def tell(breach: str) -> None:
        if not told:
            writing = InThread(write)
            assert writing.finished(PATIENCE)
            assert writing.problem is None
        told.append(breach)

    first = prove(tell)
    assert first == len(told) > 0
    assert prove(told.append) > first


def test_the_page_and_the_figures_tell_when_it_was_proved_and_what_came_of_it(her, damaged, capsys):
    assert sums(her)["Log verified"].startswith("never")
    with pytest.raises(CommandError, match="1 breach of the log"):
        call_command("verify_log")
    breaches = Upkeep.objects.get(what=VERIFIED).breaches
    assert breaches == len(capsys.readouterr().out.splitlines()) == 1
    assert f"1 breach, by {getpass.getuser()} on " in sums(her)["Log verified"]
    page = her.get("/insight/operation/").text
    assert "Something is wrong" in page
    assert "The log was found with 1 breach. manage.py verify_log names each." in page
    assert "thoughtline_log_breaches 1" in her.get("/metrics").text
    Conversation.objects.all().delete()
    call_command("verify_log")
    assert "no breach, by " in sums(her)["Log verified"]
    assert "The log was found" not in her.get("/insight/operation/").text
    assert "thoughtline_log_verified_timestamp_seconds 1" in her.get("/metrics").text


def test_they_tell_when_all_was_last_saved_and_how_large_that_is(her, tmp_path, capsys):
    assert sums(her)["Last backup"].startswith("never")
    assert "thoughtline_backup_" not in her.get("/metrics").text
    call_command("backup", str(tmp_path / "a.backup"))
    size = (tmp_path / "a.backup").stat().st_size
    row = Upkeep.objects.get(what=SAVED)
    assert row.size == size
    assert f"{in_bytes(size)}, of {row.kind}, by " in sums(her)["Last backup"]
    assert f"thoughtline_backup_bytes {size}" in her.get("/metrics").text


def test_what_cannot_be_noted_was_done_all_the_same(tmp_path, capsys):
    with read_only():
        call_command("backup", str(tmp_path / "a.backup"))
    assert (tmp_path / "a.backup").exists()
    assert not Upkeep.objects.exists()
