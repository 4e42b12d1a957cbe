"""What a server loads that nobody here speaks: nothing of it."""

from __future__ import annotations

import os
import subprocess
import sys

LOADED = "import sys, chatapp.asgi; print(*(name for name, module in sys.modules.items() if module))"


def run(code, folder):
    environment = os.environ | {"DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "chatapp.settings"}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )


def test_the_pages_are_served_without_tls_and_wamp(tmp_path):
    loaded = set(run(LOADED, tmp_path).stdout.split())
    assert "daphne.server" in loaded and "autobahn.twisted.websocket" in loaded
    assert loaded.isdisjoint({"OpenSSL", "cryptography", "autobahn.twisted", "autobahn.twisted.wamp"})


def test_whoever_wants_them_later_gets_them_whole(tmp_path):
    later = "import chatapp.asgi, autobahn.twisted; print(autobahn.twisted.WebSocketServerFactory.__name__)"
    assert run(later, tmp_path).stdout.strip() == "WebSocketServerFactory"
