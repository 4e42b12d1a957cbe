"""Keeps the sums that insight and daily limits read: added to in the transaction in which a turn ends, never looked for in the log."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import cache
from itertools import islice
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import F, QuerySet, TextField, Value
from django.db.models.functions import Cast
from django.dispatch import receiver
from django.utils import timezone

from ...catalog.store import Price, load_price
from ...core import verbatim
from ...core.counting import COUNTED, TOOL, CallMade, Portion, copied, counts, newest, portions
from ...core.items import Kind, Outcome
from ...core.recorded import Recorded
from ...store.changes import turn_ended, turn_goes_on
from ...store.database.table_locks import hold_tables
from ...store.database.worded import Worded
from ...store.models import ENDED, Item, Message, Role, Status
from ..models import ModelDay, PersonDay

BATCH = 1000
MOST_TOOLS, OTHER_TOOLS = 60, "other tools"
# The day, the model, whose, and what was made.
Counted = tuple[date, str, int | None, Counter[str]]
# Whoever counts here what is no answer in the log, and has kept it, adds itself: sums that are made anew have it too.
ALSO: list[Callable[[], Iterator[Counted]]] = []


def day_of(moment: datetime) -> date:
    """Days are those of UTC, for everybody."""
    return moment.astimezone(UTC).date()


@receiver(turn_ended)
def _turn_ended(row: Message, **_: Any) -> dict[str, Any]:
    return count_ending(row)


@receiver(turn_goes_on)
def _turn_goes_on(row: Message, **_: Any) -> dict[str, Any]:
    return {COUNTED: counted_so_far(row)}


def count_ending(row: Message, now: datetime | None = None) -> dict[str, Any]:
    """The turn ends in this transaction, which holds its row: what came since it was last counted is added. Gives what the row's
    metadata keeps of it."""
    metadata = row.metadata
    if not isinstance(metadata, dict):
        return {}
    before = portions(metadata)
    day = day_of(now or timezone.now())
    portion = _portion_of(metadata, row.status, day, load_price(row.model))
    # A program's are counted by request.
    if not Recorded(metadata).is_by_program:
        calls = load_calls({row.pk: metadata}).get(row.pk, ())
        made = counts(metadata, portion, before[-1] if before else None, effort=row.effort, calls=calls)
        add(day, row.model, row.owner, made)
    return {COUNTED: [*(each.as_json() for each in before), portion.as_json()]}


def add(day: date, model: str, owner: int | None, made: Counter[str]) -> None:
    """In the transaction of what was `made`."""
    if owner is None:
        add_together(day, {(owner, model): made})
    elif stands := _added_to_both(day, model, owner, made):
        _write_of_model(day, model, added(Counter(verbatim.loads(stands)), made))
    else:
        _add_to_model(day, model, made)


def add_together(day: date, made: Mapping[tuple[int | None, str], Counter[str]]) -> None:
    """By whose and by which model. What many add to at once is written in one order, so that nobody waits in a circle."""
    of_models: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (owner, model), numbers in sorted(made.items(), key=lambda each: (each[0][0] or 0, each[0][1])):
        _add_to_person(day, model, owner, numbers)
        of_models[model].update(numbers)
    for model, numbers in sorted(of_models.items()):
        _add_to_model(day, model, numbers)


def counted_so_far(row: Message) -> list[dict[str, Any]]:
    """What an answer that goes on keeps of itself, so that only what comes is counted: it may have ended before anything was
    counted, and what was copied is nobody's answer."""
    if not row.attempt:
        return [copied(row.metadata).as_json()]
    before = portions(row.metadata)
    if before:
        return [each.as_json() for each in before]
    moment = row.touched_at or row.created_at
    return [_portion_of(row.metadata, row.status, day_of(moment), load_price(row.model)).as_json()]


def _portion_of(metadata: Any, status: str, day: date, price: Price | None) -> Portion:
    ended = how_it_ended(status, metadata)
    return newest(metadata, day=day.isoformat(), ended=ended, cost=price.cost if price else None)


def how_it_ended(status: str, metadata: Any) -> str:
    """`complete`, `stopped`, `length`, `cut`, `interrupted`, or `failed` with the kind of trouble."""
    ended = metadata.get("ended") if isinstance(metadata, dict) else None
    said = ended.get("reason") if isinstance(ended, dict) else None
    reason = said if isinstance(said, str) else "unknown"
    if status == Status.FAILED:
        return f"failed:{reason}"
    return reason if status == Status.STOPPED and reason in ("length", "cut") else status


