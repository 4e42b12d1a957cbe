"""`POST /v1/chat/completions`, in the dialects of the thinking models."""

from __future__ import annotations

from collections.abc import Iterator

from ..asked import Answering, Asked, Frame, text_of
from ..scenario import Speed
from . import answer
from .checks import check
from .profiles import profile_of, thinking_enabled


class Chat(Answering):
    api = "chat"
    fails_at = "finish"
    error_frame = staticmethod(answer.error_frame)
    unknown_frame = staticmethod(answer.unknown_frame)

    def __init__(self, asked: Asked) -> None:
        name, self._profile = profile_of(asked.body["model"], asked.scenario)
        self.asked, self._thinks = asked, thinking_enabled(asked.body, self._profile)
        messages = check(asked.body, name, self._profile, self._thinks, asked.org, asked.notes)
        self.answers_so_far = sum(message["role"] == "assistant" for message in messages)
        self.last_user, self.tool_output = (self._last(messages, role) for role in ("user", "tool"))

    @staticmethod
    def _last(messages: list[dict], role: str) -> str:
        return text_of(next((each["content"] for each in reversed(messages) if each["role"] == role), ""))

    def build(self, turn: dict, env: dict) -> None:
        self._turn = turn
        self.out = answer.build(turn, self.asked.body, self._profile, self._thinks, self.asked.org, env)

    def frames(self, speed: Speed) -> Iterator[Frame]:
        return answer.stream(self._turn, self.asked.body, self._profile, self.out, speed)

    def whole(self) -> dict:
        return answer.full(self._turn, self.asked.body, self._profile, self.out)
