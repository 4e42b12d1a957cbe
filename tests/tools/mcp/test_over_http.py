"""Servers at an address: where we go, what we say, and what we take."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from chatapp.core.items import Outcome
from chatapp.tools.mcp.server_place import ServerAddress
from tests.support.tool_server import QUICK, Stalls, http_server, kept, play

OK = "HTTP/1.1 200 OK\r\nConnection: close\r\n"


def tool(name="echo", **more):
    return {"name": name, "inputSchema": {"type": "object"}} | more


class Speaker:
    """Answers as an older server does, except where `odd` answers instead. `asked` has every request."""

    def __init__(self, odd=None, *, session=""):
        self.odd, self.session, self.asked = odd, session, []

    async def __call__(self, head, body, writer):
        self.asked.append((head, body))
        request = json.loads(body) if body else {"method": head.split()[0]}
        if self.odd is not None and await self.odd(request, writer, head):
            return
        await send(writer, self.answer(request))

    def answer(self, request):
        match request["method"]:
            case "initialize":
                info = {"name": "odd", "version": "1"}
                version = request["params"]["protocolVersion"]
                result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            case "tools/list":
                result = {"tools": [tool()]}
            case "tools/call":
                result = {"content": [{"type": "text", "text": "hi"}]}
            case "server/discover" | "get":
                return "HTTP/1.1 405 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            case _:
                return "HTTP/1.1 202 Accepted\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        text = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result})
        session = f"Mcp-Session-Id: {self.session}\r\n" if self.session else ""
        return f"{OK}{session}Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}"


async def send(writer, text):
    writer.write(text.encode() if isinstance(text, str) else text)
    await writer.drain()


async def failed(it):
    result = await it.call("echo")
    assert result.outcome is Outcome.FAILED
    return result.text


def test_an_older_server_is_talked_to_without_traces_cookies_or_packing():
    async def story():
        speaker = Speaker()
        async with http_server(speaker) as address, kept(replace(address, key="sk-canary")) as it:
            assert await it.listed() == ["echo"]
            assert (await it.call("echo")).text.endswith("\nhi")
        for head, body in speaker.asked:
            assert "authorization: bearer sk-canary" in head
            assert "accept-encoding: identity" in head
            assert "traceparent" not in head + body.decode() and "cookie" not in head
            assert "canary" not in body.decode()

    play(story())


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]"]
)
def test_a_private_address_is_not_gone_to_unless_it_is_allowed(host):
    async def story():
        speaker = Speaker()
        async with http_server(speaker) as address:
            port = address.url.split(":")[2]
            async with kept(ServerAddress(f"http://{host}:{port}")) as it:
                assert "is in a private network, which is not allowed for it" in await failed(it)
        assert speaker.asked == []

    play(story())


def test_a_proxy_of_the_environment_is_not_used(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    async def story():
        async with http_server(Speaker()) as address, kept(address) as it:
            assert await it.listed() == ["echo"]

    play(story())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("where", ["/elsewhere", "http://169.254.169.254/"])
def test_a_redirect_is_not_followed(status, where):
    async def odd(request, writer, head):
        await send(writer, f"HTTP/1.1 {status} Go\r\nLocation: {where}\r\nContent-Length: 0\r\n\r\n")
        return True

    async def story():
        speaker = Speaker(odd)
        async with http_server(speaker) as address, kept(address) as it:
            assert f"It answers with a redirect ({status}), which is not followed." in await failed(it)
        assert all(head.startswith("post /mcp ") for head, _ in speaker.asked)

    play(story())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", "It refuses us (401): its key is missing or wrong."),
        ("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", "It answered with an error"),
        ("garbage\r\n\r\n", "The connection broke."),
        ("", "The connection broke."),
        (f"{OK}Content-Type: text/html\r\n\r\n<html>", "It answered with an error"),
        (f"{OK}Content-Type: application/json\r\n\r\n<html>", "It answered with something that is not MCP."),
        (f"{OK}Content-Encoding: gzip\r\n\r\nxx", "It sends packed answers, which were not asked for."),
        (
            f"{OK}Content-Type: text/event-stream\r\n\r\ndata: hi\n\n",
            "It answered with something that is not MCP.",
        ),
    ],
)
def test_a_server_that_answers_otherwise_is_said_to(answer, words):
    async def odd(request, writer, head):
        await send(writer, answer)
        return True

    async def story():
        async with http_server(Speaker(odd)) as address, kept(address) as it:
            told = await failed(it)
            assert words in told and told.startswith("The server odd does not answer. ")
            assert "<html>" not in it.server.told

    play(story())


def test_nobody_at_the_address_is_said():
    async def story():
        async with http_server(Speaker()) as address:
            pass
        async with kept(address) as it:
            assert "Nobody answers at its address." in await failed(it)

    play(story())


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_an_endless_answer_ends_the_call_with_a_bound_on_memory(kind):
    sent = 0

    async def odd(request, writer, head):
        nonlocal sent
        if request["method"] != "tools/call":
            return False
        await send(writer, f"{OK}Content-Type: {kind}\r\n\r\n" + ("data: " if "event" in kind else '"'))
        while not writer.is_closing():
            await send(writer, b"x" * 65536)
            sent += 65536
        return True

    async def story():
        stalls = Stalls()
        async with http_server(Speaker(odd)) as address, kept(address) as it:
            await it.listed()
            watching = asyncio.create_task(stalls.watch())
            assert (await it.call("echo")).outcome is Outcome.UNKNOWN
            watching.cancel()
        assert 8_000_000 < sent < 16_000_000
        assert stalls.longest < 1.0

    play(story())


def test_a_call_that_is_never_answered_ends_and_leaves_the_server_connected():
    async def odd(request, writer, head):
        if request["method"] != "tools/call":
            return False
        await asyncio.sleep(60)
        return True

    async def story():
        async with http_server(Speaker(odd)) as address, kept(address) as it:
            await it.listed()
            result = await replace(it.tool("echo"), timeout=0.2).run("{}")
            words = "The tool odd.echo did not finish within 0.2 seconds."
            assert result.text == f"{words} Its outcome is unknown."
            assert it.server.is_connected

    play(story())


def test_a_server_that_forgot_the_session_gets_a_new_one_and_the_call():
    """It refused the call, so nothing was done twice."""
    speaker = Speaker(session="one")

    async def odd(request, writer, head):
        if speaker.session == "two" and "mcp-session-id: one" in head:
            await send(writer, "HTTP/1.1 404 Gone\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            return True
        return False

    speaker.odd = odd

    async def story():
        never = replace(QUICK, gap=600.0, shortest=600.0, longest=600.0)
        async with http_server(speaker) as address, kept(address, never) as it:
            await it.listed()
            speaker.session = "two"
            assert (await it.call("echo")).text.endswith("\nhi")

    play(story())


def test_a_place_that_cannot_be_told_is_said():
    from chatapp.tools.mcp.server_place import Problem

    def nowhere():
        raise Problem("DOCS_API_KEY is not set.")

    async def story():
        async with kept(nowhere, QUICK) as it:
            assert await failed(it) == "The server odd does not answer. DOCS_API_KEY is not set."

    play(story())
