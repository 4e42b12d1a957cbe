"""`POST /v1/messages`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..asked import Answering, Asked, Frame, last
from ..scenario import Speed
from . import answer
from .checks import check


class Messages(Answering):
    api = "messages"
    fails_at = "message_delta"
    error_frame = staticmethod(answer.error_frame)
    unknown_frame = staticmethod(answer.unknown_frame)

    def __init__(self, asked: Asked) -> None:
        self._messages, self._removed = check(
            asked.body, asked.headers, asked.scenario, asked.org, asked.notes
        )
        self.asked = asked
        self.answers_so_far = sum(message["role"] == "assistant" for message in self._messages)
        self.last_user = last(self._blocks("text", of="user"))
        self.tool_output = last([block.get("content") for block in self._blocks("tool_result")])

    def _blocks(self, kind: str, of: str | None = None) -> list[Any]:
        rows = (message["rows"] for message in self._messages if of in (None, message["role"]))
        return [block for row in rows for _, block in row if block["type"] == kind]

    def build(self, turn: dict, env: dict) -> None:
        body, scenario, org = self.asked.body, self.asked.scenario, self.asked.org
        self.out, self._stop = answer.build(turn, body, self._messages, scenario, org, env)
        self._turn, self._usage = turn, answer.usage_of(body, turn, self.out)

    def frames(self, speed: Speed) -> Iterator[Frame]:
        padded = self.asked.scenario.section("anthropic").get("padding", True)
        made = (self._turn, self.asked.body, self.out, self._stop, self._usage, self._removed)
        return answer.stream(*made, speed, padded)

    def whole(self) -> dict:
        return answer.message(self.asked.body, self._usage, self.out, self._stop, self._removed)
