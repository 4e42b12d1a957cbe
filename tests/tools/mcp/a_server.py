"""A real MCP server, made with the official package: `stdio`, or `http` and a port."""

from __future__ import annotations

import asyncio
import sys

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp_types import ResourceLink, TextContent, ToolAnnotations

server = MCPServer("a server", log_level="ERROR")
cancelled: list[str] = []
now_waiting: list[str] = []


@server.tool(annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False))
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """Says it again."""
    return text


@server.tool()
def describe(city: str) -> dict[str, str]:
    """Tells about a city."""
    return {"city": city, "weather": "fog"}


@server.tool()
def picture() -> Image:
    """A picture."""
    return Image(data=b"\x89PNG" * 3000, format="png")


@server.tool(structured_output=False)
def link() -> list[ResourceLink | TextContent]:
    """Where to find it."""
    return [
        ResourceLink(type="resource_link", name="notes", uri="file:///notes"),
        TextContent(type="text", text="There."),
    ]


@server.tool()
def fail() -> str:
    """Never works."""
    raise ValueError("the moon is in the way")


@server.tool()
async def slow(steps: int, ctx: Context) -> str:
    """Takes its time."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
        await asyncio.sleep(0.3)
    return "done"


@server.tool(structured_output=False)
async def wait() -> str:
    """Waits for ever."""
    now_waiting.append("wait")
    try:
        await asyncio.Event().wait()
    finally:
        now_waiting.remove("wait")
        cancelled.append("wait")
    return ""


@server.tool(structured_output=False)
def waiting() -> str:
    """How many wait."""
    return str(len(now_waiting))


@server.tool(structured_output=False)
def ended() -> str:
    """What was cancelled."""
    return " ".join(cancelled)


@server.tool(structured_output=False)
async def grow(ctx: Context) -> str:
    """Has one tool more afterwards."""

    @server.tool(structured_output=False)
    def fresh() -> str:
        """Was not there before."""
        return "fresh"

    await ctx.session.send_tool_list_changed()
    await ctx.notify_tools_changed()
    return "grown"


@server.tool(structured_output=False)
async def ask_back(ctx: Context) -> str:
    """Asks for what it was not offered."""
    try:
        answer = await ctx.session.list_roots()
    except Exception as error:
        return f"refused: {type(error).__name__}"
    return f"given: {answer}"


if __name__ == "__main__":
    if sys.argv[1] == "http":
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run("stdio")
