"""What reviewers said leaves as data: of owners who agreed to it, for staff where they may read, and each owner sees it."""

from __future__ import annotations

import json
from datetime import timedelta
from io import BytesIO, TextIOWrapper

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import override_settings
from django.utils import timezone

from chatapp import store
from chatapp.core.items import Item, Kind
from chatapp.exchange.out.as_reviewed import WantedReviews, as_reviewed, chosen_reviews
from chatapp.oversight.models import Look
from chatapp.reviews.models import Note, Submission
from chatapp.reviews.store.submitting import submit, withdraw
from chatapp.store import AskedFor, Measured
from chatapp.store.models import Message
from tests.support.front import house, visitor
from tests.support.stage import play

pytestmark = pytest.mark.both


def judged(owner: User, answer, verdict: str, reviewer: User, *, may_leave: bool = True) -> Submission:
    made = submit(Message.objects.get(pk=answer), by=owner, may_leave=may_leave)
    now = timezone.now()
    Submission.objects.filter(pk=made.pk).update(
        verdict=verdict, reason=f"It is {verdict}.", reviewer=reviewer, decided_at=now
    )
    return Submission.objects.get(pk=made.pk)


def said(answer, words: str) -> None:
    claim = store.claim_turn(answer, runner="here", seen=0)
    thought = Item(key="rs_1", kind=Kind.REASONING, text=f"Thinking: {words}")
    store.finish(
        claim,
        [thought, Item(key="m", kind=Kind.ASSISTANT_MESSAGE, text=words)],
        Measured(durations={"rs_1": 1234}),
    )


@pytest.fixture
def two(alice, bob):
    """Two answers to one question, one approved and one rejected."""
    asked = AskedFor(model="demo:thinker")
    first = store.open_conversation(alice, "Why?", tools=[], asked=asked)
    said(first.answer, "So.")
    second = store.start_answer(first.question, author=alice, asked=asked)
    said(second.answer, "Because.")
    good = judged(alice, first.answer, "approved", bob)
    bad = judged(alice, second.answer, "rejected", bob)
    Note.objects.create(submission=bad, message=Message.objects.get(pk=second.answer), author=bob, text="Hm.")
    return good, bad


def told(**wanted):
    chosen = WantedReviews(**wanted)
    return [json.loads(line) for line in as_reviewed(chosen_reviews(chosen), chosen)]


def test_submissions_and_pairs_are_lines(two):
    good, bad, pair = told()
    assert (good["verdict"], bad["verdict"], pair["kind"]) == ("approved", "rejected", "pair")
    assert [each["text"] for each in bad["messages"]] == ["Why?", "Because."]
    assert bad["notes"] == [{"on": 2, "text": "Hm."}] and bad["messages"][1]["thought_ms"] == 1234
    assert pair["history"] == [{"role": "user", "text": "Why?"}]
    assert (pair["chosen"]["text"], pair["rejected"]["text"]) == ("So.", "Because.")
    assert (pair["chosen"]["submission"], pair["rejected"]["submission"]) == (1, 2)


def test_thoughts_come_by_choice(two):
    assert "Thinking" not in json.dumps(told())
    good, _, pair = told(thoughts=True)
    assert good["messages"][1]["thoughts"] == ["Thinking: So."]
    assert pair["rejected"]["thoughts"] == ["Thinking: Because."]


def test_no_name_and_no_id_is_in_it(two):
    text = json.dumps(told(thoughts=True))
    ids = [str(row.pk) for row in (*two, *Message.objects.all())]
    assert not [each for each in ["alice", "bob", *ids] if each in text]


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        ({"verdict": "approved"}, 1),
        ({"reviewer": "bob"}, 3),
        ({"reviewer": "dana"}, 0),
        ({"model": "demo:thinker"}, 3),
        ({"model": "other"}, 0),
        ({"since": timezone.now().date() + timedelta(days=2)}, 0),
        ({"until": timezone.now().date() - timedelta(days=2)}, 0),
        (
            {
                "since": timezone.now().date() - timedelta(days=2),
                "until": timezone.now().date() + timedelta(days=2),
            },
            3,
        ),
    ],
)
def test_one_may_choose(two, wanted, count):
    assert len(told(**wanted)) == count


def test_what_was_not_given_for_it_and_what_was_withdrawn_stays(two, alice, bob):
    good, bad = two
    Submission.objects.filter(pk=good.pk).update(may_leave=False)
    assert [each["verdict"] for each in told()] == ["rejected"]
    withdraw(bad)
    assert told() == []
    # Nobody is asked to agree by default.
    assert not submit(Message.objects.get(pk=good.leaf_id), by=alice).may_leave


@pytest.mark.django_db(transaction=True)
def test_only_staff_take_it_and_owners_see_it(alice, bob, dana, two):
    async def story():
        path = "/review/export/"
        async with house():
            for person in (alice, bob, None):
                status = 404 if person else 302
                assert (await (await visitor(person)).get(f"{path}?as=jsonl")).status_code == status
            she = await visitor(dana)
            assert "2 submissions" in (await she.get(path)).text
            lines = (await she.get(f"{path}?as=jsonl&verdict=approved")).text.splitlines()
            assert [json.loads(line)["verdict"] for line in lines] == ["approved"]
            assert (await she.get(f"{path}?as=jsonl&verdict=x")).status_code == 400
            with override_settings(ADMIN_CAN_READ_CHATS=False):
                assert (await she.get(f"{path}?as=jsonl")).status_code == 403

    play(story())
    assert [look.what for look in Look.objects.all()] == ["reviews"]


def test_the_command_does_the_same(two, dana, monkeypatch):
    out = TextIOWrapper(BytesIO())
    monkeypatch.setattr("sys.stdout", out)
    call_command("export_reviews", by="dana", verdict="rejected")
    out.seek(0)
    assert [json.loads(line)["verdict"] for line in out] == ["rejected"]
    assert Look.objects.get().name == "dana"
    with pytest.raises(CommandError, match="no administrator"):
        call_command("export_reviews", by="alice")
    with override_settings(ADMIN_CAN_READ_CHATS=False), pytest.raises(CommandError, match="closes"):
        call_command("export_reviews", by="dana")
