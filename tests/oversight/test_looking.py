"""Every look at somebody's conversation is kept, with who looked by the name they had."""

from __future__ import annotations

import pytest

from chatapp.oversight.models import Look
from chatapp.oversight.store import looks as looking
from chatapp.store import start_conversation

pytestmark = pytest.mark.both

TRANSCRIPT = Look.What.TRANSCRIPT


def test_a_look_says_who_when_what_and_from_where(conversation, dana):
    looking.append_looks(dana, [conversation.pk], TRANSCRIPT, address="203.0.113.1")
    (look,) = looking.looks_at(conversation.pk)
    assert (look.who, look.name, look.what, look.address) == (dana, "dana", TRANSCRIPT, "203.0.113.1")
    assert look.at is not None


def test_the_newest_look_comes_first_and_only_those_at_this_conversation(conversation, alice, dana, bob):
    other = start_conversation(alice, tools=[])
    for who in (dana, bob):
        looking.append_looks(who, [conversation.pk], TRANSCRIPT, address="")
    looking.append_looks(dana, [other.pk], Look.What.SEARCH, address="")
    assert [look.name for look in looking.looks_at(conversation.pk)] == ["bob", "dana"]


def test_ones_own_conversation_leaves_no_row(conversation, alice):
    looking.append_looks(alice, [conversation.pk], TRANSCRIPT, address="")
    assert looking.looks_at(conversation.pk) == []


def test_the_name_stays_when_who_looked_is_gone(conversation, dana):
    looking.append_looks(dana, [conversation.pk], TRANSCRIPT, address="")
    dana.delete()
    (look,) = looking.looks_at(conversation.pk)
    assert (look.who, look.name) == (None, "dana")


def test_looks_go_with_the_conversation(conversation, dana):
    looking.append_looks(dana, [conversation.pk], TRANSCRIPT, address="")
    conversation.delete()
    assert not Look.objects.exists()
