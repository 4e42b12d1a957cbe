"""The seeded world as its file tells it, and how a story's conversation is found again, in this run or a later one."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from django.db.models import QuerySet

from chatapp.sharing.models import Share
from chatapp.store.models import Conversation, Message

FILE = Path(__file__).with_name("world.toml")
WORLD = uuid5(NAMESPACE_URL, "thoughtline seed_demo")
Step = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Story:
    """One conversation, which began so long `ago`. The keys of its forms come from its name."""

    name: str
    owner: str
    ago: timedelta
    steps: tuple[Step, ...]
    instructions: str = ""

    @property
    def key(self) -> UUID:
        return uuid5(WORLD, self.name)

    def step_key(self, number: int) -> UUID:
        return uuid5(self.key, str(number))

    @property
    def is_told(self) -> bool:
        """By its first question, or by the fork with which it began."""
        return self._messages.exists() or Conversation.objects.filter(pk=self.key).exists()

    @property
    def first_answer(self) -> Message:
        return self._messages.get()

    def link(self, *, with_thoughts: bool) -> str:
        links = Share.objects.filter(leaf__conversation__messages__in=self._messages, revoked_at=None)
        token: str = links.filter(with_thoughts=with_thoughts).values_list("token", flat=True)[0]
        return token

    @property
    def _messages(self) -> QuerySet[Message]:
        return Message.objects.filter(submission=self.step_key(0))


_READ = tomllib.loads(FILE.read_text())
PEOPLE: dict[str, str] = _READ["people"]
STORIES = {
    told["name"]: Story(**told | {"ago": timedelta(**told["ago"]), "steps": tuple(told["steps"])})
    for told in _READ["story"]
}
