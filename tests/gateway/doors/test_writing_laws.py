"""Whatever a model says: what an official client puts together of the stream is what who asked for no stream gets."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed: the laws of the doors are not tested")
pytest.importorskip("openai", reason="openai is not installed: the chat door is not tested with its client")
pytest.importorskip(
    "anthropic", reason="anthropic is not installed: the messages door is not tested with its client"
)

from hypothesis import given
from hypothesis import strategies as st

from chatapp.core.events import Event, Finish, Usage
from chatapp.core.items import Kind
from chatapp.gateway.doors import chat, messages
from chatapp.gateway.doors.asked import ProgramRequest, ToldAnswer, ToldCall, ToldThought, ToldWords
from chatapp.gateway.doors.door import Door, DoorWriter, Frame, HowEnded
from chatapp.gateway.doors.handed import Handed
from tests.providers.fuzz import Recording, hear, recordings

from .clients import anthropic_takes, by_anthropic, by_openai, openai_takes
from .said import AT, ENDS, EVENTS

USER = {"role": "user", "content": "Why?"}
BLOCKS = {"thinking": ToldThought, "redacted_thinking": ToldThought, "text": ToldWords, "tool_use": ToldCall}
FUNCTIONS = [{"name": "look", "parameters": {}}]
every_recording = pytest.mark.parametrize("recorded", recordings(), ids=lambda recorded: recorded.name)


def asked(door: Door, **more: Any) -> ProgramRequest:
    return door.read({"model": "m", "messages": [USER], "stream": True, **more}, {})


def written(writer: DoorWriter, events: list[Event], ended: HowEnded) -> list[Frame]:
    frames = writer.begin()
    for event in events:
        frames += writer.hear(event) + writer.still_thinking()
    return frames + writer.end(ended)


@given(EVENTS, ENDS, st.booleans(), st.booleans())
def test_a_chat_client_gathers_what_is_whole(
    events: list[Event], ended: HowEnded, counts: bool, legacy: bool
) -> None:
    more = {"functions": FUNCTIONS} if legacy else {}
    request = asked(chat.DOOR, stream_options={"include_usage": counts}, **more)
    writer = chat.DOOR.writer(request, "m", Handed(), AT)
    gathered, whole = by_openai(written(writer, events, ended)), writer.whole()
    openai_takes(whole)
    assert as_gathered_by_openai(gathered) == as_gathered_by_openai(
        whole if counts else whole | {"usage": None}
    )


@given(EVENTS, ENDS)
def test_a_messages_client_gathers_what_is_whole(events: list[Event], ended: HowEnded) -> None:
    writer = messages.DOOR.writer(asked(messages.DOOR), "m", Handed(), AT)
    gathered, whole = by_anthropic(written(writer, events, ended)), writer.whole()
    anthropic_takes(whole)
    assert gathered | {"stop_details": None} == whole | {"stop_details": None}


@given(EVENTS, ENDS)
def test_a_chat_client_that_sends_its_answer_back_is_understood(events: list[Event], ended: HowEnded) -> None:
    writer = chat.DOOR.writer(asked(chat.DOOR), "m", Handed(), AT)
    written(writer, events, ended)
    message = writer.whole()["choices"][0]["message"]
    answer = sent_back(chat.DOOR, message)
    assert "reasoning" not in message or said_in(answer, ToldThought) == message["reasoning"]
    assert said_in(answer, ToldWords) == (message["content"] or "") + (message.get("refusal") or "")
    calls = [part for part in answer.parts if isinstance(part, ToldCall)]
    assert [call.id for call in calls] == [call["id"] for call in message.get("tool_calls", [])]


@given(EVENTS, ENDS)
def test_a_messages_client_that_sends_its_answer_back_is_understood(
    events: list[Event], ended: HowEnded
) -> None:
    writer = messages.DOOR.writer(asked(messages.DOOR), "m", Handed(), AT)
    written(writer, events, ended)
    blocks = writer.whole()["content"]
    answer = sent_back(messages.DOOR, {"role": "assistant", "content": blocks})
    assert [BLOCKS[block["type"]] for block in blocks] == [type(part) for part in answer.parts]
    seals = [part.seal for part in answer.parts if isinstance(part, ToldThought)]
    assert seals == [
        block.get("signature") or block["data"] for block in blocks if "thinking" in block["type"]
    ]


@every_recording
@pytest.mark.parametrize("door, gather", [(chat.DOOR, by_openai), (messages.DOOR, by_anthropic)])
def test_what_a_provider_sent_arrives_behind_every_door(recorded: Recording, door: Door, gather: Any) -> None:
    heard = hear(recorded, recorded.frames())
    writer = door.writer(asked(door), "m", Handed(), AT)
    gathered = gather(written(writer, heard.events, HowEnded(finish=Finish.STOP, usage=Usage(), at=AT)))
    said = [item.text for item in heard.items() if item.text.strip() and item.kind is not Kind.TOOL_CALL]
    assert all(text in words_of(gathered) for text in said)


def sent_back(door: Door, message: dict[str, Any]) -> ToldAnswer:
    """What a door reads of it, between two questions."""
    read = door.read({"model": "m", "messages": [USER, message, USER]}, {})
    return next((told for told in read.history if isinstance(told, ToldAnswer)), ToldAnswer(parts=()))


def said_in(answer: ToldAnswer, kind: type[ToldThought] | type[ToldWords]) -> str:
    return "".join(part.text for part in answer.parts if isinstance(part, kind))


def words_of(gathered: Any) -> str:
    """Every text in it."""
    match gathered:
        case str():
            return gathered + "\n"
        case dict():
            return "".join(map(words_of, gathered.values()))
        case list():
            return "".join(map(words_of, gathered))
        case _:
            return ""


def as_gathered_by_openai(answer: dict[str, Any]) -> dict[str, Any]:
    """Without what a chunk has and a whole answer has not, and without what says nothing."""
    bare = {name: answer.get(name) for name in ("id", "created", "model", "usage")}
    (choice,) = answer["choices"]
    message = {name: value for name, value in choice["message"].items() if value is not None}
    if "tool_calls" in message:
        message["tool_calls"] = [without(call, "index") for call in message["tool_calls"]]
    return bare | {"finish": choice["finish_reason"], "message": message}


def without(row: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}
