"""A wire small enough to read at a glance, for tests of what carries wires."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from chatapp.core.contracts import Contract
from chatapp.core.events import Event, Finish, ItemDelta, ItemDone, ItemStarted, ResponseEnded
from chatapp.core.history import History
from chatapp.core.items import Item, KeyMaker, Kind
from chatapp.providers.base import Ask, Endpoint, ModelSpec, ProviderError, Trouble
from chatapp.providers.refusals import refusal_by_status, trouble_error

TEXT = Kind.ASSISTANT_MESSAGE


def frame(**what: Any) -> bytes:
    return b"data: " + json.dumps(what, ensure_ascii=False).encode() + b"\n\n"


def says(text: str) -> list[bytes]:
    """The frames of an answer of one item."""
    return [frame(start="a"), frame(delta=text), frame(done=text), frame(end=True)]


class FakeParser:
    def __init__(self, keys: KeyMaker) -> None:
        self._keys, self._key, self._ended = keys, "", False

    def feed(self, event: str, data: str) -> list[Event]:
        match json.loads(data):
            case {"start": str(name)}:
                self._key = self._keys.take(name)
                return [ItemStarted(self._key, TEXT)]
            case {"delta": str(text)}:
                return [ItemDelta(self._key, text)]
            case {"done": str(text)}:
                return [ItemDone(Item(key=self._key, kind=TEXT, text=text))]
            case {"end": True}:
                self._ended = True
                return [ResponseEnded(Finish.STOP)]
            case {"fail": str(word), "again": bool(again)}:
                raise trouble_error(Trouble(word), "Fake", data, again=again)
        return []

    def close(self) -> list[Event]:
        if self._ended:
            return []
        raise trouble_error(Trouble.BROKEN, "Fake", again=True)


class FakeWire:
    dialect = "chat"

    def path(self, endpoint: Endpoint) -> str:
        return "/answers"

    def headers(self, endpoint: Endpoint, ask: Ask) -> dict[str, str]:
        return {"authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}

    def body(self, ask: Ask) -> dict[str, Any]:
        return {"model": ask.model.name, "instructions": ask.instructions}

    def parser(self, ask: Ask, keys: KeyMaker) -> FakeParser:
        return FakeParser(keys)

    def refusal(self, label: str, status: int, headers: Mapping[str, str], text: str) -> ProviderError:
        return refusal_by_status(label, status, headers, text)

    def models_path(self, endpoint: Endpoint) -> str:
        return "/models?limit=1000"

    def model(self, endpoint: Endpoint, row: Mapping[str, Any]) -> ModelSpec:
        window = row.get("window")
        return ModelSpec(provider=endpoint.name, dialect="chat", name=row["id"], window=window)


def question(instructions: str = "") -> Ask:
    spec = ModelSpec(provider="fake", dialect="chat", name="m")
    contract = Contract(where="", dialect="chat", since="2026-01", source="a test")
    return Ask(model=spec, contract=contract, history=History(()), instructions=instructions)
