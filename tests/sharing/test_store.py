"""A link opens one branch for whoever has it, until it is taken back; it gives nothing else away."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from chatapp import store
from chatapp.accounts.store import leaving
from chatapp.sharing import store as sharing
from chatapp.sharing.models import Share
from chatapp.sharing.store import (
    fork_shared,
    load_shares,
    load_title,
    open_share,
    revoke,
    share,
    shared_messages,
)
from chatapp.store import Measured, Refused, deleting
from chatapp.store.changes import changed
from chatapp.store.models import Conversation, Item, Message
from chatapp.store.titles import retitle
from tests.branches.test_forking import rows_of_all_tables, texts_of, untouched
from tests.support.make import text, thought
from tests.support.patience import PATIENCE
from tests.support.threads import InThread, race

pytestmark = pytest.mark.both

SOON = timedelta(hours=1)


def message(pk) -> Message:
    return Message.objects.get(pk=pk)


@pytest.fixture
def turn(ask):
    def turn(words="Why?", below=None):
        started = ask(words, below)
        claim = store.claim_turn(started.answer, runner="here", seen=0)
        items = [thought(text=f"Thinking of {words}"), text(text=f"To {words}")]
        store.finish(claim, items, Measured(durations={"rs_1": 2000}))
        return started

    return turn


@pytest.fixture
def made(turn, alice) -> Share:
    """A link to the second of three turns, with a branch beside it."""
    first = turn("One")
    turn("Beside", first.answer)
    second = turn("Two", first.answer)
    link = share(message(second.answer), by=alice)
    turn("Three", second.answer)
    return link


def test_a_link_opens_its_branch_and_nothing_else(made, alice):
    shared = open_share(made.token)
    assert (shared.share, shared.leaf, shared.owner_name) == (made, made.leaf_id, "alice")
    said = [store.load_items(pk)[-1].text for pk in shared_messages(shared.share)]
    assert said == ["One", "To One", "Two", "To Two"]


def test_a_title_is_told_where_its_owner_chose_it_else_the_first_words_are(made, alice, bob):
    shared = open_share(made.token)
    first = shared_messages(made)[0]
    Conversation.objects.update(title="Said on another branch", titled_by="model")
    assert (shared.title, load_title(shared, first)) == ("", "One")
    assert fork_shared(made.token, by=bob).conversation.title == "Fork of One"
    retitle(shared.conversation, "Chosen")
    assert load_title(open_share(made.token), first) == "Chosen"
    retitle(shared.conversation, "Fork of what was said elsewhere")
    assert load_title(open_share(made.token), first) == "One"


def test_what_was_sent_and_what_a_provider_said_stay_with_the_owner(made, alice, bob):
    leaf = message(made.leaf_id)
    rounds = [{"round": 0, "model": "demo:thinker", "shape": ["canary"], "usage": {"output": 3}}]
    ended = {"reason": "refused", "sentence": "canary", "raw": "canary", "by": "canary"}
    facts = leaf.metadata | {"rounds": rounds, "ended": ended, "asks": ["canary"]}
    Message.objects.filter(pk=leaf.pk).update(metadata=facts)
    copy = message(fork_shared(made.token, by=bob).conversation.head_id)
    assert "canary" not in str(copy.metadata)
    assert copy.metadata["rounds"][0]["usage"] == {"output": 3}
    assert copy.metadata["reasoning_durations_ms"] == leaf.metadata["reasoning_durations_ms"]
    assert message(leaf.pk).metadata == facts


def test_the_same_form_makes_one_fork(made, bob):
    name = uuid4()
    first, second = (fork_shared(made.token, by=bob, submission=name) for _ in range(2))
    assert first == second and Conversation.objects.filter(owner=bob).count() == 1


def test_a_form_that_comes_again_changes_nothing_of_what_was_written_in_the_fork_since(made, bob):
    name = uuid4()
    fork = fork_shared(made.token, by=bob, submission=name).conversation
    asked = store.AskedFor(model="demo:thinker")
    later = store.start_turn(fork.pk, "And?", parent=fork.head_id, author=bob, asked=asked)
    said = Measured(round={"round": 0, "model": "demo:thinker", "shape": ["what was sent"]})
    store.finish(store.claim_turn(later.answer, runner="here", seen=0), [text()], said)
    before = message(later.answer).metadata
    assert before["rounds"][0]["shape"] and before["counted"]
    assert fork_shared(made.token, by=bob, submission=name).conversation == fork
    assert message(later.answer).metadata == before


@pytest.mark.django_db(transaction=True)
def test_the_same_form_makes_one_link_also_at_the_same_moment(made, alice):
    name = uuid4()
    assert all(race(*[lambda: share(made.leaf, by=alice, key=name)] * 4))
    assert Share.objects.filter(leaf=made.leaf).exclude(pk=made.pk).count() == 1


def test_a_conversation_has_only_so_many_links(made, alice, monkeypatch):
    monkeypatch.setattr(sharing, "MOST_LINKS", 2)
    other = share(made.leaf, by=alice)
    with pytest.raises(Refused, match="2 links already"):
        share(made.leaf, by=alice)
    assert revoke(other.token, by=alice) and share(made.leaf, by=alice)


def test_what_comes_later_is_not_behind_the_link(made, ask, alice):
    before = shared_messages(made)
    leaf = message(made.leaf_id)
    ask("Below", leaf.pk)
    ask("Beside it", message(leaf.parent_id).parent_id)
    store.start_answer(leaf.parent_id, author=alice, asked=store.AskedFor(model="demo:thinker"))
    assert shared_messages(open_share(made.token).share) == before


def test_every_link_has_its_own_token_that_nobody_can_guess(made, alice):
    other = share(made.leaf, by=alice)
    assert len({made.token, other.token}) == 2
    assert {len(link.token) for link in (made, other)} == {43}
    for wrong in ("", made.token[:-1], made.token + "A", made.token.swapcase(), "\x00" * 43, str(made.pk)):
        assert open_share(wrong) is None


CLOSED = {
    "revoked": lambda link, alice: revoke(link.token, by=alice),
    "expired": lambda link, alice: Share.objects.update(expires_at=timezone.now()),
    "its message deleted": lambda link, alice: deleting.delete_below(link.leaf),
    "what is above it deleted": lambda link, alice: deleting.delete_below(link.leaf.parent),
    "its conversation deleted": lambda link, alice: deleting.delete_conversation(link.leaf.conversation_id),
    "its owner deactivated": lambda link, alice: type(alice).objects.update(is_active=False),
    "its owner gone": lambda link, alice: leaving.leave(alice),
}


@pytest.mark.parametrize("case", CLOSED)
def test_a_link_is_closed_at_once(made, alice, bob, case):
    assert open_share(made.token) is not None
    CLOSED[case](made, alice)
    assert open_share(made.token, counts=True) is None
    with pytest.raises(Refused, match="does not open"):
        fork_shared(made.token, by=bob)
    assert not Share.objects.filter(opened__gt=0).exists()
    assert not Conversation.objects.filter(owner=bob).exists()


def test_a_link_opens_again_when_what_was_deleted_comes_back(made, alice):
    gone = deleting.delete_below(made.leaf)
    deleting.undo(gone.id, alice)
    assert open_share(made.token)


def test_a_link_that_expires_opens_until_then(made, alice):
    assert open_share(share(made.leaf, by=alice, expires_at=timezone.now() + SOON).token)
    with pytest.raises(Refused, match="still to come"):
        share(made.leaf, by=alice, expires_at=timezone.now())


def test_only_the_owner_makes_links_and_only_to_what_is_there_and_has_ended(made, ask, alice, bob, dana):
    for person in (bob, dana):
        with pytest.raises(Refused, match="not there"):
            share(made.leaf, by=person)
    with pytest.raises(Refused, match="still being written"):
        share(message(ask("Now?").answer), by=alice)
    deleting.delete_below(made.leaf)
    with pytest.raises(Refused, match="not there"):
        share(made.leaf, by=alice)
    assert Share.objects.count() == 1


def test_only_the_owner_takes_a_link_back_and_once(made, alice, bob, dana):
    assert not revoke(made.token, by=bob) and not revoke(made.token, by=dana) and not revoke("\x00", by=alice)
    assert open_share(made.token)
    assert revoke(made.token, by=alice)
    revoked_at = Share.objects.get().revoked_at
    assert not revoke(made.token, by=alice)
    assert Share.objects.get().revoked_at == revoked_at


def test_pages_that_show_a_revoked_link_are_told_and_nobody_else(made, alice, bob):
    told = []

    def hear(**news):
        told.append((news["conversation"], news["owner"], news["what"]))

    changed.connect(hear)
    try:
        revoke(made.token, by=bob)
        assert told == []
        revoke(made.token, by=alice)
    finally:
        changed.disconnect(hear)
    assert told == [(made.pk, None, "share closed")]


def test_first_looks_are_counted_and_others_are_not(made):
    for counts in (True, False, True):
        open_share(made.token, counts=counts)
    assert Share.objects.get().opened == 2


@pytest.mark.django_db(transaction=True)
def test_looks_at_the_same_moment_are_all_counted(made):
    looks = [InThread(lambda: [open_share(made.token, counts=True) for _ in range(5)]) for _ in range(3)]
    assert all(look.finished(PATIENCE) and look.problem is None for look in looks)
    assert Share.objects.get().opened == 15


def test_one_sees_ones_own_links_the_newest_first(made, turn, alice, bob):
    newer = share(message(turn("Four").answer), by=alice, with_thoughts=False)
    foreign = store.open_conversation(bob, "Mine", tools=[], asked=store.AskedFor(model="demo:thinker"))
    store.stop(foreign.answer, None)
    share(message(foreign.answer), by=bob)
    assert load_shares(alice) == [newer, made]
    assert load_shares(alice, made.leaf.conversation_id) == [newer, made]
    assert load_shares(alice, foreign.conversation) == []
    assert [link.token for link in load_shares(alice)] == [newer.token, made.token]
    revoke(newer.token, by=alice)
    assert load_shares(alice) == [made]
    deleting.delete_conversation(made.leaf.conversation_id)
    assert load_shares(alice) == []


def test_a_reader_forks_what_the_link_shows_and_the_owner_sees_nothing_of_it(made, bob):
    Conversation.objects.update(instructions="A secret rule.")
    before = rows_of_all_tables()
    forked = fork_shared(made.token, by=bob).conversation
    assert untouched(before)
    assert (forked.owner, forked.instructions, forked.title) == (bob, "", "Fork of One")
    assert texts_of(forked) == ["One", "To One", "Two", "To Two"]
    kept = message(made.leaf_id).metadata
    assert kept.pop("counted"), "what was spent on it is not the reader's to know"
    assert message(forked.head_id).metadata == kept
    assert list(store.verify_log()) == []


def test_a_reader_forks_up_to_an_earlier_message_and_to_no_other(made, bob):
    first = shared_messages(made)[1]
    assert texts_of(fork_shared(made.token, by=bob, until=first).conversation) == ["One", "To One"]
    shown = set(shared_messages(made))
    for hidden in Message.objects.filter(conversation=made.leaf.conversation_id).exclude(pk__in=shown):
        with pytest.raises(Refused, match="not there any more"):
            fork_shared(made.token, by=bob, until=hidden.pk)


def test_thoughts_that_a_link_does_not_show_cannot_be_forked_out_of_it(made, alice, bob):
    link = share(made.leaf, by=alice, with_thoughts=False, with_tools=False)
    forked = fork_shared(link.token, by=bob).conversation
    rows = Item.objects.filter(message__conversation=forked)
    assert set(rows.filter(kind="reasoning").values_list("text", flat=True)) == {""}
    assert not rows.filter(wire__isnull=False).exists()
    assert message(forked.head_id).reasoning_ms("rs_1") == 2000


def test_links_go_with_what_they_open(made, alice):
    deleting.delete_below(made.leaf)
    assert deleting.purge(timedelta()) == 3
    assert not Share.objects.exists()
