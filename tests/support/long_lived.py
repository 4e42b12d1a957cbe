"""What somebody has who used the house for long, and the people around them: every road has something to find, or much."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from chatapp.branches.store.forking import fork
from chatapp.conversations import store as listing
from chatapp.gateway.store.keys import KeyChoices, create_key
from chatapp.limits.models import DailyLimit
from chatapp.oversight.models import Look
from chatapp.pages.preferences import save_preference
from chatapp.reviews.models import Scope, Submission
from chatapp.reviews.store import reviewing
from chatapp.reviews.store.submitting import ask_to_submit, submit
from chatapp.sharing.store import share
from chatapp.store.models import Conversation
from chatapp.store.permissions import grants
from chatapp.store.places import go_to

from .reviewed import again, message, reviewer, turn


class LongLived:
    """alice has one conversation of so many `turns`, and `several` of all else. bob reviews, dana administers."""

    def __init__(self, alice: User, bob: User, dana: User, *, turns: int, several: int) -> None:
        self.alice, self.bob, self.dana = alice, reviewer(bob), dana
        # Which limits there are at the beginning depends on which tests emptied the tables before.
        DailyLimit.objects.all().delete()
        save_preference(alice, enter_sends=True)
        self.first = turn(alice, "Why?")
        self.conversation = self.first.conversation
        self.above = self.last = self.first
        for number in range(1, turns):
            self.above = self.last
            self.last = turn(alice, f"And {number}?", "So.", self.last.answer, self.conversation)
        self.beside = self.last
        for number in range(several):
            self.beside = again(alice, self.last.question, f"In other words {number}.")
        again(alice, self.first.question, "At the root.")
        go_to(alice, message(self.last.answer))
        self.forks = [self._forked() for _ in range(several)]
        self.shares = [share(message(self.last.answer), by=alice) for _ in range(several + 1)]
        self.submissions = [self._submitted() for _ in range(min(several + 1, 19))]
        self.others = [self._other(number) for number in range(several + 3)]
        for number in range(several):
            create_key(alice, KeyChoices(name=f"Editor {number}"))
            grants.give(self.conversation, f"clock{number}", "f", alice)
            Look.objects.create(
                conversation_id=self.conversation, who=dana, name="dana", what=Look.What.SEARCH
            )
        ask_to_submit(Conversation.objects.get(pk=self.others[0]), by=dana)

    def _forked(self) -> UUID:
        return fork(message(self.last.answer), by=self.alice).conversation.pk

    def _submitted(self) -> Submission:
        made = submit(message(self.last.answer), by=self.alice, scope=Scope.TREE, question="Right?")
        reviewing.claim(made, by=self.bob)
        note = reviewing.append_note(made, by=self.bob, text="Hm.", message=self.last.answer)
        reviewing.append_answer(made, by=self.alice, text="Why?", to=note)
        return made

    def _other(self, number: int) -> Any:
        other = turn(self.alice, f"Elsewhere {number}?").conversation
        listing.pin(other, pinned=number % 2 == 0)
        return other
