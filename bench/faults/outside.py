"""What is outside of the house: the strict fake provider, and a server of tools that writes down each run. A process of its own."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from pathlib import Path
from typing import Any

from aiohttp import web

from bench.faults.words import ACT, SERVER, scenarios
from tests.upstream.scenario import Scenario
from tests.upstream.server import Upstream, serve

LISTENS = "Outside is at "
LONGEST_RUN = 1.5
TOOL = {
    "name": ACT,
    "description": "Does something that must be done once.",
    "inputSchema": {"type": "object", "properties": {"call": {"type": "string"}}, "required": ["call"]},
}


class Outside(Upstream):
    """`effects` names the file in which each run of the tool is a line."""

    def __init__(self, effects: Path) -> None:
        super().__init__([], record=False)
        self.scenarios = {name: Scenario(name, data, data["turns"]) for name, data in scenarios().items()}
        self._effects = effects.open("a")

    def app(self) -> web.Application:
        app = super().app()
        app.router.add_post("/tools", self._tools)
        app.router.add_route("*", "/tools", _nothing_else)
        return app

    async def _tools(self, request: web.Request) -> web.Response:
        asked = await request.json()
        match asked.get("method"):
            case "initialize":
                said: dict[str, Any] = {
                    "protocolVersion": asked["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": SERVER, "version": "1"},
                }
            case "tools/list":
                said = {"tools": [TOOL]}
            case "tools/call":
                said = await self._run(asked["params"]["arguments"]["call"])
            case "ping":
                said = {}
            case _ if "id" not in asked:
                return web.Response(status=202)
            case _:
                error = {"code": -32601, "message": "There is no such thing."}
                return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "error": error})
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], "result": said})

    async def _run(self, call: str) -> dict[str, Any]:
        self._effects.write(json.dumps(call) + "\n")
        self._effects.flush()
        await asyncio.sleep(random.uniform(0.0, LONGEST_RUN))
        return {"content": [{"type": "text", "text": f"did {call}"}]}


async def _nothing_else(_: web.Request) -> web.Response:
    return web.Response(status=405)


async def _serve(host: str, port: int, effects: Path) -> None:
    await serve(Outside(effects), host, port)
    print(f"{LISTENS}{host}:{port}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("effects", type=Path)
    chosen = parser.parse_args()
    asyncio.run(_serve(chosen.host, chosen.port, chosen.effects))
