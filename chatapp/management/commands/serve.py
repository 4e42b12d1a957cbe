"""Serves the product from one process: makes what is missing, says what is set up, and listens."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import os
import resource
import socket
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from daphne.endpoints import build_endpoint_description_strings
from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connection

from chatapp.accounts.store import first_account
from chatapp.config.environment import Misconfigured
from chatapp.config.logs import hear_of_lost_exceptions
from chatapp.live.outbox import PIECE
from chatapp.management import tables
from chatapp.management.direct import write_directly
from chatapp.pages.door.draining import DrainingServer
from chatapp.pages.static_files import prepare_static_files
from chatapp.processes import children, memory
from chatapp.processes.itself import ITSELF, Task
from chatapp.providers import local as local_model
from chatapp.turns.engine import engine

if TYPE_CHECKING:
    from chatapp.asgi import AwakeAtFirstScope

EVERYWHERE = ("0.0.0.0", "::")
# Whoever opens a thousand connections at once must not keep the next one waiting for seconds.
BACKLOG = 4096
# What a socket is told, of four octets a sign; and what it may say at once, in octets.
LONGEST_MESSAGE, LONGEST_WORD = 4 * (PIECE + 1), 1024
# A proxy asks each second whether it is ready; one that is alone is missed by nobody's looking elsewhere.
NOTICE_SECONDS = 3
# So long the one process lets requests come to their end; with the answers it goes on at its next start.
PAGES_SECONDS = 5
FIRST_ACCOUNT = "Create the first account there: it becomes the administrator."
# A thread that draws a page hands over to the loop, which has letters to bring, after so many seconds: Python's own 5 ms are a
# third of a first letter's way.
HANDED_OVER = 0.0005


class Command(BaseCommand):
    help = "Serve Thoughtline until it is stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        if settings.REDIS_URL:
            ITSELF.task = Task.SERVES
        memory.share_between_threads()
        hear_of_lost_exceptions()
        _take_many_connections()
        host = host.strip("[]")
        _refuse_what_cannot_be_listened_to(host, port)
        _make_what_is_missing()
        if host not in EVERYWHERE:
            settings.ALLOWED_HOSTS.append(f"[{host}]" if ":" in host else host)
        self._serve(host, port)

    def _serve(self, host: str, port: int) -> None:
        # The pages are loaded only now, with the settings as they have become.
        from chatapp.asgi import application

        plain = build_endpoint_description_strings(host=host, port=port)
        endpoints = [f"{endpoint}:backlog={BACKLOG}" for endpoint in plain]
        server = DrainingServer(
            application,
            notice=NOTICE_SECONDS if settings.REDIS_URL else 0,
            seconds=settings.DRAIN_SECONDS if settings.REDIS_URL else PAGES_SECONDS,
            afterwards=_close_engine,
            endpoints=endpoints,
            server_name="",
            # It is measured by the clock on the wall, and a clock that is set must close nobody's page.
            websocket_timeout=-1,
            websocket_max_message_size=LONGEST_MESSAGE,
            websocket_max_frame_size=LONGEST_WORD,
        )
        # What is loaded by now stays: looking through it again and again would hold up every stream.
        gc.collect()
        gc.freeze()
        memory.give_back()
        write_directly()
        sys.setswitchinterval(HANDED_OVER)
        server.ready_callable = lambda: self._listens(server, application)
        server.run()
        if not server.listening_addresses:
            raise Misconfigured(_port_in_use(host, port))
        self.stdout.flush()
        _end()

    def _listens(self, server: DrainingServer, application: AwakeAtFirstScope) -> None:
        # Turns that a dead process left go on now, also when nobody comes. The loop begins to run after this.
        self._waking = asyncio.get_event_loop().create_task(application.wake())
        self._tell(server.listening_addresses)

    def _tell(self, addresses: list[tuple[str, int]]) -> None:
        for host, port in addresses:
            self.stdout.write("\n".join(_greeting(host, port)))
        self.stdout.flush()


def _end() -> NoReturn:
    """A thread that makes a page may wait for the loop, which has ended: Python would wait for it for ever."""
    children.end_all()
    os._exit(0)


async def _close_engine() -> None:
    """Where others go on with what this process began, they hear of its end."""
    if settings.REDIS_URL:
        await engine().close()


def _take_many_connections() -> None:
    """As many as the system lets us have: its usual thousand is less than one visitor can open."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _refuse_what_cannot_be_listened_to(host: str, port: int) -> None:
    if not host:
        raise Misconfigured("--host is empty; it must be an address of this machine, like 127.0.0.1.")
    if not 0 < port < 65536:
        raise Misconfigured(f"{port} is no port; it must be a number from 1 to 65535.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise Misconfigured(why_not_there(error, host, port)) from None


def why_not_there(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return _port_in_use(host, port)
    if error.errno == errno.EACCES:
        return f"Port {port} may not be used by this account; try --port 8000."
    return f"{host} is no address of this machine."


def _port_in_use(host: str, port: int) -> str:
    return f"Port {port} on {host} is in use by another program; try --port {port + 1}."


def _make_what_is_missing() -> None:
    try:
        prepare_static_files()
        tables.bring_up_to_date(apart=True)
        if settings.LOCAL_MODEL:
            local_model.start_beside(settings.DATA_DIR)
    except OSError as error:
        raise Misconfigured(tables.unusable(error)) from None


def _greeting(host: str, port: int) -> Iterator[str]:
    yield from _where_it_is(host, port)
    yield from ("", "Models", *(f"  {line}" for line in _which_models()), "")
    yield f"Data is kept in {settings.DATA_DIR} with {connection.display_name}. Stop with Ctrl-C."


def _where_it_is(host: str, port: int) -> Iterator[str]:
    name = "localhost" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    here = f"http://{name}:{port}/"
    if settings.PUBLIC_URL:
        yield f"Thoughtline is at {settings.PUBLIC_URL}/ (its proxy finds it at {here})"
    else:
        yield f"Thoughtline is at {here}"
    if host in EVERYWHERE:
        yield "Other machines reach it only by a name or address that ALLOWED_HOSTS lists."
        yield f"These are allowed: {', '.join(settings.ALLOWED_HOSTS)}"
    if code := first_account.load_code():
        yield FIRST_ACCOUNT
        yield f"From elsewhere, or through a proxy, that takes this code: {code}"


def _which_models() -> Iterator[str]:
    yield from (f"{endpoint.label} at {endpoint.base_url}" for endpoint in settings.PROVIDERS)
    yield "Demo, built in"
    if settings.LOCAL_MODEL:
        yield local_model.model_state(settings.DATA_DIR).sentence
    else:
        yield "No local model (LOCAL_MODEL=0)"
    yield from settings.INCOMPLETE_PROVIDERS
