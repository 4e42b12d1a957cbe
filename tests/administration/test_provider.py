"""Providers are tried with one small question, asked as anybody asks; and the tools of the start are chosen."""

from __future__ import annotations

import re

import pytest

from chatapp import store
from chatapp.limits.models import DailyLimit
from chatapp.mcp_servers.models import McpServer, McpTool
from chatapp.store import in_thread
from chatapp.store.models import Conversation, Message, Status
from chatapp.turns.engine import engine
from tests.support.front import HTMX, house, visitor
from tests.support.stage import play, until

pytestmark = pytest.mark.django_db(transaction=True)

DEMO = "/admin/providers/demo/"


def test_a_provider_is_tried_through_the_real_engine_and_counts_as_ones_own(dana):
    async def story():
        async with house():
            she = await visitor(dana)
            page = await she.get(DEMO)
            assert 'value="demo:thinker"' in page.text
            sent = {"model": "demo:thinker", "question": "Hello?"}
            tried = await she.post(DEMO, sent)
            assert tried.status_code == 302
            where = tried.headers["location"].partition("#")[0]
            (row,) = await in_thread(lambda: list(Message.objects.filter(role="assistant")))()
            assert str(row.pk) in where

            async def ended():
                return await in_thread(Message.objects.get)(pk=row.pk) if await _is_over(row.pk) else None

            assert (await until(ended)).status == Status.COMPLETE
            shown = await she.get(where)
            assert "Thought for" in shown.text and 'data-kind="assistant_message"' in shown.text
            (kept,) = await in_thread(lambda: list(Conversation.objects.all()))()
            assert (kept.owner_id, kept.archived_at is not None, kept.tools) == (dana.pk, True, [])
            news = await she.get(where, headers=HTMX)
            assert news.json()[0][0] == "put" and 'hx-trigger="every 1s"' not in news.text

    play(story())


async def _is_over(pk):
    return await in_thread(Message.objects.filter(pk=pk, status=Status.COMPLETE).exists)()


def test_what_a_limit_refuses_is_told_in_words(dana):
    async def story():
        await in_thread(DailyLimit.objects.create)(who="everybody", turns=0)
        async with house():
            she = await visitor(dana)
            refused = await she.post(DEMO, {"model": "demo:thinker", "question": "Hello?"})
            assert refused.status_code == 409 and "Your daily limit allows nothing" in refused.text
            assert not await in_thread(Conversation.objects.exists)()

    play(story())


@pytest.mark.parametrize(
    "sent",
    [{"model": "other:thinker", "question": "Hello?"}, {"model": "demo:thinker", "question": "  "}, {}],
)
def test_a_question_to_another_provider_is_none(dana, sent):
    async def story():
        async with house():
            assert (await (await visitor(dana)).post(DEMO, sent)).status_code == 409
            assert not await in_thread(Conversation.objects.exists)()

    play(story())


def test_what_others_asked_is_not_shown_as_tried(alice, dana):
    async def story():
        async with house():
            asked = store.AskedFor(model="demo:thinker")
            hers = await in_thread(store.open_conversation)(alice, "canary", tools=[], asked=asked)
            she = await visitor(dana)
            for pk in (hers.answer, hers.conversation):
                assert (await she.get(f"{DEMO}?tried={pk}")).status_code == 404
            assert (await she.get("/admin/providers/nobody/")).status_code == 404

    play(story())


def switched(page) -> dict[str, bool]:
    tags = re.findall(r'<input type="checkbox" role="switch" name="tools"[^>]*>', page.text)
    return {re.search(r'value="([^"]*)"', tag)[1]: " checked" in tag for tag in tags}


def test_new_conversations_begin_with_the_tools_that_were_chosen(dana, alice):
    async def story():
        async with house():
            she = await visitor(dana)
            before = switched(await she.get("/admin/tools/"))
            assert before["clock"] and before["calculator"]
            assert (await she.post("/admin/tools/", {"tools": ["clock"]})).status_code == 302
            after = switched(await she.get("/admin/tools/"))
            assert {name for name, on in after.items() if on} == {"clock"}
            assert [each["name"] for each in engine().definitions()] == ["clock"]
            await (await visitor(alice)).post("/ask/", {"text": "Hello?"})
            (hers,) = await in_thread(lambda: list(Conversation.objects.filter(owner=alice)))()
            assert store.names_of(hers) == ["clock"]

    play(story())


def test_tools_of_servers_are_chosen_there_too(dana):
    async def story():
        server = await in_thread(McpServer.objects.create)(name="docs", url="https://docs.example/")
        tool = await in_thread(McpTool.objects.create)(server=server, name="search", fingerprint="x")
        async with house():
            she = await visitor(dana)
            for sent, wanted in ((["docs.search"], True), ([], False)):
                await she.post("/admin/tools/", {"tools": sent})
                row = await in_thread(McpTool.objects.get)(pk=tool.pk)
                assert row.in_new_conversations is wanted

    play(story())


def test_for_everybody_else_there_is_nothing(client, alice, bob):
    for person in (alice, bob):
        client.force_login(person)
        for path in ("/admin/", DEMO, "/admin/tools/"):
            assert client.get(path).status_code == client.post(path).status_code == 404
