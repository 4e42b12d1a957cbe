"""The servers that the rows name are connected, and their tools at hand like every other tool."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from chatapp import store
from chatapp.core.decision import Decision
from chatapp.mcp_servers import store as mcp_servers
from chatapp.mcp_servers.models import McpServer, McpTool
from chatapp.mcp_servers.part import GONE, NOT_HERE, OFF, Mcp
from chatapp.providers.configured import Catalog
from chatapp.providers.demo import DemoProvider
from chatapp.store import in_thread
from chatapp.store.models import Conversation, Status
from chatapp.tools import TOOLS
from chatapp.tools.at_hand import ToolsAtHand
from chatapp.tools.mcp.offered import Offered
from tests.support.script import call, response, text
from tests.support.stage import ScriptedCatalog, ScriptedProvider, play, stage, until
from tests.support.tool_server import QUICK, http_server, script
from tests.tools.mcp.test_over_http import Speaker

pytestmark = pytest.mark.django_db(transaction=True)

ECHO = script("welcome()\nfor request in requests([tool()]):\n    answer(request, text('hi'))")
DOWN = script("sys.exit(1)")


@asynccontextmanager
async def at_work(commands, every=0.02):
    mcp = Mcp(commands, ToolsAtHand(TOOLS), times=QUICK, every=every)
    await mcp.load()
    task = asyncio.create_task(mcp.keep())
    try:
        yield mcp
    finally:
        task.cancel()
        await mcp.close()


async def has(mcp, name):
    async def look():
        return mcp.tools.get(name)

    return await until(look)


async def told(mcp, words):
    async def look():
        server = await in_thread(McpServer.objects.get)()
        return words in mcp.told(server)

    return await until(look)


def change(**fields):
    """As another process does it."""

    def work():
        server = McpServer.objects.get()
        for name, value in fields.items():
            setattr(server, name, value)
        mcp_servers.save_server(server)

    return in_thread(work)()


def judge(**said):
    def work():
        tool = McpTool.objects.get()
        usual = {"safe": False, "idempotent": False, "is_on": True, "in_new_conversations": False}
        mcp_servers.judge_tool(tool.pk, seen=tool.fingerprint, **usual | said)

    return in_thread(work)()


def test_a_command_of_the_file_gets_a_row_and_its_tools_ask(db):
    async def story():
        async with at_work({"files": ECHO}) as mcp:
            tool = await has(mcp, "files.echo")
            assert (tool.safe, tool.idempotent, tool.usual, tool.server) == (False, False, False, "files")
            assert (await tool.run("{}")).text.endswith("\nhi")
            assert set(TOOLS) < set(mcp.tools)
            assert await told(mcp, "Connected.")
        row = await in_thread(McpServer.objects.get)()
        assert (row.name, row.url) == ("files", "")

    play(story())


def test_tools_are_listed_while_their_server_is_down_and_byte_for_byte_the_same(db):
    async def story():
        async with at_work({"files": ECHO}) as mcp:
            before = (await has(mcp, "files.echo")).definition
        async with at_work({"files": DOWN}) as mcp:
            tool = mcp.tools["files.echo"]
            assert tool.definition == before
            assert tool.fingerprint == (await in_thread(McpTool.objects.get)()).fingerprint
            assert "The server files does not answer." in (await tool.run("{}")).text

    play(story())


def test_what_staff_say_in_another_process_holds_here_and_for_that_tool_alone(db):
    async def story():
        async with at_work({"files": ECHO}) as mcp:
            await has(mcp, "files.echo")
            await judge(safe=True, idempotent=True, in_new_conversations=True)

            async def marked():
                tool = mcp.tools["files.echo"]
                return tool.safe and tool.idempotent and tool.usual

            await until(marked)
            row = (await in_thread(mcp_servers.load_servers)())[0]
            other = [Offered("echo", "Something else.", {"type": "object"})]
            await in_thread(mcp_servers.save_offered)(row, other)

            async def asks_again():
                tool = mcp.tools["files.echo"]
                return tool.description == "Something else." and not tool.safe and not tool.idempotent

            await until(asks_again)

    play(story())


def test_switched_off_a_server_has_no_tools_and_no_connection(db):
    async def story():
        async with at_work({"files": ECHO}) as mcp:
            await has(mcp, "files.echo")
            await change(is_on=False)
            await told(mcp, OFF)

            async def gone():
                return "files.echo" not in mcp.tools

            await until(gone)
            await change(is_on=True)
            assert (await (await has(mcp, "files.echo")).run("{}")).text.endswith("\nhi")

    play(story())


def test_a_tool_that_is_switched_off_is_not_there(db):
    async def story():
        async with at_work({"files": ECHO}) as mcp:
            await has(mcp, "files.echo")
            await judge(is_on=False)

            async def gone():
                return "files.echo" not in mcp.tools

            await until(gone)

    play(story())


def test_a_row_whose_entry_is_gone_is_not_used_whatever_its_row_says(db):
    async def story():
        async with at_work({"files": ECHO}) as mcp:
            await has(mcp, "files.echo")
        async with at_work({}) as mcp:
            assert set(mcp.tools) == set(TOOLS)
            assert await told(mcp, GONE)

    play(story())


def test_an_address_is_reached_with_the_key_of_its_variable(db, monkeypatch):
    async def story():
        speaker = Speaker()
        async with http_server(speaker) as address:
            row = McpServer(name="docs", url=address.url, key_variable="DOCS_API_KEY", private_network=True)
            await in_thread(row.save)()
            async with at_work({}) as mcp:
                assert await told(mcp, "DOCS_API_KEY is not set.")
                monkeypatch.setenv("DOCS_API_KEY", "two words")
                assert await told(mcp, "DOCS_API_KEY is not the name of a key, or no key is in it.")
                assert speaker.asked == []
                monkeypatch.setenv("DOCS_API_KEY", "sk-canary")
                assert (await (await has(mcp, "docs.echo")).run("{}")).text.endswith("\nhi")
                assert all("bearer sk-canary" in head for head, _ in speaker.asked)

    play(story())


def test_a_private_address_is_not_gone_to_until_staff_allow_it_by_its_row(db):
    async def story():
        speaker = Speaker()
        async with http_server(speaker) as address:
            await in_thread(McpServer(name="docs", url=address.url).save)()
            async with at_work({}) as mcp:
                assert await told(mcp, "is in a private network, which is not allowed for it")
                assert (speaker.asked, set(mcp.tools)) == ([], set(TOOLS))
                await change(private_network=True)
                await has(mcp, "docs.echo")

    play(story())


def test_a_row_that_was_made_elsewhere_is_found_soon(db):
    async def story():
        async with http_server(Speaker()) as address, at_work({}, every=600.0) as mcp:
            row = McpServer(name="docs", url=address.url, private_network=True)
            await in_thread(row.save)()
            assert mcp.told(row) == NOT_HERE
            await in_thread(mcp.look_soon)()
            await has(mcp, "docs.echo")

    play(story())


def test_the_engine_offers_them_to_those_who_choose_them(db, tmp_path):
    async def story():
        async with http_server(Speaker()) as address:
            row = McpServer(name="docs", url=address.url, private_network=True)
            await in_thread(row.save)()
            async with stage(ScriptedCatalog(ScriptedProvider([])), tmp_path) as s:
                await s.engine.start()
                await has(s.engine.part(Mcp), "docs.echo")
                assert {tool["name"] for tool in s.engine.definitions()} == set(TOOLS)
                (chosen,) = s.engine.definitions(["docs.echo"])
                assert chosen["schema"] == {"type": "object"}

    play(story())


def test_a_built_in_tool_is_never_replaced(db):
    mcp = Mcp({}, ToolsAtHand(TOOLS))
    name, tool = next(iter(TOOLS.items()))
    mcp.tools.change({name: None})
    assert mcp.tools[name] is tool


def test_without_servers_the_official_package_is_not_loaded():
    code = (
        "import django, sys; django.setup(); from chatapp.turns.engine import engine; engine();"
        "import chatapp.urls; print([name for name in ('mcp', 'httpx2', 'opentelemetry') if name in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    environment = {"DJANGO_SETTINGS_MODULE": "tests.settings", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "what", ["a mark is taken back", "the tool is switched off", "the server is switched off"]
)
def test_what_staff_said_a_moment_ago_counts_for_the_next_call(db, tmp_path, what):
    """The engine looks at rows now and then; before a call of a server's tool it looks in any case."""

    async def story():
        async with at_work({"files": ECHO}) as mcp:
            await has(mcp, "files.echo")
            await judge(safe=True)

            async def is_safe():
                return mcp.tools["files.echo"].safe

            await until(is_safe)
        async with stage(calls_echo(), tmp_path) as on:
            mine = on.engine.part(Mcp)
            mine._commands, mine._every = {"files": ECHO}, 3600.0
            await mine.load()
            await in_thread(Conversation.objects.update)(tools=[mine.tools["files.echo"].definition])
            match what:
                case "a mark is taken back":
                    await judge(safe=False)
                case "the tool is switched off":
                    await judge(is_on=False)
                case _:
                    await change(is_on=False)
            row = await on.ask()
            outcomes = [item.outcome for item in await on.items(row.id)]
            asks = what == "a mark is taken back"
            assert (row.status == Status.WAITING) == asks
            assert outcomes == ([""] if asks else ["", "failed", ""])

    play(story())


def calls_echo():
    return ScriptedCatalog(ScriptedProvider([response(call("files__echo")), response(text())]))


def test_without_a_key_the_demo_calls_the_tool_of_a_server_which_asks_first(db, tmp_path):
    async def story():
        async with at_work({"house": ECHO}) as mcp:
            tool = await has(mcp, "house.echo")
            catalog = Catalog([], demo=DemoProvider(speed=1000))
            async with stage(catalog, tmp_path, model="demo:thinker", tools={tool.name: tool}) as on:
                row = await on.ask("Let it echo something")
                assert row.status == Status.WAITING
                (asked,) = [item for item in await on.items(row.pk) if item.key in store.asks_of(row)]
                assert asked.name == "house.echo"
                answers = {asked.key: (Decision.ONCE, on.engine.shown_hash(asked))}
                await on.engine.decide(row.pk, answers, by=on.conversation.owner)
                assert (await on.end(row.pk)).status == Status.COMPLETE
                assert "The tool *echo* says:" in await on.said(row.pk)

    play(story())
