"""How a story's conversation is found again, in this run or a later one: the keys of its forms come from its name."""

from __future__ import annotations

from uuid import NAMESPACE_URL, UUID, uuid5

from chatapp.models import Conversation, Message, Share
from chatapp.store import load_conversation

WORLD = uuid5(NAMESPACE_URL, "thoughtline seed_demo")


def key_of(story: str) -> UUID:
    return uuid5(WORLD, story)


def step_of(story: str, number: int) -> UUID:
    return uuid5(key_of(story), str(number))


def is_told(story: str) -> bool:
    """By its first question, or by the fork with which it began."""
    asked = Message.objects.filter(submission=step_of(story, 0)).exists()
    return asked or Conversation.objects.filter(pk=key_of(story)).exists()


def token_of(name: str, with_thoughts: bool) -> str:
    links = Share.objects.filter(leaf__conversation__messages__submission=step_of(name, 0), revoked_at=None)
    token: str = links.filter(with_thoughts=with_thoughts).values_list("token", flat=True)[0]
    return token


def first_answer(name: str) -> Message:
    return Message.objects.get(submission=step_of(name, 0))


def head_of(conversation: UUID) -> Message:
    row = load_conversation(conversation).head
    if row is None:
        raise LookupError("Nothing came along with the fork.")
    return row
