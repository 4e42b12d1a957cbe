"""The official client of OpenAI, unchanged, at two of the doors, in front of each wire."""

from __future__ import annotations

import asyncio
import json
import time
from base64 import b64encode

import pytest

openai = pytest.importorskip("openai", reason="openai is not installed: its client does not knock")
from pydantic import BaseModel  # noqa: E402

from tests.support.patience import PATIENCE  # noqa: E402

from .ending import SOON, ended_after  # noqa: E402
from .scripts import PERSON, WIRES, model, one_request, thoughts_sent  # noqa: E402

PICTURE = "data:image/png;base64," + b64encode(b"a picture").decode()
WEATHER = {
    "name": "get_weather",
    "description": "The weather in a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}
CHAT_TOOL = {"type": "function", "function": WEATHER}
TOOL = {"type": "function", **WEATHER}
ANSWER = "It says: sunny in Zürich"
wires = pytest.mark.parametrize("wire", WIRES)


class Person(BaseModel):
    name: str
    age: int
    tags: list[str]


@pytest.fixture
def client(served, key):
    with openai.OpenAI(
        base_url=f"{served.url}v1",
        api_key=key(keeps_responses=True),
        max_retries=0,
        timeout=PATIENCE,
    ) as client:
        yield client


def sunny(call: str) -> str:
    return f"sunny in {json.loads(call)['city']}"


@wires
@pytest.mark.parametrize("streams", [True, False])
def test_chat_completions_with_parallel_calls(client, up, wire, streams):
    messages = [{"role": "user", "content": "Where is it warm?"}]
    asked = {"model": model(up, wire, "weather"), "tools": [CHAT_TOOL], "messages": messages}

    def ask():
        if not streams:
            return client.chat.completions.create(**asked)
        with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
            for _ in stream:
                pass
            return stream.get_final_completion()

    first = ask()
    assert first.choices[0].finish_reason == "tool_calls"
    called = first.choices[0].message.tool_calls
    assert [sunny(call.function.arguments) for call in called] == ["sunny in Rome", "sunny in Zürich"]
    messages.append(first.choices[0].message)
    messages += [
        {"role": "tool", "tool_call_id": call.id, "content": sunny(call.function.arguments)}
        for call in called
    ]
    second = ask()
    assert (second.choices[0].finish_reason, second.choices[0].message.content) == ("stop", ANSWER)
    assert second.usage.total_tokens > 0
    assert second.usage.completion_tokens_details.reasoning_tokens > 0
    assert thoughts_sent(up.requests()[-1]["body"]) == 1


@wires
def test_thoughts_are_told_while_they_come(client, up, wire):
    asked = {"model": model(up, wire, "weather"), "messages": [{"role": "user", "content": "Why?"}]}
    said = [
        getattr(chunk.choices[0].delta, "reasoning_content", None) or ""
        for chunk in client.chat.completions.create(**asked, stream=True)
    ]
    assert "".join(said).startswith("Plan about Why?")


@wires
def test_forms_are_asked_for_and_parsed(client, up, wire):
    name, question = model(up, wire, "person"), [{"role": "user", "content": "Who?"}]
    parsed = client.chat.completions.parse(model=name, messages=question, response_format=Person)
    assert parsed.choices[0].message.parsed == Person(**PERSON)
    body = one_request(up)["body"]
    assert "age" in json.dumps(body.get("response_format") or body.get("text") or body.get("output_config"))
    response = client.responses.parse(model=name, input="Who?", text_format=Person)
    assert response.output_parsed == Person(**PERSON)


# The third wire has no words for it.
@pytest.mark.parametrize("wire", ["responses", "chat"])
@pytest.mark.parametrize("streams", [True, False])
def test_a_refusal_is_one_and_goes_back_as_one(client, up, wire, streams):
    name, question = model(up, wire, "refusing"), {"role": "user", "content": "How?"}
    words = {"role": "user", "content": "And the weather?"}

    def complete(messages):
        if not streams:
            return client.chat.completions.create(model=name, messages=messages)
        with client.chat.completions.stream(model=name, messages=messages) as stream:
            return stream.get_final_completion()

    said = complete([question]).choices[0].message
    assert (said.refusal, said.content) == ("I will not.", None)
    assert complete([question, said, words]).choices[0].message.content == "Sunny."
    assert refusals_in(up.requests()[-1]["body"]) == ["I will not."]

    def respond(items):
        if not streams:
            return client.responses.create(model=name, input=items, store=False)
        with client.responses.stream(model=name, input=items, store=False) as stream:
            return stream.get_final_response()

    output = respond([question]).output
    (part,) = output[-1].content
    assert (part.type, part.refusal) == ("refusal", "I will not.")
    assert respond([question, *output, words]).output_text == "Sunny."
    assert refusals_in(up.requests()[-1]["body"]) == ["I will not."]


def refusals_in(body):
    """As they stand in what the provider was sent."""
    rows = body.get("input") or body["messages"]
    parts = [part for row in rows if isinstance(row.get("content"), list) for part in row["content"]]
    return [each["refusal"] for each in (*rows, *parts) if each.get("refusal")]


@wires
def test_operators_speak_before_and_in_between(client, up, wire):
    messages = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "One?"},
        {"role": "assistant", "content": "One."},
        {"role": "system", "content": "Be briefer."},
        {"role": "user", "content": "Two?"},
    ]
    for ask in (
        lambda name: client.chat.completions.create(model=name, messages=messages),
        lambda name: client.responses.create(model=name, input=messages, instructions="Be kind."),
    ):
        up.clear()
        ask(model(up, wire, "plain"))
        body = json.dumps(one_request(up)["body"])
        for said in ("Be brief.", "Be briefer.", "One.", "Two?"):
            assert said in body


