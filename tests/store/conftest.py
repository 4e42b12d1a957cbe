"""A conversation with a turn that is being answered."""

from __future__ import annotations

import pytest

from chatapp import store
from chatapp.store import at_once
from chatapp.store.models import Conversation


@pytest.fixture
def conversation(alice) -> Conversation:
    return store.start_conversation(alice, tools=["clock"])


@pytest.fixture
def ask(conversation, alice):
    def ask(text="Why?", parent=None):
        return store.start_turn(
            conversation.id, text, parent=parent, author=alice, asked=store.AskedFor(model="demo:thinker")
        )

    return ask


@pytest.fixture
def claimed(ask) -> store.Claim:
    return store.claim(ask().answer, runner="here", seen=0)


@pytest.fixture
def as_many_as_they_like(monkeypatch):
    """Turns are begun and left, more of them than anybody may have running."""
    monkeypatch.setattr(at_once, "MOST", 1_000)
