"""Serves the product from one process: makes what is missing, says what is set up, and listens."""

from __future__ import annotations

import errno
import gc
import socket
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor

from chatapp import local_model
from chatapp.environment import Misconfigured
from chatapp.store import accounts
from chatapp.web.static_files import collect_when_changed

EVERYWHERE = ("0.0.0.0", "::")


class Command(BaseCommand):
    help = "Serve Thoughtline until it is stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        host = host.strip("[]")
        _refuse_what_cannot_be_listened_to(host, port)
        _make_what_is_missing()
        if host not in EVERYWHERE:
            settings.ALLOWED_HOSTS.append(f"[{host}]" if ":" in host else host)
        self._serve(host, port)

    def _serve(self, host: str, port: int) -> None:
        # The pages are loaded only now, with the settings as they have become.
        from chatapp.asgi import application

        endpoints = build_endpoint_description_strings(host=host, port=port)
        server = Server(application, endpoints=endpoints, server_name="")
        # What is loaded by now stays: looking through it again and again would hold up every stream.
        gc.collect()
        gc.freeze()
        server.ready_callable = lambda: self._tell(server.listening_addresses)
        server.run()
        if not server.listening_addresses:
            raise Misconfigured(_taken(host, port))

    def _tell(self, addresses: list[tuple[str, int]]) -> None:
        for host, port in addresses:
            self.stdout.write("\n".join(_words(host, port)))
        self.stdout.flush()


def _refuse_what_cannot_be_listened_to(host: str, port: int) -> None:
    if not 0 <= port < 65536:
        raise Misconfigured(f"{port} is no port; it must be a number from 1 to 65535.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise Misconfigured(_refusal(error, host, port)) from None


def _refusal(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return _taken(host, port)
    if error.errno == errno.EACCES:
        return f"Port {port} may not be used by this account; try ./start --port 8000."
    return f"{host} is no address of this machine."


def _taken(host: str, port: int) -> str:
    return f"Port {port} on {host} is in use by another program; try ./start --port {port + 1}."


def _make_what_is_missing() -> None:
    collect_when_changed()
    try:
        _connect_once()
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", interactive=False, verbosity=0)
    except Error as error:
        raise Misconfigured(f"The database cannot be used: {str(error).strip().splitlines()[0]}") from None
    if settings.LOCAL_MODEL:
        local_model.start_beside(settings.DATA_DIR)


def _connect_once() -> None:
    """Past the pool, which would try for seconds and then tell nothing of the cause."""
    alone = connection.copy()
    alone.settings_dict["OPTIONS"].pop("pool", None)
    alone.ensure_connection()
    alone.close()


def _words(host: str, port: int) -> Iterator[str]:
    yield from _address(host, port)
    yield from ("", "Models", *(f"  {line}" for line in _models()), "")
    yield f"Data is kept in {settings.DATA_DIR} with {connection.display_name}. Stop with Ctrl-C."


def _address(host: str, port: int) -> Iterator[str]:
    name = "localhost" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    here = f"http://{name}:{port}/"
    if settings.PUBLIC_URL:
        yield f"Thoughtline is at {settings.PUBLIC_URL}/ (its proxy finds it at {here})"
    else:
        yield f"Thoughtline is at {here}"
    if host in EVERYWHERE:
        yield f"Other machines reach it by these names (ALLOWED_HOSTS): {', '.join(settings.ALLOWED_HOSTS)}"
    if accounts.is_empty():
        yield "Create the first account there: it becomes the administrator."


def _models() -> Iterator[str]:
    yield from (f"{endpoint.label} at {endpoint.base_url}" for endpoint in settings.PROVIDERS)
    yield "Demo, built in"
    if settings.LOCAL_MODEL:
        yield local_model.state(settings.DATA_DIR).sentence
    else:
        yield "No local model (LOCAL_MODEL=0)"
    yield from settings.INCOMPLETE_PROVIDERS
