"""Stands in for the local model in tests: the same process with the same life, and a server that only says who it is.

Its arguments: its version, how long it stays when nobody needs it, and how it behaves."""

from __future__ import annotations

import json
import signal
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from chatapp.providers.local.install import CannotInstall
from chatapp.providers.local.process import main

VERSION, GRACE, BEHAVIOUR = sys.argv[1:4]


def prepare() -> None:
    if BEHAVIOUR == "cannot-install":
        raise CannotInstall("The local model could not be installed: no index.")


def serve(identity: str, key: str) -> tuple[object, int]:
    if BEHAVIOUR == "cannot-load":
        raise RuntimeError("its file is broken")
    if BEHAVIOUR == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    server = HTTPServer(("127.0.0.1", 0), _handler(identity, key))
    if BEHAVIOUR == "deaf":
        server.server_close()
    else:
        Thread(target=server.serve_forever, daemon=True).start()
    return server, server.server_port


def _handler(identity: str, key: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = self.headers["Authorization"] == f"Bearer {key}"
            self.send_response(200 if known else 401)
            self.end_headers()
            self.wfile.write(json.dumps({"data": [{"tags": [identity]}]} if known else {}).encode())

        def log_message(self, *words: object) -> None:
            pass

    return Handler


del sys.argv[1:4]
main(prepare=prepare, serve=serve, version=VERSION, grace=float(GRACE), pulse=0.02)
