"""Done at a place where a backup is taken from, or was put: rows with whatever they may hold, and all rows as they are there."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from random import Random
from string import ascii_letters
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.db.models import TextField
from django.db.models.functions import Cast
from django.test import Client

from chatapp import store
from chatapp.catalog.models import KnownModel
from chatapp.core.draft import Draft as SeenDraft
from chatapp.core.items import Kind
from chatapp.insight.models import ModelDay
from chatapp.operation.models import Upkeep
from chatapp.reviews.models import Submission
from chatapp.search.forms import terms_of
from chatapp.search.models import GramSegment
from chatapp.search.part import Searchable
from chatapp.search.store.everywhere import find_everywhere
from chatapp.search.store.filling import begin_mark, progress
from chatapp.store import Seen
from chatapp.store.models import Conversation, Item, Message, Place, Role, Status
from chatapp.store.running_models import Heartbeat, Throttle
from chatapp.store.verbatim_field import VerbatimField
from chatapp.turns.keep.journal import take_journal
from chatapp.turns.keep.writes import Write

# What a form, a file or a line may stumble over.
TEXTS = (
    "",
    "\\N",
    "\\.",
    "\\x41\\101\\t",
    "quotes \"double\" and 'single' and `back`",
    "tab\there, line\nthere, return\r\nand \x0b\x0c\x1b\x1f\x7f\x85",
    "\u2028\u2029\ufeff\u200b\u202eright to left\u202c",
    "𝕬 👩‍👩‍👧 \U0010ffff \ufffe é e\u0301",
    "NULL",
    '["a row", 1]\n{"whole":"x"}\n',
    "100 %s %(a)s {} $1 ?",
    "".join(Random(1).choices(ascii_letters, k=400_000)),
)
WIRES = (
    {"zero": "\x00", "half": "\ud800", "other half": "\udc00", "z": 1, "a": 2},
    {"large": 10**60, "small": -(10**40), "exact": 0.1, "tiny": 5e-324, "huge": 1.7e308, "one": 1.0},
    ["\\u0000", "\\", "/", None, True, [], {}],
    "words alone",
    0,
)
MOMENTS = (
    datetime(2026, 11, 20, 8, 0, 0, 0, tzinfo=UTC),
    datetime(2026, 11, 20, 8, 0, 0, 1, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC),
)


def hostile() -> None:
    """The log is whole, but nothing in it is usual."""
    alice = User.objects.create_user("алиса", password="a long enough password")
    alice.groups.add(Group.objects.get_or_create(name="reviewer")[0])
    for n, text in enumerate(TEXTS):
        row = Conversation.objects.create(owner=alice, title=text[:200], instructions=text)
        moment = MOMENTS[n % len(MOMENTS)]
        Conversation.objects.filter(pk=row.pk).update(created_at=moment, updated_at=moment, pinned_at=moment)
        _branch(row, text, WIRES[n % len(WIRES)])
    Place.objects.create(viewer=alice, conversation=row, forks={"": str(row.pk), "b\n": "ü", "a": ["x", 2]})
    Submission.objects.create(conversation=row, thought_ms=2**62, by_models=["demo:thinker", 'o"p\\q'])
    KnownModel.objects.create(
        name="demo:a", input_price=Decimal("123456.7800"), output_price=Decimal("0.0001")
    )
    KnownModel.objects.create(name="demo:b", input_price=None, output_price=Decimal("2"))
    ModelDay.objects.create(day=date(2026, 2, 28), model="demo:a", counts={"b": 1, "a": 10**30})
    # Whoever came last is gone, as the last item is: their numbers are not given again.
    User.objects.create(username="left").delete()


def _branch(row: Conversation, text: str, wire: Any) -> None:
    question = Message.objects.create(conversation=row, order=0, role=Role.USER, next_seq=1, author=row.owner)
    facts = {"reasoning_durations_ms": {"rs_1": 7}, "a program's": wire, "order": {"z": 1, "a": 2}}
    answer = Message.objects.create(
        conversation=row,
        order=1,
        role=Role.ASSISTANT,
        parent=question,
        next_seq=2,
        metadata=facts,
        model="demo:a",
    )
    Item.objects.create(message=question, seq=0, key="part-0", kind=Kind.USER_MESSAGE, text=text or "Why?")
    Item.objects.create(message=answer, seq=0, key="rs_1", kind=Kind.REASONING, text=text, wire=wire)
    Item.objects.create(
        message=answer, seq=1, key="part-1", kind=Kind.ASSISTANT_MESSAGE, text=text, wire={"t": text}
    )
    Item.objects.create(
        message=answer, seq=2, key="part-2", kind=Kind.ASSISTANT_MESSAGE, text="goes"
    ).delete()
    Conversation.objects.filter(pk=row.pk).update(head=answer, next_order=2)


def rows() -> dict[str, list[str]]:
    """Of each table: every row as Django reads it, and JSON that is kept as text as that text. What was done for one database is told of
    that one alone."""
    kinds = {*apps.get_models(include_auto_created=True)} - {Upkeep}
    return {kind._meta.db_table: sorted(map(_short, _values(kind))) for kind in kinds}


def _values(kind: Any) -> Any:
    fields = [
        Cast(field.attname, TextField()) if isinstance(field, VerbatimField) else field.attname
        for field in kind._meta.concrete_fields
    ]
    return kind.objects.order_by().values_list(*fields)


def _short(row: Any) -> str:
    """The order of keys in a field of JSON is nobody's wish."""
    said = repr([json.dumps(each, sort_keys=True) if isinstance(each, dict) else each for each in row])
    return f"{said[:80]} {sha256(said.encode(errors='surrogatepass')).hexdigest()}"


