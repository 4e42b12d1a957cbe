"""The HTTP side: routes, accounts, scenarios, records."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web

from .asked import Answering, Asked
from .chat import Chat
from .kept import Store
from .messages import Messages
from .refusals import (
    ApiError,
    http_fault,
    not_json,
    organization_of,
    unauthorized,
    unknown_model,
    without_model,
)
from .responses import Responses
from .scenario import Scenario, Speed, load_dir, load_scenario, offered
from .sealing import dumps
from .sending import Drop, Ended, Sending
from .websocket import Socket

SCENARIOS = Path(__file__).parent / "scenarios"
# Some providers' base URLs have no /v1 (DeepSeek), or /api/v1 (OpenRouter).
BASES = ("/v1", "", "/api/v1")
APIS: dict[str, type[Answering]] = {"responses": Responses, "messages": Messages, "completions": Chat}
SECRET_HEADERS = ("authorization", "x-api-key")
MOST_BYTES = 64 * 2**20
JSON = "application/json"


class Upstream:
    def __init__(
        self,
        folders: Iterable[Path] = (SCENARIOS,),
        speed: Speed | None = None,
        *,
        record: bool = True,
        keep: int = 1000,
    ) -> None:
        self._speed, self._record = speed or Speed(), record
        self.scenarios: dict[str, Scenario] = {}
        for folder in folders:
            self.scenarios.update(load_dir(folder))
        self._store = Store()
        self._requests: deque[dict] = deque(maxlen=keep)
        # How often each fault or attempt of an account, a model and a turn was played.
        self._played: Counter = Counter()
        self._serial = 0

    def app(self) -> web.Application:
        app = web.Application(client_max_size=MOST_BYTES)
        for base in BASES:
            app.router.add_post(f"{base}/responses", self._handle)
            app.router.add_get(f"{base}/responses", self._websocket)
            app.router.add_post(f"{base}/messages", self._handle)
            app.router.add_post(f"{base}/chat/completions", self._handle)
            app.router.add_get(f"{base}/models", self._models)
        app.router.add_get("/_requests", self._get_requests)
        app.router.add_delete("/_requests", self._clear)
        app.router.add_get("/_scenarios", self._get_scenarios)
        app.router.add_put("/_scenarios/{name}", self._put_scenario)
        return app

    async def _get_requests(self, request: web.Request) -> web.Response:
        since, scenario = int(request.query.get("since", 0)), request.query.get("scenario")
        rows = [row for row in self._requests if row["n"] > since and scenario in (None, row["scenario"])]
        return web.Response(text=dumps({"requests": rows}), content_type=JSON)

    async def _clear(self, request: web.Request) -> web.Response:
        self._requests.clear()
        self._played.clear()
        return web.json_response({"ok": True})

    async def _get_scenarios(self, request: web.Request) -> web.Response:
        return web.json_response({name: scenario.data for name, scenario in self.scenarios.items()})

    async def _put_scenario(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        self.scenarios[name] = load_scenario(name, await request.json())
        return web.json_response({"ok": True, "model": f"scenario:{name}"})

    async def _models(self, request: web.Request) -> web.Response:
        by_anthropic = "anthropic-version" in request.headers
        if organization_of(request.headers) is None:
            return refusal(unauthorized("messages" if by_anthropic else "chat"))
        names = [f"scenario:{name}" for name in self.scenarios]
        if by_anthropic:
            since = {"created_at": "2026-01-01T00:00:00Z"}
            models = [{"type": "model", "id": name, "display_name": name, **since} for name in names]
            ends = {"first_id": names[0], "last_id": names[-1]}
            return web.json_response({"data": models, "has_more": False, **ends})
        of = {"object": "model", "created": 1767225600, "owned_by": "fake-upstream"}
        return web.json_response({"object": "list", "data": [{"id": name, **of} for name in names]})

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        kind = APIS[request.path.rsplit("/", 1)[1]]
        began = time.monotonic()
        row = self._row(kind.api, headers=_without_secrets(request.headers))
        try:
            body = _parsed(await request.read(), kind.api)
            row["body"] = body
            self._write_down(row)
            answering, speed, turn, faults = self._plan(kind, request.headers, body, row)
            if speed.head:
                await asyncio.sleep(speed.head)
            faults = faults + _of_the_end(kind, turn, stream=bool(body.get("stream")))
            for fault in faults:
                if fault["kind"] == "http":
                    raise http_fault(kind.api, fault)
            if isinstance(answering, Responses):
                answering.keep()
            if self._record:
                row["said"] = answering.whole()
            if body.get("stream"):
                return await self._stream(request, answering, speed, turn, faults, row)
            return await self._whole(request, answering, speed, faults, row)
        except ApiError as error:
            row.update(status=error.status, outcome="error", error=error.body)
            return refusal(error)
        except asyncio.CancelledError:
            row["outcome"] = row["outcome"] or "client_disconnected"
            raise
        finally:
            row["seconds"] = round(time.monotonic() - began, 4)

    def _row(self, api: str, **more: Any) -> dict[str, Any]:
        self._serial += 1
        row = {
            "n": self._serial,
            "api": api,
            "time": time.time(),
            "scenario": "",
            "model": None,
            "turn": None,
        }
        return row | {"stream": False, "status": 0, "outcome": "", "events": 0, "notes": []} | more

    def _write_down(self, row: dict) -> None:
        if self._record:
            self._requests.append(row)

    def _plan(
        self, kind: type[Answering], headers: Mapping[str, str], body: dict, row: dict
    ) -> tuple[Any, Speed, dict, list[dict]]:
        """The answer to a request that nothing is wrong with, its speed, its turn, and the faults that are due."""
        org = organization_of(headers)
        if org is None:
            raise unauthorized(kind.api)
        model = body.get("model")
        if not isinstance(model, str):
            raise without_model(kind.api)
        row.update(org=org, model=model, stream=bool(body.get("stream")))
        scenario = self._scenario(headers, model)
        if not scenario:
            raise unknown_model(kind.api, model)
        row["scenario"] = scenario.name
        answering = kind(Asked(body, headers, org, scenario, self._store, row["notes"]))
        number, turn = scenario.turn(answering.answers_so_far)
        turn = offered(turn, body.get("tools") or [])
        turn = self._attempt((org, model, number), turn)
        row["turn"] = number
        said = {"last_user": answering.last_user, "tool_output": answering.tool_output}
        answering.build(turn, said | {"turn": number, "model": model, "request": row["n"]})
        faults = [
            fault
            for place, fault in enumerate(turn.get("faults") or [])
            if self._due((org, model, number, place), fault)
        ]
        return answering, self._speed_of(scenario, turn, headers), turn, faults

    def _scenario(self, headers: Mapping[str, str], model: str) -> Scenario | None:
        named = model.removeprefix("scenario:").split("@")[0] if model.startswith("scenario:") else ""
        return self.scenarios.get(headers.get("x-scenario") or named)

    def _attempt(self, key: tuple, turn: dict) -> dict:
        """The same turn asked for again plays differently."""
        if "attempts" not in turn:
            return turn
        played = self._played[*key, "attempt"]
        self._played[*key, "attempt"] += 1
        return {**turn, **turn["attempts"][min(played, len(turn["attempts"]) - 1)]}

    def _due(self, key: tuple, fault: dict) -> bool:
        """A fault with `times: n` plays only n times for an account, model and turn."""
        self._played[key] += 1
        return "times" not in fault or self._played[key] <= fault["times"]

    def _speed_of(self, scenario: Scenario, turn: dict, headers: Mapping[str, str]) -> Speed:
        speed = self._speed.with_(scenario.section("speed")).with_(turn.get("speed"))
        return speed.with_(headers.get("x-upstream-speed"))

    async def _whole(
        self, request: web.Request, answering: Answering, speed: Speed, faults: list[dict], row: dict
    ) -> web.Response:
        await asyncio.sleep(answering.pauses() * speed.delay + speed.ttft)
        row.update(status=200, outcome="completed")
        text = dumps(answering.whole())
        for fault in faults:
            if fault["kind"] == "malformed":
                text = text[: len(text) // 2]
            elif fault["kind"] in ("drop", "stall"):
                if fault["kind"] == "stall":
                    await asyncio.sleep(fault.get("seconds", 30))
                request.transport.abort()
                row["outcome"] = "dropped"
        return web.Response(text=text, content_type=JSON, headers=_headers())

    async def _stream(
        self,
        request: web.Request,
        answering: Answering,
        speed: Speed,
        turn: dict,
        faults: list[dict],
        row: dict,
    ) -> web.StreamResponse:
        more = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
        response = web.StreamResponse(headers=_headers() | more)
        await response.prepare(request)
        row["status"] = 200
        wire = answering.asked.scenario.section("wire") | (turn.get("wire") or {})
        sending = Sending(request, response, answering, wire=wire, row=row)
        try:
            try:
                await sending.send(answering.frames(speed), speed, faults)
                row["outcome"] = "completed"
            except Ended as ended:
                row["outcome"] = str(ended)
            await response.write_eof()
        except Drop:
            row["outcome"] = "dropped"
        except ConnectionResetError:
            row["outcome"] = "client_disconnected"
        return response

    async def _websocket(self, request: web.Request) -> web.StreamResponse:
        org = organization_of(request.headers)
        if org is None:
            return refusal(unauthorized("responses"))
        response = web.WebSocketResponse(max_msg_size=MOST_BYTES)
        await response.prepare(request)

        def plan(body: dict, row: dict) -> tuple[Responses, Speed]:
            return self._plan(Responses, request.headers, body, row)[:2]

        socket = Socket(response, plan, store=self._store, org=org)
        async for message in response:
            if message.type == WSMsgType.TEXT:
                body = json.loads(message.data)
                row = self._row("responses-ws", stream=True, status=101, headers={}, body=dict(body))
                self._write_down(row)
                await socket.answer(body, row)
        return response


def _parsed(raw: bytes, api: str) -> dict:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise not_json(api)
    return body


def _of_the_end(kind: type[Answering], turn: dict, *, stream: bool) -> list[dict]:
    """Only the Responses API has a closing event for an answer that fails; elsewhere it is an error after the content."""
    finish = turn.get("finish")
    if kind.fails_at is None or not isinstance(finish, dict) or finish.get("status") != "failed":
        return []
    if not stream:
        return [{"kind": "http", "status": 500}]
    error = "api_error" if kind.api == "messages" else "server_error"
    return [{**finish, "kind": "error", "at": kind.fails_at, "type": error}]


def _headers() -> dict[str, str]:
    name = "req_" + secrets.token_hex(12)
    return {"x-request-id": name, "request-id": name, "openai-processing-ms": "1"}


def _without_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items() if name.lower() not in SECRET_HEADERS}


def refusal(error: ApiError) -> web.Response:
    text = error.body if isinstance(error.body, str) else dumps(error.body)
    headers = {"x-request-id": "req_" + secrets.token_hex(12), **error.headers}
    return web.Response(status=error.status, text=text, content_type=JSON, headers=headers)


async def serve(upstream: Upstream, host: str, port: int) -> tuple[web.AppRunner, int]:
    """Port 0 picks a free one."""
    runner = web.AppRunner(upstream.app(), access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    await web.TCPSite(runner, host, port, reuse_port=False, backlog=1024).start()
    return runner, runner.addresses[0][1]
