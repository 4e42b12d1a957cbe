"""Servers as they really are, each refusing what it really refuses: their thoughts are seen, timed, and go back as they want them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from chatapp.core.items import Item, Kind
from chatapp.providers import WIRES
from chatapp.providers.base import Endpoint
from chatapp.providers.configured import Catalog
from chatapp.store.models import Status
from tests.support.providers import StandIn, at_once, get_weather, tool
from tests.support.serving import EVENT_STREAM, Peer, answer, serving, stream
from tests.support.stage import Stage, play, stage

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

Body = dict[str, Any]
Frames = list[bytes]
# Why a request is refused, or nothing.
Rule = Callable[[Body], str]
TOOLS = {"get_weather": tool(get_weather, safe=True, idempotent=True)}
SEAL = {"type": "reasoning.encrypted", "data": "c2VhbA==", "format": "google-gemini-v1", "index": 1}


def frame(**said: Any) -> bytes:
    return b"data: " + json.dumps(said, ensure_ascii=False).encode() + b"\n\n"


def event(kind: str, **said: Any) -> bytes:
    return b"event: %s\n" % kind.encode() + frame(type=kind, **said)


def delta(**said: Any) -> bytes:
    return frame(choices=[{"index": 0, "delta": said, "finish_reason": None}])


def chat(*deltas: Body, finish: str = "stop") -> Frames:
    end = frame(choices=[{"index": 0, "delta": {}, "finish_reason": finish}])
    return [*(delta(**said) for said in deltas), end, b"data: [DONE]\n\n"]


def content(text: str, size: int = 3) -> list[Body]:
    return [{"content": text[at : at + size]} for at in range(0, len(text), size)]


def called(name: str = "get_weather", call_id: str = "call_1", arguments: str = '{"city": "Rome"}') -> Body:
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"index": 0, "id": call_id, "type": "function", "function": function}]}


def messages(*blocks: tuple[Body, Body]) -> Frames:
    """An answer of the Messages API: each block as it starts, and what it grows by."""
    frames = [event("message_start", message={"content": [], "usage": {}})]
    for index, (start, grows) in enumerate(blocks):
        frames += [
            event("content_block_start", index=index, content_block=start),
            event("content_block_delta", index=index, delta=grows),
            event("content_block_stop", index=index),
        ]
    end = event("message_delta", delta={"stop_reason": "end_turn"}, usage={})
    return [*frames, end, event("message_stop")]


def responses(*items: Body, end: str = "completed") -> Frames:
    frames = []
    for index, item in enumerate(items):
        frames += [
            event("response.output_item.added", output_index=index, item=item | {"content": []}),
            event("response.output_item.done", output_index=index, item=item),
        ]
    return [*frames, event(f"response.{end}", response={"status": end, "output": list(items)})]


def said_in(words: str, **more: Any) -> Body:
    part = {"type": "output_text", "text": words, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": [part], **more}


@dataclass
class Strict:
    """A server that answers with one script for each accepted request, and refuses what its rule speaks against."""

    rule: Rule
    answers: list[Frames]
    host: str = "http://10.0.0.7:8000/v1"
    dialect: str = "chat"
    model: str = "some-model"


@dataclass
class Story:
    on: Stage
    bodies: list[Body]
    refusals: list[str]

    @property
    def last(self) -> list[Body]:
        body = self.bodies[-1]
        return body.get("messages") or body["input"]

    async def thoughts(self, row: Any) -> list[Item]:
        """Each of which was timed."""
        thoughts = [item for item in await self.on.items(row.id) if item.kind is Kind.REASONING]
        assert set(row.metadata.get("reasoning_durations_ms", {})) == {item.key for item in thoughts}
        return thoughts


@asynccontextmanager
async def told(strict: Strict, folder: Any) -> AsyncIterator[Story]:
    bodies: list[Body] = []
    refusals: list[str] = []
    waiting = list(strict.answers)

    async def script(peer: Peer) -> None:
        body = json.loads(server.asked[-1].body)
        bodies.append(body)
        if problem := strict.rule(body):
            refusals.append(problem)
            error = {"error": {"message": problem, "type": "invalid_request_error"}}
            await answer(400, json.dumps(error).encode())(peer)
        else:
            await stream(*waiting.pop(0), headers=EVENT_STREAM)(peer)

    class Here(StandIn):
        @property
        def known(self) -> Endpoint:
            return Endpoint(name="compatible", dialect=strict.dialect, base_url=strict.host)

    async with serving(*[script] * 30) as server:
        base = server.url.removesuffix("/v1") if strict.dialect == "messages" else server.url
        endpoint = Endpoint(name="compatible", dialect=strict.dialect, base_url=base, key="sk-test")
        catalog = Catalog([endpoint], make=lambda it: Here(it, WIRES[it.dialect], sleep=at_once))
        async with stage(catalog, folder, model=f"compatible:{strict.model}", tools=TOOLS) as on:
            yield Story(on, bodies, refusals)


def no_field(*names: str) -> Rule:
    """As pydantic models with extra fields forbidden say it."""

    def rule(body: Body) -> str:
        found = [
            (at, name)
            for at, said in enumerate(body["messages"])
            for name in names
            if said.get(name) is not None
        ]
        return "".join(f"body.messages.{at}.{name}: Extra inputs are not permitted" for at, name in found[:1])

    return rule


def anything(body: Body) -> str:
    return ""


DETAILS = ("reasoning_content", "reasoning", "reasoning_details")
LAST = chat(*content("So it is."))
CHAT: dict[str, tuple[Strict, Body]] = {
    "LM Studio, tags": (
        Strict(no_field(*DETAILS), [chat(*content("<think>\nWell.\n</think>\n\nFair."))]),
        {"content": "<think>\nWell.\n</think>\n\nFair."},
    ),
    "MiniMax without a split": (
        Strict(no_field(*DETAILS), [chat(*content("<think>Well.\n</think>Fair.", 1))], model="MiniMaxAI/MiniMax-M2.5"),
        {"content": "<think>Well.\n</think>Fair."},
    ),
    "MiniMax": (
        Strict(
            lambda body: "" if body.get("reasoning_split") else "reasoning_split is missing",
            [chat({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "Well."}]}, *content("Fair."))],
            host="https://api.minimax.io/v1",
            model="MiniMax-M3",
        ),
        {"content": "Fair.", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "Well."}]},
    ),
    "Gemini": (
        Strict(
            no_field(*DETAILS),
            [chat(*content("<thought>Well.</thought>Fair.", 4))],
            host="https://generativelanguage.googleapis.com/v1beta/openai",
            model="gemini-3-pro",
        ),
        {"content": "<thought>Well.</thought>Fair."},
    ),
    "Qwen behind vLLM": (
        Strict(no_field("reasoning_content"), [chat({"reasoning": "Well."}, *content("Fair."))], model="Qwen/Qwen3.6-35B"),
        {"content": "Fair.", "reasoning": "Well."},
    ),
    "Kimi on Together": (
        Strict(
            no_field("reasoning_content"),
            [chat({"reasoning": "Well."}, *content("Fair."))],
            host="https://api.together.xyz/v1",
            model="moonshotai/Kimi-K2-Thinking",
        ),
        {"content": "Fair.", "reasoning": "Well."},
    ),
    "Ollama": (
        Strict(
            no_field("reasoning_content"),
            [chat({"reasoning": "Well."}, *content("Fair."))],
            host="http://localhost:11434/v1",
            model="deepseek-r1:7b",
        ),
        {"content": "Fair.", "reasoning": "Well."},
    ),
    "Cerebras": (
        Strict(
            no_field(*DETAILS),
            [chat({"reasoning": "Well."}, *content("Fair."))],
            host="https://api.cerebras.ai/v1",
            model="zai-glm-4.7",
        ),
        {"content": "<think>Well.</think>Fair."},
    ),
    "Fireworks": (
        Strict(
            lambda body: "" if body.get("reasoning_history") == "preserved" else "earlier thoughts are left out",
            [chat({"reasoning_content": "Well."}, *content("Fair."))],
            host="https://api.fireworks.ai/inference/v1",
            model="accounts/fireworks/models/glm-5",
        ),
        {"content": "Fair.", "reasoning_content": "Well."},
    ),
    "Mistral": (
        Strict(
            no_field(*DETAILS),
            [
                chat(
                    {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "We"}]}]},
                    {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "ll."}], "closed": True}]},
                    *content("Fair."),
                )
            ],
            host="https://api.mistral.ai/v1",
            model="mistral-large-4-0",
        ),
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "Well."}], "closed": True},
                {"type": "text", "text": "Fair."},
            ]
        },
    ),
    "OpenRouter": (
        Strict(
            anything,
            [
                chat(
                    {"reasoning": "Well.", "reasoning_details": [{"type": "reasoning.text", "text": "Well.", "index": 0}]},
                    {"content": "Fa"},
                    {"content": "", "reasoning_details": [SEAL]},
                    {"content": "ir."},
                )
            ],
            host="https://openrouter.ai/api/v1",
            model="google/gemini-3-pro",
        ),
        {
            "content": "Fair.",
            "reasoning_details": [{"type": "reasoning.text", "text": "Well.", "index": 0}, SEAL],
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("who", CHAT)
def test_a_thought_goes_back_where_it_came_and_nothing_is_refused(tmp_path, who: str):
    strict, wanted = CHAT[who]
    strict.answers[1:] = [LAST]

    async def story():
        async with told(strict, tmp_path) as here:
            first = await here.on.ask("Why?")
            (thought,) = await here.thoughts(first)
            assert (thought.text.strip(), await here.on.said(first.id)) == ("Well.", "Fair.")
            second = await here.on.ask("Sure?", at=first.id)
            assert ([row.status for row in (first, second)], here.refusals) == ([Status.COMPLETE] * 2, [])
            (back,) = [said for said in here.last if said["role"] == "assistant"]
            assert back == {"role": "assistant"} | wanted
            assert second.metadata["rounds"][0]["replayed"] == 1

    play(story())


def test_an_open_responses_server_gets_its_plain_thoughts_back(tmp_path):
    """llama.cpp and vLLM seal nothing."""
    part = {"type": "reasoning_text", "text": "Well."}
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "content": [part], "encrypted_content": ""}
    strict = Strict(
        anything, [responses(thought, said_in("Fair."))] * 2, dialect="responses", model="gpt-oss-20b"
    )

    async def story():
        async with told(strict, tmp_path) as here:
            first = await here.on.ask("Why?")
            assert [item.text for item in await here.thoughts(first)] == ["Well."]
            second = await here.on.ask("Sure?", at=first.id)
            assert second.metadata["rounds"][0]["replayed"] == 1
            assert [said["content"] for said in here.last if said.get("type") == "reasoning"] == [[part]]

    play(story())


UNSIGNED = (
    {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "thinking_delta", "thinking": "Well."},
)
FAIR = ({"type": "text", "text": ""}, {"type": "text_delta", "text": "Fair."})


@pytest.mark.parametrize("host", ["http://10.0.0.7:8080", "https://api.anthropic.com"])
def test_an_unsigned_thought_goes_back_to_the_open_server_that_made_it_and_never_to_anthropic(
    tmp_path, host: str
):
    strict = Strict(anything, [messages(UNSIGNED, FAIR)] * 2, host=host, dialect="messages", model="qwen3.6")
    known = "anthropic" in host

    async def story():
        async with told(strict, tmp_path) as here:
            first = await here.on.ask("Why?")
            (thought,) = await here.thoughts(first)
            assert (thought.text, thought.cut) == ("Well.", False)
            second = await here.on.ask("Sure?", at=first.id)
            blocks = [block for said in here.last for block in said["content"] if block["type"] == "thinking"]
            unsigned = {"type": "thinking", "thinking": "Well.", "signature": ""}
            assert blocks == ([] if known else [unsigned])
            facts = second.metadata["rounds"][0]
            assert (facts["replayed"], facts["dropped"]) == ((0, {"forbidden": 1}) if known else (1, {}))

    play(story())


def alternating(body: Body) -> str:
    """As the templates of Mistral and Gemma say it, from then on, for ever."""
    said = [each["role"] for each in body.get("messages") or body["input"] if each.get("role")]
    twice = any(one == after == "user" for one, after in pairwise(said))
    return "Conversation roles must alternate user/assistant/user/assistant/..." if twice else ""


ENDS = {
    "chat": LAST,
    "responses": responses(said_in("So it is.")),
    "messages": messages(FAIR),
}


@pytest.mark.parametrize("dialect", ENDS)
def test_after_answers_that_failed_before_a_word_no_two_questions_stand_in_a_row(tmp_path, dialect: str):
    empty = {"chat": chat(), "responses": responses(), "messages": messages()}[dialect]
    strict = Strict(alternating, [empty, empty, ENDS[dialect], ENDS[dialect]], dialect=dialect)

    async def story():
        async with told(strict, tmp_path) as here:
            first = await here.on.ask("One?")
            second = await here.on.ask("Two?", at=first.id)
            third = await here.on.ask("Three?", at=second.id)
            joined = json.dumps(here.last[-1])
            fourth = await here.on.ask("Four?", at=third.id)
            assert [row.status for row in (first, second)] == [Status.FAILED] * 2
            assert ([row.status for row in (third, fourth)], here.refusals) == ([Status.COMPLETE] * 2, [])
            assert joined.index("One?") < joined.index("Two?") < joined.index("Three?")
            asked = [json.dumps(said) for said in here.last if said.get("role") == "user"]
            assert without_marks(asked[0]) == without_marks(joined)

    play(story())


def without_marks(said: str) -> str:
    return said.replace(', "cache_control": {"type": "ephemeral"}', "")


def nameless(body: Body) -> str:
    calls = [call for said in body["messages"] for call in said.get("tool_calls") or []]
    bad = [call for call in calls if not call["function"]["name"]]
    return "messages.1.tool_calls.0.function.name: String should have at least 1 character" if bad else ""


def test_a_call_without_a_name_is_answered_as_a_failed_one_and_goes_back_with_a_name(tmp_path):
    strict = Strict(nameless, [chat(called(name=""), finish="tool_calls"), LAST])

    async def story():
        async with told(strict, tmp_path) as here:
            row = await here.on.ask("Why?")
            assert ((row.status, len(here.bodies)), here.refusals) == ((Status.COMPLETE, 2), [])
            (result,) = [item for item in await here.on.items(row.id) if item.kind is Kind.TOOL_RESULT]
            assert (result.outcome, result.text) == ("failed", "The call names no tool.")
            assert here.last[-1]["content"] == "The call names no tool."

    play(story())


REFUSED = {
    "chat": chat({"refusal": "I would rather"}, {"refusal": " not."}, finish="content_filter"),
    "responses": responses(
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "refusal", "refusal": "I would rather not."}]}
    ),
}  # fmt: skip


@pytest.mark.parametrize("dialect", REFUSED)
def test_what_a_model_refuses_in_its_own_words_is_an_answer(tmp_path, dialect: str):
    strict = Strict(anything, [REFUSED[dialect], ENDS[dialect]], dialect=dialect)

    async def story():
        async with told(strict, tmp_path) as here:
            row = await here.on.ask("Why?")
            assert (row.status, await here.on.said(row.id)) == (Status.COMPLETE, "I would rather not.")
            assert not any(item.cut for item in await here.on.items(row.id))
            below = await here.on.ask("Please?", at=row.id)
            assert below.status == Status.COMPLETE
            assert "I would rather not." in json.dumps(here.last)

    play(story())


OVERLOADED = {
    "chat": [
        delta(reasoning_content="Half a th"),
        frame(error={"message": "overloaded", "code": 529}),
    ],
    "responses": [
        event("response.output_item.added", output_index=0, item={"type": "reasoning", "id": "rs_0", "summary": []}),
        event("response.reasoning_summary_text.delta", output_index=0, summary_index=0, delta="Half a th"),
        event("error", error={"code": "server_is_overloaded", "message": "Overloaded"}),
    ],
    "messages": [
        *messages(UNSIGNED)[:3],
        event("error", error={"type": "overloaded_error", "message": "Overloaded"}),
    ],
}  # fmt: skip


@pytest.mark.parametrize("dialect", OVERLOADED)
def test_overload_in_a_thought_is_tried_again_visibly_and_nothing_of_it_stays(tmp_path, dialect: str):
    strict = Strict(anything, [OVERLOADED[dialect], ENDS[dialect]], dialect=dialect)

    async def story():
        async with told(strict, tmp_path) as here:
            row = await here.on.ask("Why?")
            assert (row.status, len(here.bodies)) == (Status.COMPLETE, 2)
            assert here.bodies[0] == here.bodies[1]
            assert [item.kind for item in await here.on.items(row.id)] == [Kind.ASSISTANT_MESSAGE]
            assert not row.metadata.get("reasoning_durations_ms")
            assert len(row.metadata["timings_ms"]) == 1

    play(story())


def test_frames_that_nobody_can_read_are_told(tmp_path):
    for dialect, frames in ENDS.items():
        broken = [frames[0], b"data: {half of\n\n", b"data: nothing\n\n", *frames[1:]]
        strict = Strict(anything, [broken], dialect=dialect)

        async def story(strict: Strict = strict, folder: Any = tmp_path / dialect):
            async with told(strict, folder) as here:
                row = await here.on.ask("Why?")
                assert (row.status, row.metadata["rounds"][0]["skipped"]) == (Status.COMPLETE, 2)

        play(story())


TWICE = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Well."}],
    "encrypted_content": "a",
}
OTHER = TWICE | {"summary": [{"type": "summary_text", "text": "Well, no."}], "encrypted_content": "b"}


@pytest.mark.parametrize(("second", "keys"), [(TWICE, ["rs_1"]), (OTHER, ["rs_1", "part-1"])])
def test_an_id_that_is_announced_twice_is_one_item_where_it_says_the_same(
    tmp_path, second: Body, keys: list[str]
):
    strict = Strict(anything, [responses(TWICE, second, said_in("Fair."))] * 2, dialect="responses")

    async def story():
        async with told(strict, tmp_path) as here:
            row = await here.on.ask("Why?")
            assert [item.key for item in await here.thoughts(row)] == keys
            below = await here.on.ask("Sure?", at=row.id)
            assert below.metadata["rounds"][0]["replayed"] == len(keys)
            ids = [said["id"] for said in here.last if "id" in said]
            assert len(ids) == len(set(ids))

    play(story())
