"""The page that tells machines what the doors take and give is true: of its addresses, of what is read, of what is answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

import pytest

jsonschema = pytest.importorskip("jsonschema")
pytest.importorskip("hypothesis", reason="hypothesis is not installed: the laws of the page are not tested")

from django.contrib.auth.models import User  # noqa: E402
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from chatapp.gateway.described.page import PAGE  # noqa: E402
from chatapp.gateway.doors import chat, messages, responses  # noqa: E402
from chatapp.gateway.doors.door import Door, Wrong  # noqa: E402
from chatapp.gateway.doors.responses.compacting import read_compacting  # noqa: E402
from chatapp.gateway.doors.responses.reading import read_counted  # noqa: E402
from chatapp.gateway.served.routes import ROUTES  # noqa: E402
from tests.providers.fuzz import places  # noqa: E402
from tests.support.stage import play  # noqa: E402

from .doors.bodies import CHAT, MESSAGES  # noqa: E402
from .doors.responses.stories import ASKED  # noqa: E402
from .doors.test_reading_laws import ANYTHING, NONSENSE, with_at  # noqa: E402
from .knocking import (  # noqa: E402
    ASKING,
    RESPONSES,
    THINKER,
    Json,
    Knock,
    asking,
    encoded,
    frames,
    key_of,
    knock,
    open_house,
)

RESPONSES_BODY: Json = {
    **ASKED,
    "model": "m",
    "stream": True,
    "store": False,
    "truncation": "auto",
    "user": "u",
    "background": False,
    "generate": True,
    "parallel_tool_calls": True,
    "top_p": 0.5,
    "max_tool_calls": 3,
    "top_logprobs": 2,
    "presence_penalty": 0.5,
    "frequency_penalty": -0.5,
    "safety_identifier": "s",
    "prompt_cache_key": "p",
    "service_tier": "auto",
    "stream_options": {"include_obfuscation": False},
    "reasoning": {"effort": "none", "summary": "auto"},
    "input": [
        {"role": "user", "content": "Why?"},
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": "{}", "id": None},
        {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}]},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"id": "msg_9"},
    ],
}
TAKEN: Mapping[str, tuple[Any, Json]] = {
    "ChatRequest": (chat.DOOR.read, CHAT),
    "MessageRequest": (messages.DOOR.read, MESSAGES),
    "CountRequest": (messages.DOOR.read, MESSAGES),
    "ResponseRequest": (responses.DOOR.read, RESPONSES_BODY),
    "CompactRequest": (read_compacting, RESPONSES_BODY),
    "CountInputRequest": (read_counted, RESPONSES_BODY),
}
each_body = pytest.mark.parametrize("name", TAKEN)


def judge(schema: Json) -> Any:
    return jsonschema.Draft202012Validator(schema | {"components": PAGE["components"]})


JUDGES = {name: judge({"$ref": f"#/components/schemas/{name}"}) for name in PAGE["components"]["schemas"]}


def inner(value: Any) -> Iterator[Json]:
    """Every object inside."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        yield from inner(each)


def test_it_has_every_address_and_no_other() -> None:
    told = {(path, method.upper()) for path, ways in PAGE["paths"].items() for method in ways}
    assert told == {(path, method) for path, ways in ROUTES.items() for method in ways}


