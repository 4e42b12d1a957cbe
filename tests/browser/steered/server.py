"""The provider's server, in a thread of its own, and what a test asks of it."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.support.patience import PATIENCE
from tests.upstream.refusals import ApiError

from . import strict
from .answer import Answer, Gone, Script
from .plans import Step, play

DIALECTS = {"completions": "chat", "responses": "responses", "messages": "messages"}
MODELS = {
    "openai": ("gpt-5", "gpt-5-mini", "gpt-4.1"),
    "anthropic": ("claude-sonnet-4-6", "claude-haiku-4-5"),
}


@dataclass(frozen=True)
class Asked:
    """One request, as it came."""

    dialect: str
    model: str
    headers: dict[str, str]
    body: dict[str, Any]


class Upstream:
    """Answers each request by the next plan that was given, else by the plan for all, else as the test steers it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.root = self.url = ""
        self.requests: list[Asked] = []
        self.refused: list[str] = []
        self._loop = loop
        self._plans: deque[tuple[Step, ...]] = deque()
        self._always: tuple[Step, ...] | None = None
        self._asked: queue.Queue[Script] = queue.Queue()
        self._open: set[Answer] = set()
        self._settling = False

    @property
    def environment(self) -> dict[str, str]:
        """What a server is started with to ask here."""
        return {
            "OPENAI_BASE_URL": self.url,
            "OPENAI_API_KEY": "sk-org-test",
            "ANTHROPIC_BASE_URL": self.root,
            "ANTHROPIC_API_KEY": "sk-org-test",
            "COMPATIBLE_BASE_URL": self.url,
            "COMPATIBLE_API_KEY": "sk-org-test",
        }

    def next_answer(self) -> Script:
        """The next request that nobody answers yet, as soon as there is one."""
        return self._asked.get(timeout=PATIENCE)

    def plays(self, *steps: Step) -> None:
        """How one request to come is answered, after those that were told before."""
        self._plans.append(steps)

    def always(self, *steps: Step) -> None:
        """How every request is answered that no other plan is for."""
        self._always = steps

    def settle(self) -> None:
        """Brings everything to an end that is open, and that is asked for from now on until it is opened again."""
        self._settling = True
        asyncio.run_coroutine_threadsafe(self._settle(), self._loop).result(PATIENCE)

    def open_again(self) -> None:
        self._settling = False

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 2**20)
        for path in ("/v1/chat/completions", "/v1/responses", "/v1/messages"):
            app.router.add_post(path, self._handle)
        app.router.add_get("/v1/models", self._models)
        return app

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        dialect = DIALECTS[request.path.rpartition("/")[2]]
        body = await request.json()
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append(Asked(dialect, body["model"], headers, body))
        try:
            strict.check(dialect, headers, body)
        except ApiError as refusal:
            self.refused.append(str(refusal))
            return web.json_response(refusal.body, status=refusal.status)
        return await self._answered(Answer(request, dialect, body), body)

    async def _answered(self, answer: Answer, body: dict[str, Any]) -> web.StreamResponse:
        self._open.add(answer)
        try:
            await self._said(answer, body)
        finally:
            answer.gone.set()
            self._open.discard(answer)
            if answer.plan:
                answer.plan.cancel()
        return answer.response or web.Response(status=500)

    async def _said(self, answer: Answer, body: dict[str, Any]) -> None:
        steps = self._plans.popleft() if self._plans else self._always
        if self._settling:
            await answer.end_early()
        elif steps is None:
            self._asked.put(Script(answer, self._loop, body))
        else:
            answer.plan = asyncio.create_task(play(steps, answer))
        await answer.over.wait()

    async def _models(self, request: web.Request) -> web.Response:
        names = MODELS["anthropic" if "anthropic-version" in request.headers else "openai"]
        return web.json_response(
            {"object": "list", "data": [{"id": name} for name in names], "has_more": False}
        )

    async def _settle(self) -> None:
        self._plans.clear()
        self._always = None
        with suppress(queue.Empty):
            while True:
                self._asked.get_nowait()
        for answer in list(self._open):
            with suppress(Gone):
                await answer.end_early()
        for answer in list(self._open):
            await asyncio.wait_for(answer.gone.wait(), PATIENCE)


@contextmanager
def running() -> Iterator[Upstream]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="upstream")
    thread.start()
    upstream = Upstream(loop)
    runner = web.AppRunner(upstream.app(), access_log=None, shutdown_timeout=0.2, handler_cancellation=True)
    try:
        upstream.root = asyncio.run_coroutine_threadsafe(_listening(runner), loop).result(PATIENCE)
        upstream.url = f"{upstream.root}/v1"
        yield upstream
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()


async def _listening(runner: web.AppRunner) -> str:
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    return f"http://{host}:{port}"
