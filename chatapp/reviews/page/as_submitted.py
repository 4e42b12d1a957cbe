"""Messages as they stood when they were submitted, for pictures that rooms below draw: nothing that came later comes into them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from ...branches.store.beginnings import BEGINNING, Beginning
from ...core.items import Item, Kind
from ...sharing.store import facts_for_reviewers
from ...store import load_items_of
from ...store.branches import Answer
from ...store.models import Message
from ..models import Submission, Submitted
from ..store.reviewing import load_then

_SAID = (Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE)


@dataclass(frozen=True, slots=True)
class AsSubmitted:
    """How each of some messages of a submission stood."""

    then: Mapping[UUID, Submitted]

    def known(self, row: Message, items: Sequence[Item]) -> tuple[Message, Sequence[Item]]:
        """The row and its items, without what came later and without who decided."""
        then = self.then[row.pk]
        self._set_back(row, then)
        row.next_seq = then.items
        return row, [_without_decider(item) for item in items[: then.items]]

    def measured(self, found: Answer) -> Answer:
        then = self.then[found.row.pk]
        self._set_back(found.row, then)
        return Answer(found.row, found.items[: then.items])

    def begun(self, found: Beginning) -> Beginning:
        """Of what has gone on since, the words that there were."""
        then = self.then[found.row.pk]
        self._set_back(found.row, then)
        return found if then.facts is None else replace(found, text=_first_words(found.row.pk, then))

    @staticmethod
    def _set_back(row: Message, then: Submitted) -> None:
        row.metadata = facts_for_reviewers(row.metadata)
        if then.facts is not None:
            row.status, row.metadata = then.status, then.facts


def as_submitted(submission: Submission, messages: Collection[UUID]) -> AsSubmitted:
    return AsSubmitted(load_then(submission, messages))


def _first_words(message: UUID, then: Submitted) -> str:
    items = load_items_of([message])[message][: then.items]
    return next((item.text[:BEGINNING] for item in items if item.kind in _SAID), "")


def _without_decider(item: Item) -> Item:
    if item.kind is not Kind.PERMISSION_DECISION or not isinstance(item.wire, dict):
        return item
    return replace(item, wire={**item.wire, "by": "", "name": ""})
