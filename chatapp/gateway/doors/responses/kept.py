"""Responses that were kept: what is shown of them, and how a request goes on from them. Whoever keeps them keeps the request's items and
the answer's, each as they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ....core.values import rows
from ..asked import ProgramRequest, Told, ToldAnswer, ToldOther
from ..door import invalid
from ..given import Given
from ..handed import ALPHABET, LENGTH
from .errors import unknown_item
from .items import INPUT, REFERENCE, Entry, as_came, as_item, entries_in, entry, kind_of, told
from .reading import instructions, orphan

Json = dict[str, Any]
MOST_LISTED, LISTED = 100, 20
PREFIXES = {"message": "msg_", "reasoning": "rs_", "function_call": "fc_", "function_call_output": "fco_"}
# No sign of an id's alphabet: what a program said is never taken for what a model said.
MARK = "i"
NONE_KNOWN: Mapping[str, Json] = {}


class Exchanged(NamedTuple):
    """One response: the items of its request, and those of the answer."""

    input: Sequence[Json]
    output: Sequence[Json]


class InputPlace(NamedTuple):
    """Which item of which response's request."""

    secret: str
    n: int


def by_id(previous: Sequence[Exchanged]) -> dict[str, Json]:
    """What a request that goes on from these may name by its id."""
    items = (item for kept in previous for item in (*kept.input, *kept.output))
    return {item["id"]: item for item in items if item.get("id") and item.get("type") != REFERENCE}


def input_kept(asked: ProgramRequest, secret: str, known: Mapping[str, Json] = NONE_KNOWN) -> list[Json]:
    """The items of a request, each with an id: its own, or one of ours. `known`: what its references mean."""
    said = asked.body.get(INPUT)
    items = [as_item(said)] if isinstance(said, str) else rows(said)
    return [_kept(Given(item), n, secret, known) for n, item in enumerate(items)]


def _kept(item: Given, n: int, secret: str, known: Mapping[str, Json]) -> Json:
    kind = kind_of(item)
    if kind == REFERENCE and item.says("id") in known:
        return dict(known[item.says("id")])
    own = item.says("id") or f"{PREFIXES.get(kind, 'item_')}{secret}{MARK}{n}"
    kept = {**as_came(item), "id": own}
    return _whole_message(kept) if kind == "message" else kept


def _whole_message(message: Json) -> Json:
    content = message.get("content")
    if isinstance(content, str):
        kind = "output_text" if message["role"] == "assistant" else "input_text"
        beside: Json = {"annotations": []} if kind == "output_text" else {}
        content = [{"type": kind, "text": content, **beside}]
    return {"status": "completed", **message, "content": content}


def input_place(item_id: str) -> InputPlace | None:
    """Whose id of an item of a request this is; None of those that are not ours."""
    _, _, ours = item_id.partition("_")
    secret, mark, n = ours[:LENGTH], ours[LENGTH : LENGTH + 1], ours[LENGTH + 1 :]
    right = len(secret) == LENGTH and mark == MARK and set(secret) <= set(ALPHABET)
    return InputPlace(secret, int(n)) if right and n.isascii() and n.isdigit() and len(n) <= 6 else None


def referenced(asked: ProgramRequest) -> tuple[str, ...]:
    """The items that a request names instead of telling them."""
    parts = (part for each in asked.history if isinstance(each, ToldAnswer) for part in each.parts)
    return tuple(part.id for part in parts if isinstance(part, ToldOther) and part.wire["type"] == REFERENCE)


def joined(
    previous: Sequence[Exchanged], now: ProgramRequest, known: Mapping[str, Json] = NONE_KNOWN
) -> ProgramRequest:
    """What is asked, with the history of the responses that it goes on from, the first of them first. The instructions of earlier
    requests hold no longer. `known`: items that it may name, by their ids."""
    body, known = Given(now.body), {**by_id(previous), **known}
    before = [item for kept in previous for item in (*kept.input, *kept.output)]
    earlier = [_resolved(entry(Given(item)), "", known) for item in before]
    said = [_resolved(each, f"{INPUT}[{n}].id", known) for n, each in enumerate(entries_in(body))]
    if wrong := orphan(said, earlier):
        raise wrong
    return replace(now, history=_history(body, [*earlier, *said]))


def _history(body: Given, entries: list[Entry]) -> tuple[Told, ...]:
    history = told([*instructions(body), *entries])
    if not history:
        raise invalid(f"`{INPUT}` is empty: there is nothing to answer.", INPUT)
    return history


def _resolved(said: Entry, path: str, known: Mapping[str, Json]) -> Entry:
    if not isinstance(said, ToldOther) or said.wire["type"] != REFERENCE:
        return said
    item = known.get(said.id)
    if item is None or kind_of(Given(item)) == REFERENCE:
        raise unknown_item(said.id, path)
    return entry(Given(item))


def shown(response: Json, query: Mapping[str, str]) -> Json:
    """Of a response that is over there is nothing left to stream."""
    if query.get("stream", "") not in ("", "false", "False", "0"):
        raise invalid(
            "This response is over and cannot be streamed again. Leave `stream` out to get it.", "stream"
        )
    return response


def deleted(response_id: str) -> Json:
    return {"id": response_id, "object": "response.deleted", "deleted": True}


def listed(items: Sequence[Json], query: Mapping[str, str]) -> Json:
    """A page of the items of a request, as `limit`, `order` and `after` want it."""
    ordered = list(items) if _order(query) == "asc" else list(reversed(items))
    left = ordered[_after(ordered, query.get("after", "")) :]
    page = left[: _limit(query)]
    return {
        "object": "list",
        "data": page,
        "first_id": page[0]["id"] if page else None,
        "last_id": page[-1]["id"] if page else None,
        "has_more": len(left) > len(page),
    }


def _order(query: Mapping[str, str]) -> str:
    order = query.get("order") or "desc"
    if order not in ("asc", "desc"):
        raise invalid("`order` must be `asc` or `desc`.", "order")
    return order


def _after(items: Sequence[Json], after: str) -> int:
    if not after:
        return 0
    place = next((n for n, item in enumerate(items) if item["id"] == after), None)
    if place is None:
        raise unknown_item(after, "after")
    return place + 1


def _limit(query: Mapping[str, str]) -> int:
    said = query.get("limit") or str(LISTED)
    if said.isascii() and said.isdigit() and len(said) <= len(str(MOST_LISTED)) and int(said):
        return min(int(said), MOST_LISTED)
    raise invalid(f"`limit` must be a whole number between 1 and {MOST_LISTED}.", "limit")
