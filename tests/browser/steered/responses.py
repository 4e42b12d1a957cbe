"""OpenAI's Responses stream, said piece by piece."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any

from tests.upstream.responses.ids import NONE, make_call_id, make_id

from . import strict

Json = dict[str, Any]
DELTAS = {
    "reasoning": "response.reasoning_summary_text.delta",
    "message": "response.output_text.delta",
    "function_call": "response.function_call_arguments.delta",
}


class ResponsesWire:
    def __init__(self, body: Json, headers: Mapping[str, str]) -> None:
        self._body, self._headers = body, headers
        self._response = secrets.token_hex(24)
        self._seq = 0
        self._done: list[Json] = []
        self._open: Json | None = None
        self._text = ""
        self._thought = NONE
        self.held = strict.HELD

    def begin(self) -> bytes:
        whole = self._whole("in_progress")
        return self._event("response.created", response=whole) + self._event(
            "response.in_progress", response=whole
        )

    def think(self, words: str) -> bytes:
        opening = self._opened("reasoning", "rs", content=[], summary=[])
        return opening + (self._delta(words, summary_index=0) if words else b"")

    def end_thought(self) -> bytes:
        return self._closed() if self._open and self._open["type"] == "reasoning" else b""

    def write(self, words: str) -> bytes:
        opening = self._opened("message", "msg", status="in_progress", role="assistant", content=[])
        return opening + self._delta(words, content_index=0, logprobs=[])

    def call(self, name: str, arguments: str) -> bytes:
        closing = self._closed()
        call_id = make_call_id(self._response, len(self._done), name, arguments)
        more = {"status": "in_progress", "call_id": call_id, "name": name}
        opening = closing + self._opened("function_call", "fc", arguments="", **more)
        return opening + self._delta(arguments) + self._closed()

    def finish(self, tokens: int, cut: bool = False) -> bytes:
        closing = self._closed()
        status = "incomplete" if cut else "completed"
        usage = {"input_tokens": self.held, "output_tokens": tokens, "total_tokens": self.held + tokens}
        more = {"usage": usage} | ({"incomplete_details": {"reason": "max_output_tokens"}} if cut else {})
        return closing + self._event(f"response.{status}", response=self._whole(status) | more)

    def fail(self, words: str) -> bytes:
        error = {"type": "server_error", "code": "server_error", "message": words, "param": None}
        return self._event("error", error=error)

    def _opened(self, kind: str, prefix: str, **fields: Any) -> bytes:
        if self._open and self._open["type"] == kind:
            return b""
        closing, index = self._closed(), len(self._done)
        needs = NONE if kind == "reasoning" else self._thought
        self._open = {"id": make_id(prefix, self._response, index, needs), "type": kind, **fields}
        self._text = ""
        if kind == "reasoning":
            self._thought = index
        return closing + self._event("response.output_item.added", item=self._open, output_index=index)

    def _delta(self, words: str, **fields: Any) -> bytes:
        assert self._open
        self._text += words
        place = {"item_id": self._open["id"], "output_index": len(self._done)}
        return self._event(DELTAS[self._open["type"]], delta=words, **place, **fields)

    def _closed(self) -> bytes:
        if self._open is None:
            return b""
        item, index = self._whole_item(self._open), len(self._done)
        self._open = None
        self._done.append(item)
        return self._event("response.output_item.done", item=item, output_index=index)

    def _whole_item(self, item: Json) -> Json:
        match item["type"]:
            case "reasoning":
                parts = [{"type": "summary_text", "text": self._text}] if self._text else []
                item = item | {"summary": parts}
                place = {"response": self._response, "index": len(self._done)}
                seal = strict.sealed_item(item, **place, body=self._body, headers=self._headers)
                return item | {"encrypted_content": seal}
            case "function_call":
                return item | {"status": "completed", "arguments": self._text}
            case _:
                part = {"type": "output_text", "annotations": [], "logprobs": [], "text": self._text}
                return item | {"status": "completed", "content": [part]}

    def _whole(self, status: str) -> Json:
        return {
            "id": f"resp_{self._response}",
            "object": "response",
            "status": status,
            "model": self._body["model"],
            "output": self._done,
            "usage": None,
            "error": None,
        }

    def _event(self, name: str, **fields: Any) -> bytes:
        said = {"type": name, **fields, "sequence_number": self._seq}
        self._seq += 1
        return f"event: {name}\ndata: {json.dumps(said, ensure_ascii=False)}\n\n".encode()
