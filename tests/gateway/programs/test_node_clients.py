"""The official clients for node, unchanged, with their helpers, at every door in front of each wire."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE

from .ending import SOON, ended_after
from .node_clients import node_clients
from .scripts import PERSON, WIRES, model

HERE = Path(__file__).parent
ANSWER = "It says: sunny in Zürich"


@pytest.mark.parametrize("wire", WIRES)
def test_they_understand_every_door(served, key, up, wire):
    folder = node_clients("openai", "@anthropic-ai/sdk", "zod")
    names = {"WEATHER": "weather", "PERSON": "person", "SLOW": "slow"}
    models = {name: model(up, wire, script) for name, script in names.items()}
    said = json.loads(run(folder, URL_OF_HOUSE=served.url, KEY=key(), **models))
    gone = said.pop("who hangs up")
    assert said == {
        "chat completions run tools": ANSWER,
        "chat completions are parsed": PERSON,
        "responses with tools": ANSWER,
        "responses are parsed": PERSON,
        "messages run tools": ANSWER,
        "messages in a stream": ["thinking", "text"],
        "tokens and models": True,
        "errors of their own classes": True,
    }
    assert ended_after(up, gone, "mine-sdk-slow") < SOON


def run(folder: Path, **environment: str) -> str:
    command = ["node", str(HERE / "node_clients.mjs")]
    environment |= {"FOLDER": str(folder), "PATH": os.environ["PATH"]}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout
