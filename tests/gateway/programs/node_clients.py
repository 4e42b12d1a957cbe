"""Where clients made for node are: in a folder that NODE_CLIENTS names, outside of this one. They are never installed by a test."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

WANTED = (
    "openai @anthropic-ai/sdk zod @openai/codex @anthropic-ai/claude-code @assistant-ui/core assistant-cloud"
)


def node_clients(*packages: str) -> Path:
    """Skips the test, and says why, where node or one of them is missing."""
    folder = os.environ.get("NODE_CLIENTS")
    if not shutil.which("node"):
        pytest.skip("node is not installed: its clients do not knock")
    if not folder:
        pytest.skip(f"NODE_CLIENTS names no folder in which somebody has said: npm install {WANTED}")
    found = Path(folder).resolve()
    for package in packages:
        if not (found / "node_modules" / package).is_dir():
            pytest.skip(f"{package} is not in the folder that NODE_CLIENTS names: it does not knock")
    return found