def _adding_to_person(returning: str) -> Worded:
    return Worded(
        lambda day, model, user, *_: PersonDay.objects.filter(day=day, model=model, user=user),
        date,
        str,
        int,
        *(int for _ in PersonDay.COUNTS),
        update=lambda day, model, user, *made: {
            name: F(name) + number for name, number in zip(PersonDay.COUNTS, made, strict=True)
        },
        returning=returning,
    )


_ADDED_TO_PERSON = _adding_to_person("id")


@cache
def _adding_to_both(hold: str) -> Worded:
    """What stands of the model is read with it and held, so that it need not be asked for."""
    return _adding_to_person(f"""(SELECT counts FROM chatapp_modelday m
    WHERE m.day = chatapp_personday.day AND m.model = chatapp_personday.model {hold})""")


def _added_to_both(day: date, model: str, owner: int, made: Counter[str]) -> str | None:
    """To the person. Gives what was counted of the model so far; None where it has no row yet."""
    adding = _adding_to_both("FOR UPDATE" if connection.features.has_select_for_update else "")
    numbers = [made[name] for name in PersonDay.COUNTS]
    found = adding.columns(day, model, owner, *numbers)
    if not found:
        _make_person(day, model, owner)
        found = adding.columns(day, model, owner, *numbers)
    stands: str | None = found[0][0]
    return stands


def _make_person(day: date, model: str, owner: int | None) -> None:
    PersonDay.objects.bulk_create([PersonDay(day=day, model=model, user_id=owner)], ignore_conflicts=True)


def _add_to_person(day: date, model: str, owner: int | None, made: Counter[str]) -> None:
    if not _added_to_person(day, model, owner, made):
        _make_person(day, model, owner)
        _added_to_person(day, model, owner, made)


def _added_to_person(day: date, model: str, owner: int | None, made: Counter[str]) -> bool:
    """Whether there was a row."""
    if owner is not None:
        return bool(_ADDED_TO_PERSON.columns(day, model, owner, *(made[name] for name in PersonDay.COUNTS)))
    rows = PersonDay.objects.filter(day=day, model=model, user=None)
    return bool(rows.update(**{name: F(name) + made[name] for name in PersonDay.COUNTS}))


_OF_MODEL = Worded(
    lambda day, model: ModelDay.objects.select_for_update().filter(day=day, model=model), date, str
)
_COUNTED_OF_MODEL = Worded(
    lambda day, model, _: ModelDay.objects.filter(day=day, model=model),
    date,
    str,
    str,
    update=lambda _, __, counts: {"counts": Value(counts, TextField())},
    returning="id",
)


def _add_to_model(day: date, model: str, made: Counter[str]) -> None:
    """Last of all: many turns end with the same model, and wait here for one another."""
    row = _OF_MODEL.first(day, model)
    if row is None:
        ModelDay.objects.bulk_create([ModelDay(day=day, model=model)], ignore_conflicts=True)
        row = _OF_MODEL.first(day, model)
    _write_of_model(day, model, added(Counter(row.counts), made))


def added(so_far: Counter[str], made: Counter[str]) -> Counter[str]:
    """Models call what tools they like: of a day so many names are told apart, and all others are one."""
    known = {name.rpartition(":")[0] for name in so_far if name.startswith(TOOL)}
    bounded: Counter[str] = Counter()
    for name, number in made.items():
        tool, _, what = name.rpartition(":")
        if name.startswith(TOOL) and tool not in known:
            if len(known) < MOST_TOOLS:
                known.add(tool)
            else:
                name = f"{TOOL}{OTHER_TOOLS}:{what}"
        bounded[name] += number
    return so_far + bounded


def _write_of_model(day: date, model: str, counts: Counter[str]) -> None:
    """Of a row that is held."""
    _COUNTED_OF_MODEL.columns(day, model, verbatim.dumps(dict(counts)))


def are_missing() -> bool:
    """Whether answers are there from before anything was counted."""
    there = Message.objects.filter(role=Role.ASSISTANT, attempt__gt=0, status__in=ENDED)
    return not ModelDay.objects.exists() and there.exists()


