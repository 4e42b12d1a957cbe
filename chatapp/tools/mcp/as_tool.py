"""A server's tool as every other tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base import Report, Tool, ToolError
from .full_name import full_name
from .offered import Offered
from .server import Server

SECONDS = 60.0


def tool_of(server: Server, offered: Offered, *, safe: bool, idempotent: bool, usual: bool) -> Tool:
    async def call(arguments: dict[str, Any], report: Report) -> str:
        return await server.call(offered.name, offered.schema, arguments, report)

    return Tool(
        name=full_name(server.name, offered.name),
        description=offered.description,
        schema=offered.schema,
        call=call,
        title=f"{offered.name} ({server.name})",
        server=server.name,
        usual=usual,
        safe=safe,
        idempotent=idempotent,
        timeout=SECONDS,
    )


def fingerprint_of(server: str, offered: Offered) -> str:
    return Tool(
        name=full_name(server, offered.name),
        description=offered.description,
        schema=offered.schema,
        call=_never,
    ).fingerprint


async def _never(arguments: Mapping[str, Any], report: Report) -> str:
    raise ToolError("This tool has no server.")
