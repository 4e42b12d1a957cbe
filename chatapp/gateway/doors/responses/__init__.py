"""OpenAI's Responses protocol, as a door."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...handed import Handed
from ..asked import Asked
from ..chat.errors import error_body
from ..door import Door, Writer, Wrong
from .reading import read
from .writing import ResponseWriter


class ResponsesDoor:
    def read(self, body: Any, headers: Mapping[str, str]) -> Asked:
        return read(body, headers)

    def writer(self, asked: Asked, model: str, handed: Handed, at: int) -> Writer:
        return ResponseWriter(asked, model, handed, at)

    def error(self, wrong: Wrong, request_id: str) -> dict[str, Any]:
        return error_body(wrong, request_id)


DOOR: Door = ResponsesDoor()
