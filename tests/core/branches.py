"""Branches to fold, and short ways to say what came of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chatapp.core.contracts import Contract, Repair
from chatapp.core.history import History, Logged, Response, Step, Target, fold
from chatapp.core.items import Item, Kind, Outcome


def target(
    model: str = "a", *, provider: str = "p", dialect: str = "d", thinking: bool = True, **rule: Any
) -> Target:
    contract = Contract(where="", dialect=dialect, since="", source="", **rule)
    return Target(provider, dialect, model, contract, thinking)


A, B = target("a"), target("b")


def item(kind: Kind, key: str, text: str, by: Target, **more: Any) -> Item:
    wire = {"id": key, "sent": text}
    return Item(
        **{"key": key, "kind": kind, "text": text, "wire": wire}
        | {"provider": by.provider, "dialect": by.dialect, "model": by.model}
        | more
    )


def thought(key: str = "rs", *, by: Target = A, text: str = "Hm.", **more: Any) -> Item:
    return item(Kind.REASONING, key, text, by, **more)


def words(key: str = "msg", *, by: Target = A, text: str = "Yes.", **more: Any) -> Item:
    return item(Kind.ASSISTANT_MESSAGE, key, text, by, **more)


def call(key: str = "fc", *, by: Target = A, text: str = '{"n":30}', **more: Any) -> Item:
    return item(Kind.TOOL_CALL, key, text, by, **{"call_id": f"call_{key}", "name": "sieve"} | more)


def result(key: str = "fc", *, text: str = "[2,3]", **more: Any) -> Item:
    """What the call with this key gave."""
    given = {"call_id": f"call_{key}", "name": "sieve", "outcome": Outcome.DONE} | more
    return Item(key=f"part-{key}", kind=Kind.TOOL_RESULT, text=text, **given)


def cut(whole: Item) -> Item:
    """The same as a stop leaves it."""
    return replace(whole, wire=None, provider="", dialect="", model="", cut=True)


def question(text: str = "Q") -> Logged:
    return Logged("user", [Item(key="part-0", kind=Kind.USER_MESSAGE, text=text)])


def answer(*items: Item, repaired: dict[int, tuple[str, list[Repair]]] | None = None) -> Logged:
    return Logged("assistant", items, repaired or {})


def asked(*before: Logged, to: Target = A, cap: int | None = None) -> History:
    """What goes out for an answer that is still empty, below these messages and one more question."""
    return fold([*before, question(), answer()], to, cap=cap)


def going_on(*items: Item, to: Target = A, **more: Any) -> History:
    """What goes out for the next round of an answer that has these items."""
    return fold([question(), answer(*items, **more)], to)


def responses(history: History) -> list[Response]:
    return [step for step in history.steps if isinstance(step, Response)]


def keys(history: History) -> list[list[str]]:
    """The keys of what goes back, response by response."""
    return [[part.item.key for part in response.parts] for response in responses(history)]


def sent(history: History) -> list[str]:
    return [key for response in keys(history) for key in response]


def verbatim(history: History) -> list[str]:
    return [part.item.key for response in responses(history) for part in response.parts if part.verbatim]


def with_id(history: History) -> list[str]:
    return [part.item.key for response in responses(history) for part in response.parts if part.with_id]


def call_ids(history: History) -> list[str]:
    parts = (part for response in responses(history) for part in response.parts)
    return [part.call_id for part in parts if part.item.kind is Kind.TOOL_CALL]


def as_words(steps: tuple[Step, ...]) -> list[str]:
    """One word for each step: a question's text, or the keys of a response."""
    return [
        " ".join(part.item.key for part in step.parts) if isinstance(step, Response) else step.text
        for step in steps
    ]
