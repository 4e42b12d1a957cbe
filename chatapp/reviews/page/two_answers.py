"""A suggested answer beside the owner's own: the fork as far as what was suggested, and not a word more of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from ...branches.page.compare import Compared, Sight, Ways, load_compared, own_ways
from ...branches.store.parting import Parting, Path
from ...core.items import Item
from ...pages.signed_in import SignedIn
from ...sharing.store import facts_for_reviewers
from ...store.branches import Answer
from ...store.models import Message
from ...store.places import load_tree
from ...thread.page import viewer_of
from ..models import Suggestion
from ..store.reviewing import load_reading

YOURS, SUGGESTED = "Yours", "Suggested"


def load_two_answers(request: SignedIn, row: Suggestion, start: int) -> Compared | None:
    """None where the question is not there any more."""
    tree, answer = load_reading(row.submission).tree, row.answer
    path = tree.path_to(row.question_id)
    fork = load_tree(answer.conversation_id)
    below = fork.path_to(answer.pk)
    if not path or len(below) != len(path) + 1:
        return None
    own = _own_answer(tree.children.get(row.question_id, ()))
    mine = (own.pk,) if own else ()
    parting = Parting(Path((*path, *mine), mine), Path(below, below[-1:]), len(path))
    question = row.question
    page = load_compared(
        replace(viewer_of(request), known=_known),
        own or question,
        answer,
        start,
        _ways(question.conversation_id),
        Sight(parting, _measured),
    )
    return replace(page, a=replace(page.a, name=YOURS), b=replace(page.b, name=SUGGESTED))


def _own_answer(answers: Sequence[UUID]) -> Message | None:
    """The one of those that were submitted that came last; what came of a suggestion is not the owner's."""
    found = Message.objects.select_related("conversation").filter(pk__in=answers).order_by("order")
    return found.last()


def _known(message: Message, items: Sequence[Item]) -> tuple[Message, Sequence[Item]]:
    message.metadata = facts_for_reviewers(message.metadata)
    return message, items


def _measured(found: Answer) -> Answer:
    found.row.metadata = facts_for_reviewers(found.row.metadata)
    return found


def _ways(mine: UUID) -> Ways:
    """Into one's own conversation alone."""
    own = own_ways()
    return replace(own, message=lambda pk, message: own.message(pk, message) if pk == mine else "")
