"""What people chose, and which models they use."""

from __future__ import annotations

import pytest

from chatapp import store
from chatapp.pages.preferences import RECENT, load_preference, recent_models, save_preference
from chatapp.store import AskedFor
from chatapp.store.models import Conversation, Message

pytestmark = [pytest.mark.django_db, pytest.mark.both]


def ask(person, model: str) -> Conversation:
    started = store.open_conversation(person, "Why?", tools=[], asked=AskedFor(model=model))
    return Conversation.objects.get(pk=started.conversation)


def test_who_chose_nothing_has_what_holds_for_all(alice):
    assert (load_preference(alice).theme, load_preference(alice).enter_sends) == ("", True)


def test_only_what_is_named_changes(alice, bob):
    save_preference(alice, theme="dark", instructions="Be\x00brief.")
    save_preference(alice, enter_sends=False)
    kept = load_preference(alice)
    assert (kept.theme, kept.instructions, kept.enter_sends) == ("dark", "Be\ufffdbrief.", False)
    assert load_preference(bob).theme == ""


def test_models_are_recent_once_each_the_newest_first(alice, bob):
    for model in ("a:1", "b:2", "a:1", "c:3"):
        ask(alice, model)
    ask(bob, "d:4")
    assert recent_models(alice) == ["c:3", "a:1", "b:2"]


def test_what_was_deleted_and_what_is_long_ago_does_not_count(alice, as_many_as_they_like):
    ask(alice, "old:1")
    for _ in range(RECENT):
        ask(alice, "new:1")
    gone = ask(alice, "gone:1")
    Conversation.objects.filter(pk=gone.pk).update(deleted_at=gone.created_at)
    assert recent_models(alice) == ["new:1"]


def test_a_conversation_without_a_head_has_no_model(alice):
    Conversation.objects.filter(pk=ask(alice, "a:1").pk).update(head=None)
    assert recent_models(alice) == []
    assert Message.objects.exists()
