"""What runs by a key ends, in the words of its door, when the key opens nothing any more."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.utils import timezone

from chatapp.gateway.asking import under_way
from chatapp.gateway.models import ApiKey, KeyRequest, KeyRule, StoredResponse
from chatapp.gateway.part import WatchedKeys
from chatapp.gateway.served.routes import responding_socket
from chatapp.gateway.store import purging
from chatapp.gateway.store.keys import revoke_any, revoke_key
from chatapp.insight.models import ModelDay, PersonDay
from chatapp.store import deleting, in_thread
from tests.gateway.program import MODEL, Program, program_of, served, user
from tests.support.patience import PATIENCE
from tests.support.script import held, response, text, thought
from tests.support.stage import play, until

pytestmark = pytest.mark.django_db(transaction=True)

SAYS = response(thought("Hm."), text("Because."))


def revoked(owner: User) -> None:
    revoke_key(owner, ApiKey.objects.get(owner=owner).pk)


def revoked_by_staff(owner: User) -> None:
    revoke_any([ApiKey.objects.get(owner=owner).pk])


def expired(owner: User) -> None:
    ApiKey.objects.filter(owner=owner).update(expires_at=timezone.now() - timedelta(seconds=1))


def deactivated(owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(is_active=False)


def not_allowed(owner: User) -> None:
    KeyRule.objects.create(who="person", user=owner, may_have_keys=False)


WAYS: list[Callable[[User], None]] = [revoked, revoked_by_staff, expired, deactivated, not_allowed]
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": [user()]},
    "/v1/responses": {"input": "Why?"},
    "/v1/messages": {"messages": [user()], "max_tokens": 99},
}
TOLD = {
    "/v1/chat/completions": '"code":"invalid_api_key"',
    "/v1/responses": "event: response.failed",
    "/v1/messages": "event: error",
}


async def asked_until_it_thinks(editor: Program, reached: asyncio.Event, door: str, **more: Any) -> Any:
    asking = editor.send("POST", door, json={"model": MODEL, **BODIES[door], **more})
    task = asyncio.create_task(asking)
    await asyncio.wait_for(reached.wait(), PATIENCE)
    return task


async def watched_until(task: asyncio.Task[Any]) -> Any:
    watching = asyncio.create_task(WatchedKeys(every=0.01).keep())
    try:
        return await asyncio.wait_for(task, PATIENCE)
    finally:
        watching.cancel()


@pytest.mark.parametrize("end", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("door", BODIES)
def test_a_stream_ends_in_the_words_of_its_door(alice, door, end):
    async def story():
        reached = asyncio.Event()
        async with served(held(thought("I think"), thought("and"), reached=reached)):
            editor = await program_of(alice)
            task = await asked_until_it_thinks(editor, reached, door, stream=True)
            await in_thread(end)(alice)
            answered = await watched_until(task)
            assert answered.status_code == 200
            assert TOLD[door] in answered.text
            assert "opens nothing any more" in answered.text
            assert not under_way.keys_in_use()
            await until(in_thread(lambda: not KeyRequest.objects.exists()))
        day = await in_thread(ModelDay.objects.get)()
        assert day.counts["ended:stopped"] == 1

    play(story())


@pytest.mark.parametrize("door", BODIES)
def test_whoever_waits_for_the_whole_answer_is_refused(alice, door):
    async def story():
        reached = asyncio.Event()
        async with served(held(thought("I think"), thought("and"), reached=reached)):
            editor = await program_of(alice)
            task = await asked_until_it_thinks(editor, reached, door)
            await in_thread(revoked)(alice)
            answered = await watched_until(task)
            assert answered.status_code == 401
            assert "opens nothing any more" in answered.json()["error"]["message"]

    play(story())


def test_what_was_asked_of_the_model_counts_by_estimate(alice):
    async def story():
        reached = asyncio.Event()
        async with served(held(thought("I think"), thought("and"), reached=reached)):
            editor = await program_of(alice)
            task = await asked_until_it_thinks(editor, reached, "/v1/responses")
            reserved = (await in_thread(KeyRequest.objects.get)()).estimate
            await in_thread(revoked)(alice)
            await watched_until(task)
            await until(in_thread(PersonDay.objects.exists))
            day = await in_thread(PersonDay.objects.get)()
            assert day.input + day.output == reserved > 0

    play(story())


def test_others_go_on(alice, bob):
    async def story():
        first, second = asyncio.Event(), asyncio.Event()
        held_for = [held(thought("I"), thought("think"), reached=each) for each in (first, second)]
        async with served(*held_for):
            hers, his = await program_of(alice), await program_of(bob)
            of_alice = await asked_until_it_thinks(hers, first, "/v1/responses", stream=True)
            of_bob = await asked_until_it_thinks(his, second, "/v1/responses", stream=True)
            await in_thread(revoked)(alice)
            await watched_until(of_alice)
            assert not of_bob.done()
            assert len(under_way.keys_in_use()) == 1
            of_bob.cancel()
            await asyncio.gather(of_bob, return_exceptions=True)

    play(story())


def test_a_socket_is_told_as_well_and_refuses_what_comes_then(alice):
    async def story():
        reached = asyncio.Event()
        async with served(held(thought("I think"), thought("and"), reached=reached)):
            editor = await program_of(alice)
            named = [(name.encode(), value.encode()) for name, value in editor.http.headers.items()]
            socket = WebsocketCommunicator(responding_socket, "/v1/responses", headers=named)
            assert (await socket.connect(PATIENCE))[0]
            create = json.dumps({"type": "response.create", "model": MODEL, "input": "Why?"})
            await socket.send_to(text_data=create)
            await asyncio.wait_for(reached.wait(), PATIENCE)
            await in_thread(revoked)(alice)
            watching = asyncio.create_task(WatchedKeys(every=0.01).keep())
            while (told := json.loads(await socket.receive_from(PATIENCE)))["type"] != "response.failed":
                pass
            watching.cancel()
            assert "opens nothing any more" in told["response"]["error"]["message"]
            await socket.send_to(text_data=create)
            refused = json.loads(await socket.receive_from(PATIENCE))
            assert (refused["type"], refused["status"]) == ("error", 401)
            await socket.disconnect()

    play(story())


def test_whoever_has_gone_is_not_told(alice):
    """Both at once: the program hangs up in the moment in which its key is revoked."""

    async def story():
        reached = asyncio.Event()
        async with served(held(thought("I think"), thought("and"), reached=reached)):
            editor = await program_of(alice)
            task = await asked_until_it_thinks(editor, reached, "/v1/responses", stream=True)
            under_way.give_up_without(set(), among=under_way.keys_in_use())
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await until(in_thread(lambda: not KeyRequest.objects.exists()))

    play(story())


def test_a_revoked_key_takes_what_it_had_stored_with_it(alice):
    async def story():
        async with served(SAYS):
            editor, other = await program_of(alice, keeps_responses=True), await program_of(alice)
            asked = {"model": MODEL, "input": "Why?", "store": True}
            told = (await editor.send("POST", "/v1/responses", json=asked)).json()
            assert (await other.send("GET", f"/v1/responses/{told['id']}")).status_code == 200
            key = await in_thread(ApiKey.objects.get)(keeps_responses=True)
            assert await in_thread(revoke_key)(alice, key.pk)
            assert not await in_thread(StoredResponse.objects.exists)()
            going_on = {**asked, "previous_response_id": told["id"]}
            refused = await other.send("POST", "/v1/responses", json=going_on)
            assert refused.json()["error"]["code"] == "previous_response_not_found"

    play(story())


@pytest.mark.both
def test_what_could_not_be_erased_at_once_is_not_found_and_goes_with_the_purge(alice, monkeypatch):
    monkeypatch.setattr(purging, "SECONDS", 0)

    async def story():
        async with served(SAYS):
            editor, other = await program_of(alice, keeps_responses=True), await program_of(alice)
            asked = {"model": MODEL, "input": "Why?", "store": True}
            told = (await editor.send("POST", "/v1/responses", json=asked)).json()
            key = await in_thread(ApiKey.objects.get)(keeps_responses=True)
            await in_thread(revoke_key)(alice, key.pk)
            assert await in_thread(StoredResponse.objects.exists)()
            assert (await other.send("GET", f"/v1/responses/{told['id']}")).status_code == 404
            await in_thread(deleting.purge)()
            assert not await in_thread(StoredResponse.objects.exists)()

    play(story())
