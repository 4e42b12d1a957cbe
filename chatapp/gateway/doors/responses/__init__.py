"""OpenAI's Responses protocol, as a door."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..asked import ProgramRequest
from ..chat.errors import error_body
from ..door import Door, DoorWriter, Wrong
from ..handed import Handed
from .reading import read
from .writing import ResponseWriter


class ResponsesDoor:
    def read(self, body: Any, headers: Mapping[str, str]) -> ProgramRequest:
        return read(body, headers)

    def writer(self, asked: ProgramRequest, model: str, handed: Handed, at: int) -> DoorWriter:
        return ResponseWriter(asked, model, handed, at)

    def error(self, wrong: Wrong, request_id: str) -> dict[str, Any]:
        return error_body(wrong, request_id)


DOOR: Door = ResponsesDoor()
