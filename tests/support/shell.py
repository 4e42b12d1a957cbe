"""Commands as people type them, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from .patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


class Shell:
    """Commands of manage.py on a database of their own."""

    def __init__(self, folder: Path) -> None:
        kept = {
            name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))
        }
        self.environment = kept | {
            "DATA_DIR": str(folder),
            "LOCAL_MODEL": "0",
            "DJANGO_SETTINGS_MODULE": "chatapp.settings",
        }
        for name in ("DATABASE_URL", "REDIS_URL"):
            self.environment.pop(name, None)

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "manage.py", *words]

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words),
            cwd=ROOT,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def lines(self, *words: str) -> list[dict]:
        ended = self.run("ask", *words, "--json")
        assert ended.returncode == 0, ended.stderr
        return [json.loads(line) for line in ended.stdout.splitlines()]