def next_numbers() -> list[int]:
    """Of a person and an item that come now."""
    message = Message.objects.filter(role=Role.ASSISTANT).first()
    assert message
    item = Item.objects.create(message=message, seq=9, key="next", kind=Kind.ASSISTANT_MESSAGE)
    person = User.objects.create(username="next")
    item.delete()
    person.delete()
    return [person.pk, item.pk]


def breaches() -> list[str]:
    return list(store.verify_log())


def person(name: str) -> str:
    """The key of a session in which they are signed in."""
    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.create_user(name))
    return client.cookies["sessionid"].value


def beats() -> None:
    """A server is at work here, and somebody has tried to sign in."""
    from django.utils import timezone

    Heartbeat.objects.create(runner="elsewhere/1", beats=7, beat_at=timezone.now())
    Throttle.objects.create(name="sign-in:x", count=7)


def of_the_moment() -> list[int]:
    return [kind.objects.count() for kind in (Heartbeat, Throttle, Session)]


def stop_is_noted() -> str:
    """A turn was stopped, and the database has not been told yet."""
    alice = User.objects.create_user("alice")
    started = store.open_conversation(alice, "Why?", tools=[], asked=store.AskedFor(model="demo:thinker"))
    claim = store.claim_turn(started.answer, runner="gone/1", seen=0)
    journal = take_journal(Path(settings.DATA_DIR) / "run")
    assert journal.note(
        Write(name="stop", claim=claim, seen=Seen(claim.attempt, SeenDraft(), 0), by="alice").to_text()
    )
    journal.close()
    return str(started.answer)


def status(message: str) -> str:
    return Message.objects.get(pk=message).status


def leave_running(message: str) -> None:
    """As it was while a process was at work on it that is gone."""
    Message.objects.filter(pk=message).update(status=Status.RUNNING, runner="gone/1", attempt=1)


def looked_through() -> None:
    """Its index knows of rows that were all removed."""
    begin_mark()
    GramSegment.objects.create(number=0, rows=0)


def found(words: str) -> dict[str, int]:
    """How many texts have these words, and how much is ready to be found: as a server finds it that begins here, and when it is done."""
    before, part = progress().percent, Searchable()
    while part._step():
        pass
    return {
        "before": before,
        "ready": progress().percent,
        "texts": len(find_everywhere(terms_of(words)).items),
    }


CAN: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        hostile,
        rows,
        next_numbers,
        breaches,
        person,
        beats,
        of_the_moment,
        stop_is_noted,
        status,
        leave_running,
        looked_through,
        found,
    )
}


def tell(what: str, arguments: str) -> None:
    print(json.dumps(CAN[what](**json.loads(arguments))))
