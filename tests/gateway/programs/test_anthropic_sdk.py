"""The official client of Anthropic, unchanged, at its door, in front of each wire."""

from __future__ import annotations

import json
import time
from base64 import b64encode

import pytest

anthropic = pytest.importorskip("anthropic", reason="anthropic is not installed: its client does not knock")
from pydantic import BaseModel  # noqa: E402

from tests.support.patience import PATIENCE  # noqa: E402

from .ending import SOON, ended_after  # noqa: E402
from .scripts import PERSON, WIRES, model, one_request, thoughts_sent  # noqa: E402

PICTURE = b64encode(b"a picture").decode()
TOOL = {
    "name": "get_weather",
    "description": "The weather in a city.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
ANSWER = "It says: sunny in Zürich"
wires = pytest.mark.parametrize("wire", WIRES)


class Person(BaseModel):
    name: str
    age: int
    tags: list[str]


@pytest.fixture
def client(served, key):
    with anthropic.Anthropic(base_url=served.url, api_key=key(), max_retries=0, timeout=PATIENCE) as client:
        yield client


def asked(name: str, said: str = "?", **more):
    return {"model": name, "max_tokens": 9000, "messages": [{"role": "user", "content": said}], **more}


@wires
@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("keeps", [True, False])
def test_parallel_calls(client, up, wire, streams, keeps):
    body = asked(model(up, wire, "weather"), "Where is it warm?", tools=[TOOL])

    def ask():
        if not streams:
            return client.messages.create(**body)
        with client.messages.stream(**body) as stream:
            for _ in stream:
                pass
            return stream.get_final_message()

    first = ask()
    assert first.stop_reason == "tool_use"
    called = [block for block in first.content if block.type == "tool_use"]
    assert [call.input for call in called] == [{"city": "Rome"}, {"city": "Zürich"}]
    said = [block for block in first.content if keeps or block.type == "tool_use"]
    results = [
        {"type": "tool_result", "tool_use_id": call.id, "content": f"sunny in {call.input['city']}"}
        for call in called
    ]
    body["messages"] += [{"role": "assistant", "content": said}, {"role": "user", "content": results}]
    second = ask()
    assert (second.stop_reason, second.content[-1].text) == ("end_turn", ANSWER)
    assert second.usage.output_tokens > 0
    assert thoughts_sent(up.requests()[-1]["body"]) == 1


@wires
def test_words_and_thoughts_come_one_after_the_other(client, up, wire):
    with client.messages.stream(**asked(model(up, wire, "one-reasoning"))) as stream:
        kinds = [event.type for event in stream if event.type in ("thinking", "signature", "text")]
    assert list(dict.fromkeys(kinds)) == ["thinking", "signature", "text"]


@wires
@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("is_recorded", [True, False])
def test_thoughts_that_it_wants_omitted_go_back_whole(served, key, up, wire, streams, is_recorded):
    body = asked(model(up, wire, "weather"), "Where is it warm?", tools=[TOOL])
    body["thinking"] = {"type": "adaptive", "display": "omitted"}
    with anthropic.Anthropic(
        base_url=served.url, api_key=key(is_recorded=is_recorded), max_retries=0, timeout=PATIENCE
    ) as client:

        def ask():
            if not streams:
                return client.messages.create(**body).content
            with client.messages.stream(**body) as stream:
                assert "thinking" not in {event.type for event in stream}
                return stream.get_final_message().content

        first = ask()
        assert (first[0].type, first[0].thinking) == ("thinking", "") and first[0].signature
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": f"sunny in {block.input['city']}"}
            for block in first[1:]
        ]
        body["messages"] += [{"role": "assistant", "content": first}, {"role": "user", "content": results}]
        assert ask()[-1].text == ANSWER
    requests = up.requests()
    assert [request["status"] for request in requests] == [200, 200]
    assert thoughts_sent(requests[1]["body"]) == 1
    if wire == "messages":
        display = requests[0]["body"]["thinking"]["display"]
        assert display == ("summarized" if is_recorded else "omitted")


