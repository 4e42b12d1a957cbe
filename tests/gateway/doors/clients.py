"""What the official clients make of a stream: each frame must be valid for their typed models, and they put the answer together."""

from __future__ import annotations

import json
from typing import Any

from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import Message, RawMessageStreamEvent
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import TypeAdapter

from chatapp.gateway.doors.door import Frame, as_sse

ANTHROPIC: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
# The client's own.
_NOT_SENT = ("parsed", "parsed_arguments", "parsed_output", "moderation", "citations")


def sent(frame: Frame) -> Any:
    """As it arrives."""
    data = as_sse(frame).decode().removesuffix("\n\n").rpartition("data: ")[2]
    return data if data == "[DONE]" else json.loads(data)


def by_openai(frames: list[Frame]) -> dict[str, Any]:
    *chunks, done = map(sent, frames)
    assert done == "[DONE]"
    state = ChatCompletionStreamState()
    for chunk in chunks:
        list(state.handle_chunk(ChatCompletionChunk.model_validate(chunk)))
    gathered: dict[str, Any] = _bare(state.current_completion_snapshot.model_dump(exclude_unset=True))
    return gathered


def by_anthropic(frames: list[Frame]) -> dict[str, Any]:
    snapshot, buffers, open_block = None, dict[int, bytes](), None
    for frame in frames:
        data = sent(frame)
        assert data["type"] == frame.event
        if data["type"] == "ping":
            continue
        open_block = _next_block(open_block, data)
        event = ANTHROPIC.validate_python(data)
        snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers)
    assert snapshot is not None and open_block is None
    gathered: dict[str, Any] = _bare(snapshot.model_dump(exclude_unset=True))
    return gathered


def _next_block(open_block: int | None, data: dict[str, Any]) -> int | None:
    """One block at a time, numbered as they come."""
    match data["type"]:
        case "content_block_start":
            assert open_block is None
            return int(data["index"])
        case "content_block_delta":
            assert open_block == data["index"]
        case "content_block_stop":
            assert open_block == data["index"]
            return None
        case _:
            pass
    return open_block


def openai_takes(whole: dict[str, Any]) -> None:
    ChatCompletion.model_validate(whole)


def anthropic_takes(whole: dict[str, Any]) -> None:
    Message.model_validate(whole)


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _bare(inner) for name, inner in value.items() if name not in _NOT_SENT}
    return [_bare(inner) for inner in value] if isinstance(value, list) else value