def test_everything_that_it_names_is_there_and_used() -> None:
    named = {each["$ref"].rpartition("/")[2] for each in inner(PAGE) if "$ref" in each}
    assert named == set(PAGE["components"]["schemas"])
    names = [operation["operationId"] for ways in PAGE["paths"].values() for operation in ways.values()]
    assert len(names) == len(set(names))
    for schema in PAGE["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_its_examples_are_taken() -> None:
    for ways in PAGE["paths"].values():
        for operation in ways.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                judge(content["schema"]).validate(content["example"])


@each_body
def test_what_a_door_reads_is_what_the_page_says(name: str) -> None:
    read, body = TAKEN[name]
    read(body, {})
    JUDGES[name].validate(body)
    for place in range(len(list(places(body)))):
        for nonsense in NONSENSE:
            assert_as_told(name, with_at(body, place, nonsense))


@each_body
@given(data=st.data())
def test_what_a_door_reads_is_what_the_page_says_whatever_it_is(name: str, data: st.DataObject) -> None:
    body = deepcopy(TAKEN[name][1])
    for _ in range(data.draw(st.integers(1, 3))):
        body = with_at(body, data.draw(st.integers(0, 10**4)), data.draw(ANYTHING))
    assert_as_told(name, body)


def assert_as_told(name: str, body: Any) -> None:
    """The page may be milder than the door, never stricter."""
    read, _ = TAKEN[name]
    try:
        read(deepcopy(body), {})
    except Wrong:
        return
    found = next(JUDGES[name].iter_errors(body), None)
    assert found is None, (list(found.absolute_path), found.message[:500])


def schema_of(path: str, method: str, answer: Knock) -> Json:
    operation = PAGE["paths"][path][method.lower()]
    kind = answer.header("content-type").partition(";")[0]
    schema: Json = operation["responses"][str(answer.status)]["content"][kind]["schema"]
    return schema


def assert_tells(path: str, method: str, answer: Knock) -> Any:
    body = answer.json()
    judge(schema_of(path, method, answer)).validate(body)
    return body


@pytest.mark.django_db(transaction=True)
def test_answers_are_what_the_page_says(alice: User) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, keeps_responses=True)

            async def come(path: str, method: str = "POST", id: str = "", **more: Any) -> Any:
                body = asking(path) if method == "POST" else b""
                answer = await knock(method, path.replace("{id}", id), body, key=secret, **more)
                return assert_tells(path, method, answer)

            made = await come(RESPONSES)
            await come("/v1/responses/{id}", "GET", made["id"])
            await come("/v1/responses/{id}/input_items", "GET", made["id"])
            await come("/v1/responses/{id}/cancel", "POST", made["id"])
            await come("/v1/responses/{id}", "DELETE", made["id"])
            await come("/v1/responses/{id}", "GET", made["id"])
            await come("/v1/responses/compact")
            await come("/v1/responses/input_tokens")
            await come("/v1/chat/completions")
            await come("/v1/messages")
            await come("/v1/messages/count_tokens")
            for headers in ({}, {"anthropic-version": "2023-06-01"}):
                await come("/v1/models", "GET", headers=headers)
                await come("/v1/models/{id}", "GET", THINKER, headers=headers)
                await come("/v1/models/{id}", "GET", "none", headers=headers)
            assert await come("/v1/openapi.json", "GET") == PAGE

    play(story())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ASKING)
def test_every_frame_of_a_stream_is_what_the_page_says(alice: User, path: str) -> None:
    tool = {"name": "get_weather", "description": "The weather.", "parameters": {"type": "object"}}
    tools: list[Json] = {
        RESPONSES: [{"type": "function", **tool}],
        "/v1/messages": [{"name": "get_weather", "input_schema": {"type": "object"}}],
    }.get(path, [{"type": "function", "function": tool}])

    async def story() -> None:
        async with open_house():
            body = asking(path, words="What is the weather in Rome?", stream=True, tools=tools)
            answer = await knock("POST", path, body, key=await key_of(alice))
            operation = PAGE["paths"][path]["post"]["responses"]["200"]["content"]["text/event-stream"]
            judging = judge(operation["x-event"])
            told = [data for _, data in frames(answer.text) if data != "[DONE]"]
            assert len(told) > 3
            for data in told:
                judging.validate(data)

    play(story())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", [path for path, ways in ROUTES.items() if "POST" in ways])
def test_errors_are_what_the_page_says(alice: User, path: str) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice)
            place = path.replace("{id}", "none")
            for body, key in ((b"{", secret), ({}, secret), (asking(path, "nobody:gone"), secret), ({}, "")):
                answer = await knock("POST", place, encoded(body), key=key)
                if answer.status != 200:
                    assert_tells(path, "POST", answer)

    play(story())


def test_every_door_has_its_own_errors() -> None:
    doors: dict[Door, str] = {chat.DOOR: "Error", responses.DOOR: "Error", messages.DOOR: "MessageError"}
    for path, ways in PAGE["paths"].items():
        for method, operation in ways.items():
            door, _ = ROUTES[path][method.upper()]
            wrong = operation["responses"].get("404", {}).get("content", {}).get("application/json")
            if wrong and not path.startswith("/v1/models"):
                assert wrong["schema"]["$ref"].endswith(f"/{doors[door]}"), path
