"""The official client and the published models of the protocol are the referees: whatever is written here is valid for both."""

from __future__ import annotations

import json

import pytest

from chatapp.core.events import Finish
from chatapp.gateway.doors.door import LIMITED, Wrong
from chatapp.gateway.doors.handed import Handed

from . import said
from .stories import ANSWERS, ASKED, ENDS

BROKEN = Wrong(429, LIMITED, "Too much at once.")
# The published models were made by a tool that knows no schema in a schema.
WITHOUT_SCHEMA = ASKED | {"text": {"format": {"type": "json_object"}}}
# What the client adds for those who gave it types of their own.
ITS_OWN = ("parsed", "parsed_arguments")


def story(answer, end, **body):
    fail = BROKEN if end is None else None
    return said.written(ANSWERS[answer], finish=end or Finish.STOP, fail=fail, **body)


@pytest.fixture(scope="module")
def openai_events():
    pytest.importorskip("openai", reason="openai is not installed: the official client judges nothing")
    from openai.types.responses import Response, ResponseStreamEvent
    from pydantic import TypeAdapter

    return TypeAdapter(ResponseStreamEvent), TypeAdapter(Response)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("body", [{}, ASKED])
def test_every_event_is_valid_for_the_official_client(openai_events, answer, end, body):
    event, response = openai_events
    frames, whole = story(answer, end, **body)
    for frame in frames:
        event.validate_python(frame.data, strict=True)
    response.validate_python(whole, strict=True)


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("end", ENDS)
def test_what_the_official_client_accumulates_is_the_whole_response(openai_events, answer, end):
    from openai import omit
    from openai.lib.streaming.responses._responses import ResponseStreamState

    frames, whole = story(answer, end)
    state = ResponseStreamState(input_tools=omit, text_format=omit)
    heard = [out for frame in frames for out in state.handle_event(_event(openai_events, frame))]
    assert _without_its_own(heard[-1].response.to_dict(mode="json")["output"]) == whole["output"]


def _event(openai_events, frame):
    return openai_events[0].validate_python(json.loads(json.dumps(frame.data)))


def _without_its_own(value):
    if isinstance(value, list):
        return [_without_its_own(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {name: _without_its_own(each) for name, each in value.items() if name not in ITS_OWN}


PUBLISHED = {
    "response.created": "ResponseCreatedStreamingEvent",
    "response.in_progress": "ResponseInProgressStreamingEvent",
    "response.completed": "ResponseCompletedStreamingEvent",
    "response.failed": "ResponseFailedStreamingEvent",
    "response.incomplete": "ResponseIncompleteStreamingEvent",
    "response.output_item.added": "ResponseOutputItemAddedStreamingEvent",
    "response.output_item.done": "ResponseOutputItemDoneStreamingEvent",
    "response.content_part.added": "ResponseContentPartAddedStreamingEvent",
    "response.content_part.done": "ResponseContentPartDoneStreamingEvent",
    "response.output_text.delta": "ResponseOutputTextDeltaStreamingEvent",
    "response.output_text.done": "ResponseOutputTextDoneStreamingEvent",
    "response.refusal.delta": "ResponseRefusalDeltaStreamingEvent",
    "response.refusal.done": "ResponseRefusalDoneStreamingEvent",
    "response.function_call_arguments.delta": "ResponseFunctionCallArgumentsDeltaStreamingEvent",
    "response.function_call_arguments.done": "ResponseFunctionCallArgumentsDoneStreamingEvent",
    "response.reasoning_summary_part.added": "ResponseReasoningSummaryPartAddedStreamingEvent",
    "response.reasoning_summary_part.done": "ResponseReasoningSummaryPartDoneStreamingEvent",
    "response.reasoning_summary_text.delta": "ResponseReasoningSummaryDeltaStreamingEvent",
    "response.reasoning_summary_text.done": "ResponseReasoningSummaryDoneStreamingEvent",
}


@pytest.fixture(scope="module")
def published():
    return pytest.importorskip(
        "openresponses_types",
        reason="openresponses-types is not installed: the published models judge nothing",
    )


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("body", [{}, WITHOUT_SCHEMA])
def test_every_event_is_valid_for_the_published_models(published, answer, end, body):
    frames, whole = story(answer, end, **body)
    for frame in frames:
        getattr(published, PUBLISHED[frame.event]).model_validate(frame.data)
    published.ResponseResource.model_validate(whole)


def test_the_socket_s_errors_are_valid_for_the_published_models(published):
    from chatapp.gateway.doors.responses.errors import on_socket, unknown_previous

    published.WebSocketErrorEvent.model_validate(on_socket(unknown_previous("resp_1")))
    published.WebSocketErrorEvent.model_validate(on_socket(BROKEN))


def test_a_compacted_window_is_valid_for_the_published_models(published):
    from chatapp.gateway.doors.responses.compacting import compaction

    whole = compaction(said.read(), [], "All was said.", said.USED, Handed(secret=said.SECRET), said.AT)
    published.CompactResource.model_validate(whole)