@wires
def test_pictures_are_passed_on(client, up, wire):
    parts = [{"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {"url": PICTURE}}]
    name = model(up, wire, "plain")
    client.chat.completions.create(model=name, messages=[{"role": "user", "content": parts}])
    parts = [{"type": "input_text", "text": "What?"}, {"type": "input_image", "image_url": PICTURE}]
    client.responses.create(model=name, input=[{"role": "user", "content": parts}])
    for request in up.requests():
        assert b64encode(b"a picture").decode() in json.dumps(request["body"])


@wires
@pytest.mark.parametrize("streams", [True, False])
def test_responses_with_parallel_calls(client, up, wire, streams):
    history = [{"role": "user", "content": "Where is it warm?"}]
    asked = {"model": model(up, wire, "weather"), "tools": [TOOL], "store": False}

    def ask():
        if not streams:
            return client.responses.create(**asked, input=history)
        with client.responses.stream(**asked, input=history) as stream:
            for _ in stream:
                pass
            return stream.get_final_response()

    first = ask()
    called = [item for item in first.output if item.type == "function_call"]
    assert [sunny(call.arguments) for call in called] == ["sunny in Rome", "sunny in Zürich"]
    history += [item for item in first.output if item.type != "reasoning"]
    history += [
        {"type": "function_call_output", "call_id": call.call_id, "output": sunny(call.arguments)}
        for call in called
    ]
    second = ask()
    assert (second.status, second.output_text) == ("completed", ANSWER)
    assert second.usage.output_tokens_details.reasoning_tokens > 0
    assert thoughts_sent(up.requests()[-1]["body"]) == 1


@wires
def test_a_response_is_gone_on_from_by_its_id(client, up, wire):
    name = model(up, wire, "weather")
    first = client.responses.create(model=name, input="Where?", tools=[TOOL])
    results = [
        {"type": "function_call_output", "call_id": call.call_id, "output": sunny(call.arguments)}
        for call in first.output
        if call.type == "function_call"
    ]
    second = client.responses.create(model=name, input=results, tools=[TOOL], previous_response_id=first.id)
    assert second.output_text == ANSWER
    assert thoughts_sent(up.requests()[-1]["body"]) == 1
    assert client.responses.retrieve(first.id).output == first.output
    assert len(client.responses.input_items.list(second.id).data) == len(results)
    with pytest.raises(openai.BadRequestError):
        client.responses.cancel(second.id)
    client.responses.delete(first.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(first.id)
    with pytest.raises(openai.BadRequestError) as refused:
        client.responses.create(model=name, input="And?", previous_response_id=first.id)
    assert refused.value.code == "previous_response_not_found"


@wires
def test_a_conversation_is_compacted(client, up, wire):
    name = model(up, wire, "plain")
    history = [{"role": "user", "content": "One?"}, {"role": "assistant", "content": "One."}]
    compacted = client.responses.compact(model=name, input=history)
    # Its own types have no word for what a person said in an output.
    window = [item.model_dump(exclude_none=True, warnings=False) for item in compacted.output]
    again = client.responses.create(model=name, input=[*window, {"role": "user", "content": "And?"}])
    assert again.status == "completed"


def told(connection, kind: str):
    return next(event for event in connection if event.type == kind)


# The client calls a way of its own package that is no longer the proper one.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@wires
def test_a_socket_goes_on_from_what_nobody_keeps(client, up, wire):
    asked = {"model": model(up, wire, "weather"), "tools": [TOOL], "store": False}
    with client.responses.connect() as connection:
        connection.response.create(**asked, input="Where is it warm?")
        first = told(connection, "response.completed").response
        results = [
            {"type": "function_call_output", "call_id": call.call_id, "output": sunny(call.arguments)}
            for call in first.output
            if call.type == "function_call"
        ]
        connection.response.create(**asked, input=results, previous_response_id=first.id)
        second = told(connection, "response.completed").response
    assert second.output[-1].content[0].text == ANSWER
    assert thoughts_sent(up.requests()[-1]["body"]) == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@wires
def test_who_closes_a_socket_is_heard_by_the_provider_at_once(client, up, wire):
    with client.responses.connect() as connection:
        connection.response.create(model=model(up, wire, "slow"), input="Why?")
        told(connection, "response.reasoning_summary_text.delta")
        gone = time.time()
    assert ended_after(up, gone) < SOON


@wires
def test_an_answer_that_was_cut_says_so(client, up, wire):
    name = model(up, wire, "cut")
    chat = client.chat.completions.create(model=name, messages=[{"role": "user", "content": "Why?"}])
    assert chat.choices[0].finish_reason == "length"
    response = client.responses.create(model=name, input="Why?")
    assert (response.status, response.incomplete_details.reason) == ("incomplete", "max_output_tokens")


def ask_chat(client, name, **more):
    return client.chat.completions.create(model=name, messages=[{"role": "user", "content": "?"}], **more)


def ask_responses(client, name, **more):
    return client.responses.create(model=name, input="?", **more)


asks = pytest.mark.parametrize("ask", [ask_chat, ask_responses])


@wires
def test_a_provider_that_is_busy_is_so_in_its_own_words(client, up, wire):
    with pytest.raises(openai.RateLimitError) as busy:
        ask_chat(client, model(up, wire, "busy"))
    assert busy.value.response.headers["retry-after"]


@asks
@wires
def test_what_goes_wrong_at_a_provider_is_an_error_of_its_own_class(client, up, wire, ask):
    with pytest.raises(openai.InternalServerError):
        ask(client, model(up, wire, "http-401"))


@pytest.mark.whole
@asks
@wires
def test_what_goes_wrong_in_the_middle_is_told_in_the_stream(client, up, wire, ask):
    try:
        events = list(ask(client, model(up, wire, "error-midstream"), stream=True))
    except openai.APIError:
        assert ask is ask_chat
    else:
        assert events[-1].type == "response.failed"
        assert events[-1].response.error.message


@asks
def test_what_is_wrong_with_a_request_is_an_error_of_its_own_class(client, served, up, ask):
    with pytest.raises(openai.NotFoundError) as unknown:
        ask(client, "no-such-model")
    assert unknown.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as wrong:
        ask(client, "demo:thinker", temperature=7)
    assert wrong.value.param == "temperature"
    with pytest.raises(openai.AuthenticationError):
        ask(client.with_options(api_key="tl_wrong"), "demo:thinker")


@asks
@wires
def test_who_hangs_up_is_heard_by_the_provider_at_once(client, up, wire, ask):
    stream = ask(client, model(up, wire, "slow"), stream=True)
    for _ in range(4):
        next(iter(stream))
    gone = time.time()
    stream.close()
    assert ended_after(up, gone) < SOON


@asks
@wires
def test_who_waits_no_longer_is_heard_too(client, up, wire, ask):
    with pytest.raises(openai.APITimeoutError):
        ask(client.with_options(timeout=1.5), model(up, wire, "slow"))
    gone = time.time()
    assert ended_after(up, gone) < SOON


def test_models_are_listed_and_shown(client):
    names = {each.id for each in client.models.list()}
    assert {"demo:thinker", "thinker"} <= names
    assert client.models.retrieve("demo:thinker").id == "demo:thinker"


@asks
@wires
def test_many_at_once(client, served, up, wire, ask):
    name = model(up, wire, "one-reasoning")

    async def story():
        async with openai.AsyncOpenAI(base_url=client.base_url, api_key=client.api_key) as many:
            return await asyncio.gather(*(ask(many, name) for _ in range(4)))

    assert len(asyncio.run(story())) == 4


def test_tokens_are_counted_with_the_history_that_a_request_goes_on_from(client, up):
    count = client.responses.input_tokens.count
    alone = count(model="demo:thinker", input="How many words are these?")
    assert alone.object == "response.input_tokens" and alone.input_tokens > 0
    with_tool = count(model="demo:thinker", input="How many words are these?", tools=[TOOL])
    assert with_tool.input_tokens > alone.input_tokens
    assert count(model="demo:thinker", instructions="Be brief.").input_tokens > 0
    made = client.responses.create(model="demo:thinker", input="Why is the sky blue? " * 100, store=True)
    after = count(
        model="demo:thinker", input="How many words are these?", previous_response_id=made.id
    ).input_tokens
    assert after > alone.input_tokens + 400
    with pytest.raises(openai.BadRequestError) as wrong:
        count(model="demo:thinker", input="And?", previous_response_id="resp_" + "0" * 26)
    assert wrong.value.code == "previous_response_not_found"
    assert up.requests() == []