@wires
def test_its_tool_runner_runs_to_the_end(client, up, wire):
    """It would have its history kept here, and is told that it is not."""

    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """The weather in a city."""
        return f"sunny in {city}"

    body = asked(model(up, wire, "weather"), "Where is it warm?")
    last = client.beta.messages.tool_runner(**body, tools=[get_weather]).until_done()
    assert last.content[-1].text == ANSWER
    assert [request["status"] for request in up.requests()] == [200, 200]
    with pytest.raises(anthropic.BadRequestError) as refused:
        client.beta.messages.create(**body, thread={"type": "create"})
    assert refused.value.body["error"]["details"]["error_code"] == "thread_unsupported_request"
    assert thoughts_sent(up.requests()[-1]["body"]) == 1


@wires
def test_forms_are_asked_for_and_parsed(client, up, wire):
    parsed = client.messages.parse(**asked(model(up, wire, "person"), "Who?"), output_format=Person)
    assert parsed.parsed_output == Person(**PERSON)
    body = one_request(up)["body"]
    assert "age" in json.dumps(body.get("response_format") or body.get("text") or body.get("output_config"))


@wires
def test_operators_speak_before_and_in_between(client, up, wire):
    messages = [
        {"role": "user", "content": "One?"},
        {"role": "assistant", "content": "One."},
        {"role": "user", "content": "Two?"},
        {"role": "system", "content": "Be briefer."},
    ]
    client.messages.create(
        model=model(up, wire, "plain"), max_tokens=100, system="Be brief.", messages=messages
    )
    body = json.dumps(one_request(up)["body"])
    for said in ("Be brief.", "Be briefer.", "One.", "Two?"):
        assert said in body


@wires
def test_pictures_are_passed_on(client, up, wire):
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    content = [{"type": "text", "text": "What?"}, {"type": "image", "source": source}]
    client.messages.create(**asked(model(up, wire, "plain"), content))
    assert PICTURE in json.dumps(one_request(up)["body"])


@wires
def test_an_answer_that_was_cut_says_so(client, up, wire):
    assert client.messages.create(**asked(model(up, wire, "cut"))).stop_reason == "max_tokens"


@wires
def test_what_goes_wrong_at_a_provider_is_an_error_of_its_own_class(client, up, wire):
    with pytest.raises(anthropic.RateLimitError) as busy:
        client.messages.create(**asked(model(up, wire, "busy")))
    assert busy.value.response.headers["retry-after"]
    with pytest.raises(anthropic.InternalServerError):
        client.messages.create(**asked(model(up, wire, "http-401")))


@pytest.mark.whole
@wires
def test_what_goes_wrong_in_the_middle_is_told_in_the_stream(client, up, wire):
    with (
        pytest.raises(anthropic.APIStatusError),
        client.messages.stream(**asked(model(up, wire, "error-midstream"))) as stream,
    ):
        stream.until_done()


def test_what_is_wrong_with_a_request_is_an_error_of_its_own_class(client, up):
    with pytest.raises(anthropic.NotFoundError):
        client.messages.create(**asked("no-such-model"))
    with pytest.raises(anthropic.BadRequestError) as wrong:
        client.messages.create(**asked("demo:thinker", system=7))
    assert "system" in str(wrong.value)
    with pytest.raises(anthropic.AuthenticationError):
        client.with_options(api_key="tl_wrong").messages.create(**asked("demo:thinker"))


@wires
def test_who_hangs_up_is_heard_by_the_provider_at_once(client, up, wire):
    with client.messages.stream(**asked(model(up, wire, "slow"))) as stream:
        events = iter(stream)
        for _ in range(4):
            next(events)
        gone = time.time()
    assert ended_after(up, gone) < SOON


@wires
def test_tokens_are_counted(client, up, wire):
    body = asked(model(up, wire, "weather"), "How many words are these?")
    del body["max_tokens"]
    few = client.messages.count_tokens(**body).input_tokens
    assert 0 < few < client.messages.count_tokens(**body, tools=[TOOL]).input_tokens
    assert up.requests() == []


def test_models_are_listed_and_shown(client):
    names = {each.id for each in client.models.list()}
    assert "demo:thinker" in names
    assert client.models.retrieve("demo:thinker").id == "demo:thinker"
