"""Makes rows beside a running server and reads them, in a process of its own: people who are signed in, long conversations,
what was stored."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone

from chatapp import store
from chatapp.accounts.store import first_account, roles
from chatapp.core.items import Kind
from chatapp.gateway.models import KeptResponse, ReplayDay
from chatapp.gateway.store.keys import KeyChoices, create_key, find_key
from chatapp.gateway.store.requests import begin_request
from chatapp.insight.store.sums import day_of
from chatapp.pages.models import Preference
from chatapp.pages.staff.password_given import GIVEN_AT
from chatapp.reviews.models import LabelSet, Verdict
from chatapp.reviews.store import reviewing
from chatapp.reviews.store.submitting import submit
from chatapp.sharing import store as sharing
from chatapp.store.models import Conversation, Item, Message, Role, Status
from tests.support.reviewed import label_set as made_set

from .besieged import failures, items_of, titles
from .counted import counted

BACKEND = "django.contrib.auth.backends.ModelBackend"


def person(name: str, **chosen: Any) -> str:
    """Somebody new; the key of a session in which they are signed in."""
    user = User(username=name)
    user.set_unusable_password()
    user.save()
    if chosen:
        Preference.objects.create(user=user, **chosen)
    session = SessionStore()
    session[SESSION_KEY], session[BACKEND_SESSION_KEY] = str(user.pk), BACKEND
    session[HASH_SESSION_KEY], session[GIVEN_AT] = user.get_session_auth_hash(), time.time()
    session.create()
    key: str = session.session_key
    return key


def conversation(
    owner: str,
    turns: int,
    model: str = "openai:gpt-5",
    title: str = "A long one",
    says: Sequence[str] = ("",),
) -> str:
    """So many questions and answers, one below the other; each answer thought for its number in seconds and ends
    with one of what it `says`."""
    row = Conversation.objects.create(owner=User.objects.get(username=owner), title=title, titled_by="person")
    messages, items = _branch(row, turns, model, says)
    Message.objects.bulk_create(messages)
    Item.objects.bulk_create(items)
    Conversation.objects.filter(pk=row.pk).update(head=messages[-1], next_order=len(messages))
    return str(row.pk)


def use_key(secret: str) -> None:
    """As a program of that name does."""
    key = find_key(secret)
    assert key
    begin_request(key, model="openai:gpt-5", estimate=1, runner="clerk", program="Zed")


def keep_thoughts(name: str, number: int) -> None:
    """So many responses of several models, for whom programs asked with their keys."""
    owner, now = User.objects.get(username=name), timezone.now()
    models = [("openai", "gpt-5"), ("anthropic", "claude-opus"), ("deepseek", "deepseek-reasoner")]
    for n in range(number):
        provider, model = models[n % len(models)]
        item = {"key": f"rs_{n}", "kind": Kind.REASONING, "text": f"The {n}th thought of {name}."}
        KeptResponse.objects.create(
            secret=f"{owner.pk:06}{n:020}",
            owner=owner,
            provider=provider,
            destination="https://provider.example/v1",
            dialect="chat",
            model=model,
            digest=str(n),
            name=f"call_{owner.pk:06}{n:020}00" if n % 3 else f"resp_{owner.pk:06}{n:020}",
            saved={"items": [item], "keys": {}},
            thoughts=n % 3 + 1,
            characters=30,
            size=1_000 * (n * n + 1),
            replays=n % 5,
            created_at=now - timedelta(seconds=40 * (n + 1) ** 3),
            expires_at=now + timedelta(days=7),
        )
    for n, (provider, model) in enumerate(models):
        made = {"restored": 1_203 * (n + 1), "missed": 140 * n, "dropped": 7 * n}
        ReplayDay.objects.get_or_create(day=day_of(now), model=f"{provider}:{model}", defaults=made)


def _branch(
    row: Conversation, turns: int, model: str, says: Sequence[str]
) -> tuple[list[Message], list[Item]]:
    messages: list[Message] = []
    items: list[Item] = []
    began = timezone.now() - timedelta(days=1)
    for n in range(1, turns + 1):
        question = Message(role=Role.USER, author=row.owner, next_seq=1)
        ms = n * 1000
        facts = {
            "reasoning_durations_ms": {"rs_1": ms},
            "timings_ms": {"rs_1": {"start": 0, "end": ms}, "msg_1": {"start": ms, "end": ms + 100}},
            "elapsed_ms": ms + 100,
            "rounds": [{"round": 0, "model": model, "usage": {"input": 20 * n, "output": 20}}],
        }
        answer = Message(role=Role.ASSISTANT, model=model, next_seq=2, metadata=facts, status=Status.COMPLETE)
        for message in (question, answer):
            message.id, message.conversation, message.order = uuid4(), row, len(messages)
            message.parent = messages[-1] if messages else None
            message.created_at = began + timedelta(seconds=len(messages))
            messages.append(message)
        said = ((question, Kind.USER_MESSAGE, "part-0", f"Question {n}?"),)
        said += ((answer, Kind.REASONING, "rs_1", f"Thought {n}."),)
        said += (
            (
                answer,
                Kind.ASSISTANT_MESSAGE,
                "msg_1",
                f"Answer {n}, *with* some words.\n\nAnd more.{says[n % len(says)]}",
            ),
        )
        items += [
            Item(message=message, seq=int(kind is Kind.ASSISTANT_MESSAGE), kind=kind, key=key, text=text)
            for message, kind, key, text in said
        ]
    return messages, items


def message(pk: str) -> dict[str, Any]:
    """What is stored of one message."""
    row = Message.objects.get(pk=pk)
    items = [
        {"key": item.key, "kind": item.kind, "text": item.text, "cut": item.cut}
        for item in Item.objects.filter(message=row).order_by("seq")
    ]
    return {"status": row.status, "metadata": row.metadata, "items": items}


def share(conversation: str) -> str:
    """The token of a link to all of it."""
    row = Conversation.objects.select_related("head", "owner").get(pk=conversation)
    assert row.head
    token: str = sharing.share(row.head, by=row.owner).token
    return token


def key(owner: str, name: str = "Editor", **chosen: Any) -> str:
    """The secret of a new key for programs."""
    _, secret = create_key(User.objects.get(username=owner), KeyChoices(name=name, **chosen))
    return secret


def promote(name: str) -> None:
    """To an administrator."""
    roles.set_roles(User.objects.get(username=name), active=True, staff=True, reviewer=False)


def first_code() -> str:
    return first_account.load_code()


def an_hour_passes() -> None:
    """Whoever is signed in gave their password longer ago than that."""
    for row in Session.objects.all():
        session = SessionStore(row.session_key)
        session[GIVEN_AT] = 0
        session.save()


def reviews(name: str) -> None:
    """Makes somebody a reviewer."""
    roles.set_roles(User.objects.get(username=name), active=True, staff=False, reviewer=True)


def labels(name: str) -> str:
    """A set with a label of each kind, for two reviewers; the same one for all who ask."""
    if not LabelSet.objects.filter(name=name).exists():
        made_set(name)
    return name


def reviewed(owner: str, reviewer: str, attacks: Sequence[str]) -> str:
    """Hostile words in everything that a review shows."""
    some, by = "\n\n".join(attacks)[:9000], User.objects.get(username=reviewer)
    pk = items_of(owner, list(attacks))
    Conversation.objects.filter(pk=pk).update(title=some[:200], titled_by="person")
    leaf = Message.objects.filter(conversation=pk, role=Role.ASSISTANT).latest("order")
    made = submit(leaf, by=leaf.conversation.owner, question=some)
    reviewing.claim(made, by=by)
    note = reviewing.append_note(made, by=by, text=some, message=leaf.pk)
    reviewing.append_answer(made, by=leaf.conversation.owner, text=some, to=note)
    reviewing.give_verdict(made, by=by, verdict=Verdict.REJECTED, reason=some)
    return str(made.pk)


def running() -> int:
    """How many turns are at work."""
    return Message.objects.filter(status__in=(Status.QUEUED, Status.RUNNING)).count()


def breaches() -> list[str]:
    return list(store.verify_log())


CAN: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        person,
        conversation,
        use_key,
        keep_thoughts,
        message,
        share,
        key,
        promote,
        first_code,
        an_hour_passes,
        reviews,
        labels,
        reviewed,
        running,
        breaches,
        failures,
        items_of,
        titles,
        counted,
    )
}


def serve() -> None:
    """Reads what to do and with which arguments, one JSON list a line, and answers each with a line."""
    for line in sys.stdin:
        what, arguments = json.loads(line)
        print(json.dumps(CAN[what](**arguments)), flush=True)
