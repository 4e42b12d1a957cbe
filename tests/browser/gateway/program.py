"""A program with a key that records: the official client, each request in a thread of its own, since a test looks at the page meanwhile."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from openai import OpenAI

from tests.support.patience import PATIENCE

NAME = "Codex on the laptop"
SYSTEM = {"role": "system", "content": "You are a coding agent. Work in small steps."}
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "Runs on the machine of the program.",
            "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
        },
    }
    for name in ("shell", "apply_patch")
]
Message = dict[str, Any]


class Program:
    """Its history is a list of messages, as it keeps them: without thoughts."""

    def __init__(self, url: str, secret: str, model: str) -> None:
        self._client = OpenAI(base_url=f"{url}v1", api_key=secret, max_retries=0, timeout=PATIENCE)
        self._model = model
        self._threads = ThreadPoolExecutor(4)

    def asks(self, history: list[Message]) -> Future[Message]:
        """What it is answered, as it will send it back."""
        return self._threads.submit(self._asked, list(history))

    def close(self) -> None:
        self._client.close()
        self._threads.shutdown()

    def _asked(self, history: list[Any]) -> Message:
        text, calls = "", dict[int, Any]()
        stream = self._client.chat.completions.create(
            model=self._model, messages=history, tools=TOOLS, stream=True
        )
        for chunk in stream:
            for choice in chunk.choices:
                text += choice.delta.content or ""
                for piece in choice.delta.tool_calls or ():
                    _add(calls.setdefault(piece.index, _call()), piece)
        said: Message = {"role": "assistant", "content": text or None}
        return said | ({"tool_calls": list(calls.values())} if calls else {})


def _call() -> dict[str, Any]:
    return {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}


def _add(call: dict[str, Any], piece: Any) -> None:
    call["id"] = piece.id or call["id"]
    call["function"]["name"] += piece.function.name or ""
    call["function"]["arguments"] += piece.function.arguments or ""


def question(words: str) -> Message:
    return {"role": "user", "content": words}


def results(answer: Message, *texts: str) -> list[Message]:
    """Of its calls, in their order."""
    calls = answer["tool_calls"]
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": text}
        for call, text in zip(calls, texts, strict=False)
    ]
