"""Anthropic's Messages stream, said piece by piece."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any

from tests.upstream.messages.ids import tool_id

from . import strict

Json = dict[str, Any]


class MessagesWire:
    def __init__(self, body: Json, headers: Mapping[str, str]) -> None:
        self._body, self._headers = body, headers
        self._index = -1
        self._open = ""
        self._text = ""
        self._thoughts: list[Json] = []
        self._called = False
        self.held = strict.HELD

    def begin(self) -> bytes:
        message = {
            "id": f"msg_{secrets.token_hex(12)}",
            "type": "message",
            "role": "assistant",
            "model": self._body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": self.held, "output_tokens": 1},
        }
        return _event("message_start", message=message) + _event("ping")

    def think(self, words: str) -> bytes:
        opening = self._opened("thinking", {"thinking": "", "signature": ""})
        return opening + (self._delta("thinking_delta", thinking=words) if words else b"")

    def end_thought(self) -> bytes:
        return self._closed() if self._open == "thinking" else b""

    def write(self, words: str) -> bytes:
        return self._opened("text", {"text": ""}) + self._delta("text_delta", text=words)

    def call(self, name: str, arguments: str) -> bytes:
        self._called = True
        fields = {"id": tool_id(self._thoughts), "name": name, "input": {}}
        opening = self._closed() + self._opened("tool_use", fields)
        return opening + self._delta("input_json_delta", partial_json=arguments) + self._closed()

    def finish(self, tokens: int, cut: bool = False) -> bytes:
        reason = "max_tokens" if cut else "tool_use" if self._called else "end_turn"
        delta = {"stop_reason": reason, "stop_sequence": None}
        usage = {"output_tokens": tokens}
        return self._closed() + _event("message_delta", delta=delta, usage=usage) + _event("message_stop")

    def fail(self, words: str) -> bytes:
        return _event("error", error={"details": None, "type": "api_error", "message": words})

    def _opened(self, kind: str, fields: Json) -> bytes:
        if self._open == kind:
            return b""
        closing = self._closed()
        self._index += 1
        self._open, self._text = kind, ""
        block = {"type": kind, **fields}
        return closing + _event("content_block_start", index=self._index, content_block=block)

    def _delta(self, kind: str, **words: str) -> bytes:
        self._text += "".join(words.values())
        return _event("content_block_delta", index=self._index, delta={"type": kind, **words})

    def _closed(self) -> bytes:
        kind, self._open = self._open, ""
        signed = self._signed() if kind == "thinking" else b""
        return signed + _event("content_block_stop", index=self._index) if kind else b""

    def _signed(self) -> bytes:
        text = self._text
        sign = strict.signature(text, body=self._body, headers=self._headers)
        self._thoughts.append({"type": "thinking", "thinking": text, "signature": sign})
        return self._delta("signature_delta", signature=sign)


def _event(name: str, **fields: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields}, ensure_ascii=False)}\n\n".encode()
