"""A conversation with branches, made in a word, and the people of its review."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from chatapp import store
from chatapp.accounts.store.roles import set_roles
from chatapp.core.items import Item, Kind
from chatapp.reviews.models import LabelOf, LabelScale, LabelSet
from chatapp.reviews.store.labels import create_label_set
from chatapp.store import AskedFor, Measured
from chatapp.store.models import Message

from .make import text, thought

DEMO = "demo:thinker"


def reviewer(user: User) -> User:
    set_roles(user, active=True, staff=user.is_staff, reviewer=True)
    return user


def browser(user: User | None = None) -> Client:
    client = Client()
    if user:
        client.force_login(user)
    return client


def turn(
    owner: User, words: str, said: str = "Because.", parent: Any = None, conversation: Any = None, **more: Any
) -> store.Started:
    """A question with its answer, which thought for 23 seconds."""
    if conversation is None:
        started = store.open_conversation(owner, words, tools=[], asked=AskedFor(model=DEMO), **more)
    else:
        asked = AskedFor(model=DEMO)
        started = store.start_turn(conversation, words, parent=parent, author=owner, asked=asked)
    end(started.answer, [thought(text=f"Thinking of {words}"), text(text=said)])
    return started


def again(owner: User, question: Any, said: str) -> store.Started:
    """Another answer to the same question."""
    started = store.start_answer(question, author=owner, asked=AskedFor(model=DEMO))
    end(started.answer, [thought(text=f"Thinking of {said}"), text(text=said)])
    return started


def end(answer: Any, items: list[Item]) -> None:
    claim = store.claim_turn(answer, runner="here", seen=0)
    durations = {item.key: 23_000 for item in items if item.kind is Kind.REASONING}
    timings = {item.key: {"start": 0, "end": 23_000} for item in items}
    store.finish(claim, items, Measured(durations=durations, timings=timings, elapsed=30_000))


def message(pk: Any) -> Message:
    return Message.objects.get(pk=pk)


LABELS = (
    {"words": "Is it right?", "of": LabelOf.ANSWER, "scale": LabelScale.YES_NO},
    {"words": "How clear is it?", "of": LabelOf.ANSWER, "scale": LabelScale.STEPS, "low": "I had to guess"},
    {
        "words": "This thought",
        "of": LabelOf.THOUGHT,
        "scale": LabelScale.CHOICE,
        "choices": ["leads on", "misleads"],
    },
    {"words": "In words", "of": LabelOf.ANSWER, "scale": LabelScale.WORDS},
)


def label_set(name: str = "First look", raters: int = 2, labels: Any = LABELS) -> LabelSet:
    by = User.objects.filter(is_staff=True).first() or User.objects.create_user("labels", is_staff=True)
    return create_label_set(by=by, name=name, raters=raters, labels=labels)
