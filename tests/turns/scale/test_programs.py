"""Programs at real processes: what one of these answered, began or forbade, each of the others knows, as if all were one."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.conf import settings

from tests.support.patience import PATIENCE

if not settings.REDIS_URL:
    pytest.skip("Across processes only: ./check tells it Redis' address.", allow_module_level=True)
pytest.importorskip("aiohttp", reason="SKIPPED LOUDLY: aiohttp is not installed, so no processes were tried.")

from tests.browser.steered import Call, Think, Write

from .deployed import Deployed, OpenPage, Person

pytestmark = [pytest.mark.across, pytest.mark.timeout(300)]

MODEL = "openai:gpt-5"
TOOL = {"type": "function", "name": "shell", "parameters": {"type": "object", "properties": {}}}
DOORS = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "Why?"}]},
    "/v1/responses": {"input": "Why?"},
    "/v1/messages": {"messages": [{"role": "user", "content": "Why?"}], "max_tokens": 99},
}


class Editor:
    """A program with a key of somebody, which asks now this process and now that one."""

    def __init__(self, house: Deployed, **chosen: Any) -> None:
        self.house, self.she = house, Person(house.webs[0])
        self.secret = house.webs[0].clerk("key", owner=self.she.name, **chosen)

    def at(self, number: int, *, secret: str = "") -> httpx.Client:
        headers = {"Authorization": f"Bearer {secret or self.secret}"}
        url = self.house.webs[number].url
        return httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=PATIENCE)

    def asks(self, number: int, door: str = "/v1/responses", **more: Any) -> httpx.Response:
        with self.at(number) as client:
            return client.post(door, json={"model": MODEL, **DOORS[door], **more})

    def answer(self, number: int, door: str = "/v1/responses", **more: Any) -> Any:
        answered = self.asks(number, door, **more)
        assert answered.status_code == 200, answered.text
        return answered.json()

    def key(self) -> UUID:
        (row,) = self.house.read(
            "SELECT k.id FROM chatapp_apikey k JOIN auth_user u ON u.id = k.owner_id WHERE username = %s",
            self.she.name,
        )
        return row["id"]

    def revokes(self, number: int) -> None:
        with self.she.at(self.house.webs[number]) as page:
            assert page.post(f"/settings/keys/{self.key()}/revoke/").status_code < 400

    def run(self) -> UUID:
        """The conversation that is made of what it asks."""
        (row,) = self.house.read(
            "SELECT c.id FROM chatapp_conversation c JOIN auth_user u ON u.id = c.owner_id"
            " WHERE username = %s AND program <> ''",
            self.she.name,
        )
        return row["id"]


class Streaming(threading.Thread):
    """A stream that is read while the test goes on."""

    def __init__(self, editor: Editor, number: int, door: str) -> None:
        super().__init__()
        self._editor, self._number, self._door = editor, number, door
        self.said, self._leaves = "", threading.Event()

    def run(self) -> None:
        body = {"model": MODEL, "stream": True, **DOORS[self._door]}
        with self._editor.at(self._number) as client, client.stream("POST", self._door, json=body) as answer:
            for text in answer.iter_text():
                self.said += text
                if self._leaves.is_set():
                    return

    def leave(self) -> None:
        """With the next word."""
        self._leaves.set()


@contextmanager
def streaming(editor: Editor, number: int, door: str = "/v1/responses") -> Iterator[Streaming]:
    stream = Streaming(editor, number, door)
    stream.start()
    try:
        yield stream
    finally:
        stream.join(PATIENCE)
        assert not stream.is_alive()


def thoughts_in(asked: Any) -> int:
    return sum(item.get("type") == "reasoning" for item in asked.body["input"])


def test_a_response_that_one_process_gave_is_gone_on_from_at_the_other(house, steered):
    editor = Editor(house, keeps_responses=True)
    steered.plays(Think("First one side."), Write("Because."))
    first = editor.answer(0)
    steered.plays(Write("Therefore."))
    editor.answer(1, input="And then?", previous_response_id=first["id"])
    asked = steered.requests[-1]
    assert thoughts_in(asked) == 1
    assert "Why?" in json.dumps(asked.body["input"]) and "Because." in json.dumps(asked.body["input"])


def test_a_stored_response_is_told_and_taken_away_by_any_of_them(house, steered):
    editor = Editor(house, keeps_responses=True)
    steered.plays(Write("Because."))
    first = editor.answer(0)
    with editor.at(0) as one, editor.at(1) as other:
        path = f"/v1/responses/{first['id']}"
        assert other.get(path).json()["output"] == one.get(path).json()["output"] == first["output"]
        assert "Why?" in other.get(f"{path}/input_items").text
        assert other.delete(path).status_code == 200
        assert one.get(path).status_code == other.get(path).status_code == 404
    assert editor.asks(0, input="And then?", previous_response_id=first["id"]).status_code in (400, 404)


@pytest.mark.parametrize("door", ["/v1/chat/completions", "/v1/responses"])
def test_a_thought_that_a_program_leaves_out_is_put_back_at_the_process_that_gets_the_result(
    house, steered, door
):
    editor = Editor(house)
    steered.plays(Think("I call it."), Call("shell"))
    if door == "/v1/responses":
        call = next(
            item for item in editor.answer(0, tools=[TOOL])["output"] if item["type"] == "function_call"
        )
        told: dict[str, Any] = {
            "input": [
                {"role": "user", "content": "Why?"},
                {name: call[name] for name in ("type", "call_id", "name", "arguments")},
                {"type": "function_call_output", "call_id": call["call_id"], "output": "done"},
            ],
            "tools": [TOOL],
        }
    else:
        tools = [{"type": "function", "function": {k: v for k, v in TOOL.items() if k != "type"}}]
        message = editor.answer(0, door, tools=tools)["choices"][0]["message"]
        calls = message["tool_calls"]
        told = {
            "messages": [
                {"role": "user", "content": "Why?"},
                {"role": "assistant", "content": None, "tool_calls": calls},
                {"role": "tool", "tool_call_id": calls[0]["id"], "content": "done"},
            ],
            "tools": tools,
        }
    steered.plays(Write("Done."))
    editor.answer(1, door, **told)
    assert thoughts_in(steered.requests[-1]) == 1


@pytest.mark.parametrize("door", DOORS)
def test_a_key_that_is_revoked_at_one_process_ends_what_streams_at_the_other(house, steered, door):
    editor = Editor(house)
    with streaming(editor, 0, door) as stream:
        script = steered.next_answer()
        script.write("Because ")
        editor.revokes(1)
        script.until_gone()
    assert "opens nothing any more" in stream.said
    for number in (0, 1):
        assert editor.asks(number, door).status_code == 401


def test_a_key_opens_every_process_as_soon_as_it_is_made_and_none_when_it_is_revoked(house, steered):
    editor = Editor(house)
    for number in (0, 1):
        with editor.at(number) as client:
            assert client.get("/v1/models").status_code == 200
    editor.revokes(0)
    for number in (1, 0):
        with editor.at(number) as client:
            assert client.get("/v1/models").status_code == 401


def test_what_a_key_may_ask_in_a_day_is_counted_over_all_of_them(house, steered):
    editor = Editor(house, turns=3)
    for number in (0, 1):
        steered.plays(Write("Because."))
        editor.answer(number)
    with streaming(editor, 0) as stream:
        script = steered.next_answer()
        script.write("Beca")
        refused = editor.asks(1)
        assert refused.status_code == 429 and int(refused.headers["retry-after"]) > 0
        script.write("use.")
        script.finish()
    assert "response.completed" in stream.said
    assert [editor.asks(number).status_code for number in (0, 1)] == [429, 429]


def test_a_recorded_run_is_watched_and_stopped_at_another_process(house, steered):
    editor = Editor(house, is_recorded=True)

    async def story():
        with streaming(editor, 0) as stream:
            script = await asyncio.to_thread(steered.next_answer)
            await asyncio.to_thread(script.write, "Because ")
            page = OpenPage(editor.she, house.webs[1], editor.run())
            await page.sees("Because")
            await asyncio.to_thread(script.write, "of this")
            await page.sees("of this")
            leaf = UUID(page.screen.thread.attributes["data-leaf"])
            stopping = asyncio.create_task(asyncio.to_thread(editor.she.stops, house.webs[1], leaf))
            await asyncio.to_thread(script.until_gone)
            await stopping
            await page.sees("Stopped")
            await page.shows_the_end(*house.webs)
            page.leave()
        assert house.said(leaf) == ["Because of this"]
        assert stream.said

    asyncio.run(asyncio.wait_for(story(), 2 * PATIENCE))


def test_a_program_that_hangs_up_is_told_of_on_the_page_of_another_process(house, steered):
    editor = Editor(house, is_recorded=True)

    async def story():
        with streaming(editor, 0) as stream:
            script = await asyncio.to_thread(steered.next_answer)
            await asyncio.to_thread(script.write, "Because ")
            page = OpenPage(editor.she, house.webs[1], editor.run())
            await page.sees("Because")
            stream.leave()
            await asyncio.to_thread(script.write, "of this")
            await asyncio.to_thread(script.until_gone)
            await page.shows_the_end(*house.webs)
            page.leave()

    asyncio.run(asyncio.wait_for(story(), 2 * PATIENCE))


def test_a_recorded_run_goes_on_where_it_was_whichever_process_is_asked(house, steered):
    editor = Editor(house, is_recorded=True)
    steered.plays(Think("Hm."), Write("Because."))
    editor.answer(0)
    more = [
        {"role": "user", "content": "Why?"},
        {"role": "assistant", "content": "Because."},
        {"role": "user", "content": "And then?"},
    ]
    steered.plays(Write("Therefore."))
    editor.answer(1, input=more)
    assert thoughts_in(steered.requests[-1]) == 1
    for web in house.webs:
        shown = editor.she.page(web, editor.run()).thread.text
        assert "Because." in shown and "Therefore." in shown