@transaction.atomic
def count_anew() -> int:
    """Forgets all sums and makes them from the answers that are there; gives the number of these. What was deleted for good is in
    them no more."""
    # No turn adds anything meanwhile.
    hold_tables(PersonDay, ModelDay, mode="EXCLUSIVE")
    by_model: _OfModels = defaultdict(Counter)
    by_person: _OfPeople = defaultdict(Counter)
    seen = 0
    for metadata, kept, model, owner, effort, calls in _answers():
        seen += 1
        before: Portion | None = None
        for portion in kept:
            if portion.day:
                day = date.fromisoformat(portion.day)
                made = counts(metadata, portion, before, effort=effort, calls=calls)
                by_model[day, model] = added(by_model[day, model], made)
                by_person[day, model, owner].update({name: made[name] for name in PersonDay.COUNTS})
            before = portion
    for day, model, owner, made in (each for kept_elsewhere in ALSO for each in kept_elsewhere()):
        by_model[day, model].update(made)
        by_person[day, model, owner].update({name: made[name] for name in PersonDay.COUNTS})
    _put_instead(by_model, by_person)
    return seen


_OfModels = defaultdict[tuple[date, str], Counter[str]]
_OfPeople = defaultdict[tuple[date, str, int | None], Counter[str]]


def _put_instead(by_model: _OfModels, by_person: _OfPeople) -> None:
    """In the order of days, so that a span is one stretch of the table."""
    ModelDay.objects.all().delete()
    PersonDay.objects.all().delete()
    models = sorted(by_model.items(), key=itemgetter(0))
    people = sorted(by_person.items(), key=itemgetter(0))
    ModelDay.objects.bulk_create(
        (ModelDay(day=day, model=model, counts=dict(made)) for (day, model), made in models), batch_size=BATCH
    )
    PersonDay.objects.bulk_create(
        (PersonDay(day=day, model=model, user_id=owner, **made) for (day, model, owner), made in people),
        batch_size=BATCH,
    )


def _answers() -> Iterator[tuple[Any, tuple[Portion, ...], str, Any, str, Sequence[CallMade]]]:
    """All that were made here, each with its endings and its calls; what was copied from elsewhere was not."""
    made_here = Message.objects.filter(role=Role.ASSISTANT, attempt__gt=0)
    # As text: a damaged row must not keep the others from being counted.
    rows = made_here.annotate(told=Cast("metadata", TextField())).values_list(
        "pk", "told", "status", "model", "conversation__owner", "effort", "touched_at", "created_at"
    )
    prices: dict[str, Price | None] = {}
    every = rows.iterator(BATCH)
    while some := list(islice(every, BATCH)):
        read = {pk: _read(told) for pk, told, *_ in some}
        calls = load_calls(read)
        for pk, _, status, model, owner, effort, touched, created in some:
            metadata = read[pk]
            if Recorded(metadata).is_by_program:
                continue
            kept = portions(metadata)
            if not kept and status in ENDED:
                if model not in prices:
                    prices[model] = load_price(model)
                kept = (_portion_of(metadata, status, day_of(touched or created), prices[model]),)
            yield metadata, kept, model, owner, effort, calls.get(pk, ())


def _read(told: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(told)
    return {}


def load_calls(answers: Mapping[UUID, object]) -> dict[UUID, list[CallMade]]:
    """Of these answers with what was recorded of each. Whoever was asked once was told of no result."""
    several = [pk for pk, metadata in answers.items() if len(Recorded(metadata).rounds) > 1]
    if not several:
        return {}
    rows = Item.objects.filter(message__in=several, kind__in=(Kind.TOOL_CALL, Kind.TOOL_RESULT))
    found: dict[UUID, list[CallMade]] = defaultdict(list)
    named: dict[tuple[UUID, str], tuple[str, int]] = {}
    columns = ("message_id", "kind", "key", "call_id", "name", "round", "outcome")
    for pk, kind, key, call_id, name, round, outcome in rows.order_by("seq").values_list(*columns):
        if kind == Kind.TOOL_CALL:
            named[pk, call_id or key] = (name, round)
            continue
        called, number = named.get((pk, call_id), (name, round))
        span = Recorded(answers[pk]).stretches.get(key)
        failed = outcome in (Outcome.FAILED, Outcome.UNKNOWN)
        found[pk].append(CallMade(number + 1, called or name, failed, span.ms if span else 0))
    return found


def inherit(user: User, before: QuerySet) -> None:
    """What others used counts as theirs, who had used nothing yet."""
    PersonDay.objects.filter(user__in=before).update(user=user)
