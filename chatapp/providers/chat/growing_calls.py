"""The tool calls of one chat completion: which piece belongs to which call."""

from __future__ import annotations

from ...core.events import Event
from ...core.items import KeyMaker, Kind, clean
from ...core.values import Json, fields, word
from ..base import Ask, Trouble
from ..refusals import trouble_error
from .growing_words import GrowingWords

MOST_CALLS = 1000


class GrowingCalls:
    """Pieces of parallel calls may come mixed, so all grow until the response ends."""

    def __init__(self, ask: Ask, keys: KeyMaker) -> None:
        self._ask, self._keys = ask, keys
        self._calls: list[GrowingWords] = []
        self._by_index: dict[int, GrowingWords] = {}

    @property
    def any(self) -> bool:
        return bool(self._calls)

    def find(self, piece: Json) -> GrowingWords | None:
        """The call that this piece goes on with. Some servers give every call the same index, or none."""
        index, call_id, name = piece.get("index"), _call_id(piece), _called_name(piece)
        if isinstance(index, int):
            call = self._by_index.get(index)
            return None if call and name and call_id and call_id != call.call_id else call
        if call_id or name:
            return next((call for call in self._calls if call_id and call.call_id == call_id), None)
        return self._calls[-1] if self._calls else None

    def start(self, piece: Json) -> GrowingWords:
        place, index = len(self._calls), piece.get("index")
        if place >= MOST_CALLS:
            raise trouble_error(Trouble.TOO_LARGE, self._ask.who)
        call_id = _call_id(piece) or f"call_{self._ask.round}_{place}"
        call = GrowingWords(
            self._ask, self._keys.take(), Kind.TOOL_CALL, name=_called_name(piece), call_id=call_id
        )
        self._calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        return call

    def done(self) -> list[Event]:
        return [event for call in self._calls if not call.finished for event in call.done()]


def says_something(piece: Json) -> bool:
    return bool(_call_id(piece) or _called_name(piece) or fields(piece.get("function")).get("arguments"))


def _call_id(piece: Json) -> str:
    return clean(word(piece.get("id")))


def _called_name(piece: Json) -> str:
    return clean(word(fields(piece.get("function")).get("name")))
