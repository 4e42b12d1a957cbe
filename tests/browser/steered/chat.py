"""Chat Completions, said piece by piece."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any

from . import strict

Json = dict[str, Any]


class ChatWire:
    def __init__(self, body: Json, headers: Mapping[str, str]) -> None:
        self._head = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "object": "chat.completion.chunk",
            "created": 1767225600,
            "model": body["model"],
        }
        self._calls = 0
        self.held = strict.HELD

    def begin(self) -> bytes:
        return self._delta({"role": "assistant", "content": ""})

    def think(self, words: str) -> bytes:
        return self._delta({"reasoning_content": words})

    def end_thought(self) -> bytes:
        """Nothing says so on this wire: what comes next does."""
        return b""

    def write(self, words: str) -> bytes:
        return self._delta({"content": words})

    def call(self, name: str, arguments: str) -> bytes:
        place = self._calls
        self._calls += 1
        function = {"name": name, "arguments": ""}
        opening = {
            "index": place,
            "id": f"call_{secrets.token_hex(12)}",
            "type": "function",
            "function": function,
        }
        piece = {"index": place, "function": {"arguments": arguments}}
        return self._delta({"tool_calls": [opening]}) + self._delta({"tool_calls": [piece]})

    def finish(self, tokens: int, cut: bool = False) -> bytes:
        reason = "length" if cut else "tool_calls" if self._calls else "stop"
        usage = {"prompt_tokens": self.held, "completion_tokens": tokens, "total_tokens": self.held + tokens}
        return self._delta({}, reason) + self._frame({"choices": [], "usage": usage}) + b"data: [DONE]\n\n"

    def fail(self, words: str) -> bytes:
        return _data({"error": {"message": words, "type": "server_error", "param": None, "code": None}})

    def _delta(self, delta: Json, finish: str | None = None) -> bytes:
        return self._frame({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def _frame(self, more: Json) -> bytes:
        return _data(self._head | more)


def _data(what: Json) -> bytes:
    return b"data: " + json.dumps(what, ensure_ascii=False).encode() + b"\n\n"
