"""A turn that asks a person before it calls: what it asks, and each decision, once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from ...core.decision import Decided, Decision, arguments_hash, decision_item, shown_hash
from ...core.items import Item, KeyMaker, Kind, Outcome
from ..branches import load_items
from ..models import Conversation, Message, Status
from ..rows import Claim, Measured, append, hold, keep, noted, tell_of, with_owner
from ..tree import Refused
from ..turns_at_once import TOO_MANY, room_for
from . import grants

DENIED = "The person did not allow this call."
NOT_WAITING = "This answer does not wait for a decision any more."
DECIDED = "This was decided already."
OTHERS = "The call is not what was shown any more. Reload the page and look at it again."
Answers = Mapping[str, tuple[Decision, str]]


@transaction.atomic
def park(claim: Claim, asks: Sequence[Item], measured: Measured) -> None:
    """The turn waits for a person: no task, no lock."""
    row = hold(claim)
    row.metadata = noted(row.metadata, measured, asks=[call.key for call in asks])
    keep(row, status=Status.WAITING, runner="")
    tell_of(row, "turn waits")


@transaction.atomic
def decide(
    answer: UUID, answers: Answers, *, by: User, fingerprints: Mapping[str, str], runner: str
) -> list[UUID]:
    """By key of the call, what was decided and the hash of what was shown of it. Gives the turns that go on now.
    `fingerprints`: what the tools are, by name."""
    # Before the conversation, as whoever asks does.
    room = room_for(by)
    _hold_waiting(answer)
    row = with_owner(Message.objects.all()).get(pk=answer)
    items = load_items(answer)
    calls = _calls_decided(row, items, answers, fingerprints)
    append(row, _decisions(items, calls, answers, by), Measured())
    left = [key for key in asks_of(row) if key not in answers]
    if not left and room < 1:
        raise Refused(TOO_MANY)
    room -= _settle(row, left, runner)
    for call in calls:
        if answers[call.key][0] is Decision.CONVERSATION and call.name in fingerprints:
            grants.give(row.conversation_id, call.name, fingerprints[call.name], by)
    allowed = {call.name for call in calls if answers[call.key][0] is Decision.CONVERSATION}
    parked = Message.objects.filter(conversation=row.conversation_id, status=Status.WAITING)
    waiting = with_owner(parked) if allowed else []
    for other in waiting:
        names = {item.key: item.name for item in load_items(other.pk)}
        left = [key for key in asks_of(other) if names.get(key) not in allowed]
        # Those for which there is no room go on waiting, for a word of their own.
        if left or room > 0:
            room -= _settle(other, left, runner)
    touched = [answer, *(other.pk for other in waiting)]
    return list(Message.objects.filter(pk__in=touched, status=Status.QUEUED).values_list("pk", flat=True))


def asks_of(row: Message) -> list[str]:
    """The keys of the calls that wait for somebody's word."""
    asks = row.metadata.get("asks")
    known = isinstance(asks, list) and row.status == Status.WAITING
    return [key for key in asks if isinstance(key, str)] if known else []


def _hold_waiting(answer: UUID) -> None:
    # A word for the whole conversation reaches its other answers too: one at a time.
    Conversation.objects.filter(messages=answer).update(next_order=F("next_order"))
    if not Message.objects.filter(pk=answer, status=Status.WAITING).update(touched_at=Now()):
        raise Refused(NOT_WAITING)


def _calls_decided(
    row: Message, items: Iterable[Item], answers: Answers, fingerprints: Mapping[str, str]
) -> list[Item]:
    """The calls that are decided now, each of which must be open still."""
    asks = asks_of(row)
    if not answers or not answers.keys() <= set(asks):
        raise Refused(DECIDED)
    calls = [item for item in items if item.kind is Kind.TOOL_CALL and item.key in answers]
    shown = {call.key: shown_hash(call.text, fingerprints.get(call.name, "")) for call in calls}
    if any(answers[key][1] != hashed for key, hashed in shown.items()):
        raise Refused(OTHERS)
    return calls


def _decisions(items: Iterable[Item], calls: Iterable[Item], answers: Answers, by: User) -> list[Item]:
    keys = KeyMaker(item.key for item in items)
    made: list[Item] = []
    for call in calls:
        decision, _ = answers[call.key]
        decided = Decided(
            call=call.key,
            decision=decision,
            by=str(by.pk),
            name=by.get_username(),
            at=timezone.now().isoformat(),
            arguments_hash=arguments_hash(call.text),
        )
        made.append(decision_item(keys.take(), call, decided))
        if decision is Decision.DENIED:
            made.append(_denied(keys.take(), call))
    return made


def _denied(key: str, call: Item) -> Item:
    return Item(
        key=key,
        kind=Kind.TOOL_RESULT,
        text=DENIED,
        round=call.round,
        call_id=call.call_id,
        name=call.name,
        outcome=Outcome.DENIED,
    )


def _settle(row: Message, left: Sequence[str], runner: str) -> bool:
    """Goes on when nothing is left to decide; whether it does."""
    row.metadata = noted(row.metadata, Measured(), asks=list(left))
    if left:
        keep(row)
        tell_of(row, "turn waits")
        return False
    keep(row, status=Status.QUEUED, tries=0, runner=runner)
    tell_of(row, "turn queued")
    return True
