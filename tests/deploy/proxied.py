"""Real servers behind the real proxy, with the configuration of `deploy/` as it is and a certificate of its own: two that serve pages
and two that run turns, on PostgreSQL and Redis, where both answer here; else one that does everything."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

import httpx

from tests.browser.served import Served, with_tables
from tests.support.patience import PATIENCE
from tests.support.shell import ROOT

CADDYFILE = ROOT / "deploy/Caddyfile"
SUBJECT = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
KEY_KIND = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")


class Proxied:
    def __init__(
        self, folder: Path, servers: list[Served], workers: list[Worker], environment: dict[str, str]
    ) -> None:
        self.servers, self.workers = servers, workers
        self.url, self.plain_url = environment["PUBLIC_URL"], environment["PLAIN_URL"]
        self.trust = ssl.create_default_context(cafile=str(folder / "cert.pem"))
        self.clerk = servers[0].clerk

    def visitor(self, session: str = "") -> httpx.Client:
        """A browser without scripts. Redirects are its own to follow."""
        cookies = {"csrftoken": "t" * 32} | ({"sessionid": session} if session else {})
        headers = {"Referer": f"{self.url}/", "X-CSRFToken": "t" * 32}
        return httpx.Client(
            base_url=self.url, verify=self.trust, cookies=cookies, headers=headers, timeout=PATIENCE
        )

    @contextmanager
    def database_away(self) -> Iterator[None]:
        """The server of databases ends who is there and lets nobody in."""
        import psycopg

        with psycopg.connect(f"{POSTGRESQL}/postgres", autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {DATABASE} ALLOW_CONNECTIONS false")
            try:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [DATABASE]
                )
                yield
            finally:
                connection.execute(f"ALTER DATABASE {DATABASE} ALLOW_CONNECTIONS true")


class Worker(Served):
    """Runs turns, and listens to nobody."""

    LISTENS = "Turns run here as "

    def command(self, port: int) -> list[str]:
        return [sys.executable, "manage.py", "work"]


@contextmanager
def proxied(folder: Path) -> Iterator[Proxied]:
    https, http = free_port(), free_port()
    url = f"https://localhost:{https}"
    with ExitStack() as running:
        shared = running.enter_context(databases())
        everywhere = shared | {
            "PUBLIC_URL": url,
            "DRAIN_SECONDS": "20",
            "STATIC_SHARED_DIR": str(folder / "static"),
        }
        servers = [
            Served(_made(folder / name), **everywhere) for name in ("web-1", "web-2")[: 2 if shared else 1]
        ]
        workers = [Worker(_made(folder / name), **everywhere) for name in ("work-1", "work-2") if shared]
        if shared:
            servers[0].manage("migrate", "--no-input", "--verbosity=0")
        else:
            with_tables(folder / "web-1")
        for each in (*servers, *workers):
            running.callback(each.stop)
        with ThreadPoolExecutor() as together:
            list(together.map(Served.start, [*servers, *workers]))
        settings = {
            "PUBLIC_URL": url,
            "PLAIN_URL": f"http://localhost:{http}",
            "SERVERS": " ".join(f"localhost:{server.port}" for server in servers),
            "HTTP_PORT": str(http),
            "TLS": f"tls {folder}/cert.pem {folder}/key.pem",
        }
        running.enter_context(caddy(folder, settings))
        yield Proxied(folder, servers, workers, settings)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    """A database of its own, and what names it; nothing where PostgreSQL or Redis is not here."""
    if not (REDIS_HERE and POSTGRESQL_HERE):
        yield {}
        return
    import psycopg

    with psycopg.connect(f"{POSTGRESQL}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {DATABASE}")
        try:
            yield {
                "DATABASE_URL": f"{POSTGRESQL}/{DATABASE}",
                "REDIS_URL": REDIS,
                "SECRET_KEY": secrets.token_urlsafe(50),
            }
        finally:
            connection.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


def _answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


POSTGRESQL, REDIS = "postgres://postgres@127.0.0.1:5432", "redis://127.0.0.1:6379/9"
DATABASE = f"thoughtline_proxied_{os.getpid()}"
POSTGRESQL_HERE = _answers(5432) and find_spec("psycopg") is not None
REDIS_HERE = _answers(6379) and find_spec("procrastinate") is not None


@contextmanager
def caddy(folder: Path, settings: dict[str, str]) -> Iterator[None]:
    make_certificate(folder)
    with (folder / "proxy.log").open("w") as log:
        process = subprocess.Popen(
            caddy_command("run"), env=caddy_environment(folder, settings), stdout=log, stderr=log
        )
    try:
        _until_it_listens(int(settings["PUBLIC_URL"].rpartition(":")[2]), folder / "proxy.log")
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def caddy_command(what: str) -> list[str]:
    program = shutil.which("caddy")
    assert program
    return [program, what, "--adapter", "caddyfile", "--config", str(CADDYFILE)]


def caddy_environment(folder: Path, settings: dict[str, str]) -> dict[str, str]:
    homes = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    return {"PATH": os.environ["PATH"]} | homes | settings


def make_certificate(folder: Path) -> None:
    files = ("-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"))
    command = ["openssl", "req", "-x509", *KEY_KIND, "-nodes", "-days", "2", *files, *SUBJECT]
    subprocess.run(command, check=True, capture_output=True)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


def _until_it_listens(port: int, log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with socket.socket() as tried:
            if not tried.connect_ex(("localhost", port)):
                return
        time.sleep(0.05)
    raise AssertionError(log.read_text())
