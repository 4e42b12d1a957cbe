"""Turns that nobody answers: begun, or ended without a word."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from chatapp import store
from chatapp.store import AskedFor, Started
from chatapp.store.models import Message, Status

DEMO = "demo:thinker"


def begun(
    owner: User, text: str = "Why?", *, below: Started | Message | None = None, **asked: Any
) -> Started:
    """In a conversation of its own, or below an answer."""
    how = AskedFor(**({"model": DEMO} | asked))
    match below:
        case None:
            return store.open_conversation(owner, text, tools=[], asked=how)
        case Message():
            return store.start_turn(below.conversation_id, text, parent=below.pk, author=owner, asked=how)
        case _:
            return store.start_turn(below.conversation, text, parent=below.answer, author=owner, asked=how)


def end(answer: UUID, status: str = Status.COMPLETE, **more: Any) -> None:
    """Whatever it was, it is so now."""
    Message.objects.filter(pk=answer).update(status=status, **more)


def ended(
    owner: User, text: str = "Why?", *, below: Started | Message | None = None, **asked: Any
) -> Started:
    started = begun(owner, text, below=below, **asked)
    end(started.answer)
    return started


def ask(
    owner: User, parent: Message | None = None, text: str = "Why?", status: str = Status.COMPLETE
) -> Message:
    """An answer that ended so."""
    started = begun(owner, text, below=parent)
    end(started.answer, status)
    return Message.objects.get(pk=started.answer)
