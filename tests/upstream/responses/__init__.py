"""`POST /v1/responses`."""

from __future__ import annotations

import time
from collections.abc import Iterator

from ..asked import Answering, Asked, Frame, text_of
from ..scenario import Speed
from . import answer
from .checks import check_input, check_request, turn_index


class Responses(Answering):
    api = "responses"
    fails_at = None
    error_frame = staticmethod(answer.error_frame)
    unknown_frame = staticmethod(answer.unknown_frame)

    def __init__(self, asked: Asked) -> None:
        check_request(asked.body, asked.scenario)
        self.context, self._removed = check_input(
            asked.body, asked.scenario, asked.org, asked.store, asked.notes
        )
        self.asked, self.answers_so_far = asked, turn_index(self.context)
        user = next((item for item in reversed(self.context) if item.get("role") == "user"), {})
        tool = next((item for item in reversed(self.context) if item["type"] == "function_call_output"), {})
        self.last_user, self.tool_output = text_of(user.get("content")), text_of(tool.get("output"))

    @property
    def id(self) -> str:
        return "resp_" + self._hex

    def build(self, turn: dict, env: dict) -> None:
        self._turn = turn
        self._hex, self.out = answer.build(turn, self.asked.body, self.asked.scenario, self.asked.org, env)

    def say_nothing(self) -> None:
        self.out, self._turn = [], {"items": []}

    def kept(self) -> list[dict]:
        """The items as later requests of this conversation may name them."""
        follow = ({"_next": item["_next"]} if item.get("_next") else {} for item in self.out)
        return [answer.public(item) | more for item, more in zip(self.out, follow, strict=True)]

    def frames(self, speed: Speed) -> Iterator[Frame]:
        return answer.stream(self._turn, self.asked.body, self._hex, self.out, self._begun(), speed)

    def whole(self) -> dict:
        usage = answer.usage_of(self.asked.body, self._turn, self.out)
        items = [answer.final_item(item) for item in self.out]
        return answer.finished(self._begun(), self._turn, items, usage)[1]

    def keep(self) -> None:
        """Only what was not to be forgotten, and ended well."""
        if self.asked.body.get("store") is not False and self._turn.get("finish") in (None, "completed"):
            self.asked.store.put(self.asked.org, self.id, self.context, self.kept())

    def _begun(self) -> dict:
        begun = answer.envelope(self._hex, self.asked.body, "in_progress", int(time.time()))
        return begun | ({"input_transformations": self._removed} if self._removed else {})
