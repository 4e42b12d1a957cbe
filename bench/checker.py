"""Knows the rules and nothing of how they are kept: compares rows with what was seen before, and with what the model's plan says."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.utils import timezone

from chatapp import store
from chatapp.store.models import ENDED, Grant, Item, Message

from . import successor
from .kill_plan import NOTHING_LEFT, THINKS, Plan, plan

Row = Mapping[str, Any]
Line = dict[str, Any]
FROM_MODEL = ("reasoning", "assistant_message", "tool_call")
# What was said so long before a death is not asked again; before that its process may not have come to note it.
NOTED_WITHIN = 0.5
# A clock may tick late on a busy machine, between the model's look at it and ours.
LATE_MS = 250


class Checker:
    """Looked through after each death, while nobody writes."""

    def __init__(self) -> None:
        self._items: dict[UUID, list[Row]] = {}
        self._ended: dict[UUID, Row] = {}
        self._stopped: set[str] = set()
        self._witnessed: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
        self._thoughts: dict[tuple[str, str], float] = {}
        self._effects: Counter[str] = Counter()
        self._decided: dict[str, dict[str, str]] = defaultdict(dict)
        self._said: dict[tuple[str, int], float] = {}

    def look(self, lines: Iterable[Line], *, died: float) -> list[str]:
        """Every rule that is broken, in words. `died`: when the process did that wrote these lines."""
        breaches = [*self._hear(lines), *store.verify_log()]
        self._said = {which: at for which, at in self._said.items() if at < died - NOTED_WITHIN}
        items = _items_by_message()
        for row in Message.objects.filter(role="assistant").values():
            breaches += (f"Turn {row['id']}: {why}." for why in self._turn(row, items.get(row["id"], [])))
        return breaches

    def remember(self, message: UUID) -> None:
        """This turn has ended just now, whatever its former owner believes."""
        self._ended[message] = Message.objects.filter(pk=message).values().get()
        self._items[message] = list(Item.objects.filter(message=message).order_by("seq").values())

    def end(self) -> list[str]:
        """When everything was left to finish: every answer is complete and says all of its plan, once."""
        return [
            breach for row in Message.objects.filter(role="assistant").values() for breach in _unfinished(row)
        ]

    def _hear(self, lines: Iterable[Line]) -> Iterator[str]:
        for line in lines:
            match line["what"]:
                case "stored":
                    new = {key: (kind, text) for key, kind, text in line["items"]}
                    self._witnessed[line["message"]].update(new)
                case "stopped":
                    self._stopped.add(line["message"])
                case "asks":
                    if (line["question"], line["round"]) in self._said:
                        yield f"round {line['round']} of {line['question']!r} was said, and is asked again"
                case "said":
                    self._said[line["question"], line["round"]] = line["at"]
                case "goes on":
                    self._stopped.discard(line["message"])
                    self._forget_what_was_said(line["message"])
                    self._ended.pop(UUID(line["message"]), None)
                case "thought":
                    self._thoughts[line["question"], line["key"]] = line["ms"]
                case "decided":
                    self._decided[line["message"]][line["call"]] = line["word"]
                case "effect":
                    self._effects[line["call"]] += 1
                case "breach":
                    yield line["why"]

    def _forget_what_was_said(self, message: str) -> None:
        """Somebody told it to go on: what was cut is asked for again."""
        question = Item.objects.filter(message__children=message).values_list("text", flat=True).first()
        self._said = {which: at for which, at in self._said.items() if which[0] != question}

    def _turn(self, row: Row, items: list[Row]) -> Iterator[str]:
        question = Item.objects.get(message=row["parent_id"]).text
        whole = plan(question)
        yield from self._history(row, items)
        yield from self._testimony(str(row["id"]), row, items)
        yield from _words(whole, row, items)
        yield from _rounds(whole, items)
        yield from self._calls(items)
        yield from self._decisions(row, items)
        yield from self._times(question, row, items)

    def _history(self, row: Row, items: list[Row]) -> Iterator[str]:
        """What was stored stays as it was, and where it was; what has ended stays as it ended."""
        before = self._items.get(row["id"], [])
        if items[: len(before)] != before:
            yield f"its first {len(before)} items are not what they were"
        self._items[row["id"]] = items
        ended = self._ended.get(row["id"])
        if ended is not None and ended != row:
            changed = sorted(name for name in row if row[name] != ended[name])
            yield f"it had ended and changed all the same: {', '.join(changed)}"
        if row["status"] in ENDED:
            self._ended[row["id"]] = row
        if str(row["id"]) in self._stopped and row["status"] != "stopped":
            yield f"a person was told that it is stopped, and it is {row['status']}"

    def _testimony(self, message: str, row: Row, items: Sequence[Row]) -> Iterator[str]:
        """Everything that was seen after its commit is there, in that order; results that came at once have none."""
        found = {item["key"]: (item["kind"], item["text"]) for item in items}
        witnessed = self._witnessed[message]
        for key, said in witnessed.items():
            if found.get(key) != said:
                yield f"the item {key!r} was stored as {said}, and is {found.get(key)}"
        order = [item["key"] for item in items if item["key"] in witnessed and item["kind"] in FROM_MODEL]
        told = [key for key, (kind, _) in witnessed.items() if kind in FROM_MODEL]
        if order != told:
            yield f"its items were stored as {told}, and are {order}"

    def _calls(self, items: Sequence[Row]) -> Iterator[str]:
        calls = Counter(item["call_id"] for item in items if item["kind"] == "tool_call" and not item["cut"])
        for call, times in calls.items():
            if times > 1:
                yield f"the call {call!r} was made {times} times"
        for item in items:
            ran = self._effects[item["call_id"]]
            if item["kind"] == "tool_call" and item["name"] != "look" and ran > 1:
                yield f"the call {item['call_id']!r} ran {ran} times"
            if item["outcome"] == "done" and (not ran or item["text"] != f"did {item['call_id']}"):
                yield f"the call {item['call_id']!r} ran {ran} times and gave {item['text']!r}"

    def _decisions(self, row: Row, items: Sequence[Row]) -> Iterator[str]:
        """What a person decided is there once, as it was told; what asks ran only where that was allowed."""
        made = [item["wire"] for item in items if item["kind"] == "permission_decision"]
        words = {each["call"]: each["decision"] for each in made}
        if len(words) < len(made):
            yield "a call was decided twice"
        for call, word in self._decided[str(row["id"])].items():
            if words.get(call) != word:
                yield f"the call {call!r} was decided to be {word!r}, and is {words.get(call)!r}"
        calls = (item for item in items if item["kind"] == "tool_call" and not item["cut"])
        for item in (call for call in calls if call["name"] == "send"):
            word = words.get(item["key"])
            if self._effects[item["call_id"]] and (word == "denied" or (word is None and not _granted(row))):
                yield f"the call {item['call_id']!r} ran, and nobody allowed it"

    def _times(self, question: str, row: Row, items: Sequence[Row]) -> Iterator[str]:
        durations, timings = (
            row["metadata"].get("reasoning_durations_ms", {}),
            row["metadata"].get("timings_ms", {}),
        )
        wall = (timezone.now() - row["created_at"]).total_seconds() * 1000
        for item in (item for item in items if item["kind"] == "reasoning"):
            ms, seen = durations.get(item["key"]), self._thoughts.get((question, item["key"]))
            if ms is None or not 0 <= ms <= wall:
                yield f"the thought {item['key']!r} took {ms} ms of {wall:.0f}"
            elif not item["cut"] and not (seen and max(THINKS * 1000, seen) - 2 <= ms <= seen + LATE_MS):
                yield f"the thought {item['key']!r} took {ms} ms, and the model says {seen}"
        starts = [
            timings[item["key"]]["start"]
            for item in items
            if item["kind"] in FROM_MODEL and item["key"] in timings
        ]
        if starts != sorted(starts):
            yield f"its time goes backwards: {starts}"


def _granted(row: Row) -> bool:
    """Whether somebody allowed such calls in this conversation."""
    return Grant.objects.filter(conversation=row["conversation_id"], tool="send").exists()


def _items_by_message() -> dict[UUID, list[Row]]:
    items: dict[UUID, list[Row]] = defaultdict(list)
    for row in Item.objects.order_by("message_id", "seq").values():
        items[row["message_id"]].append(row)
    return items


def _said(items: Iterable[Row]) -> str:
    return "".join(item["text"] for item in items if item["kind"] == "assistant_message")


def _words(whole: Plan, row: Row, items: Sequence[Row]) -> Iterator[str]:
    """Nothing twice, nothing left out: what is there is the beginning of the plan, and all of it where the turn is complete."""
    said = _said(items).rstrip(NOTHING_LEFT)
    right = said == whole.text if row["status"] == "complete" else whole.text.startswith(said)
    if not right:
        yield f"it is {row['status']} and says {said!r} where its plan is {whole.text!r}"


def _rounds(whole: Plan, items: Sequence[Row]) -> Iterator[str]:
    """A round that was not cut is there with all its thoughts and calls."""
    planned = {tuple(call.id for call in each.calls): each for each in whole.rounds}
    groups: dict[int, list[Row]] = defaultdict(list)
    for item in items:
        if item["kind"] in FROM_MODEL:
            groups[item["round"]].append(item)
    for number, group in groups.items():
        if len({item["cut"] for item in group}) > 1:
            yield f"round {number} is cut in part"
        elif not group[0]["cut"] and not _by_a_successor(group):
            yield from _round(number, group, planned)


def _by_a_successor(group: Sequence[Row]) -> bool:
    return all(item["model"] == successor.NAME for item in group)


def _round(number: int, group: Sequence[Row], planned: dict[tuple[str, ...], Any]) -> Iterator[str]:
    calls = tuple(item["call_id"] for item in group if item["kind"] == "tool_call")
    thoughts = tuple(item["text"] for item in group if item["kind"] == "reasoning")
    if calls not in planned or thoughts != planned[calls].thoughts:
        yield f"round {number} is not whole: thoughts {thoughts}, calls {calls}"


def _unfinished(row: Row) -> Iterator[str]:
    if row["status"] != "complete":
        yield f"Turn {row['id']}: at the end it is {row['status']} (attempt {row['attempt']}, tries {row['tries']})."
