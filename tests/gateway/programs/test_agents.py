"""Coding agents, unchanged: each does a small task with tools in a folder of its own, in front of each wire."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE

from .node_clients import node_clients
from .scripts import WIRES, thoughts_sent
from .talks import calls, thinks

MADE = "mkdir made && echo 'print(6 * 7)' > made/answer.py"
RUN = "python3 made/answer.py"


def task(tool: str, argument: str):
    """To make a file and run it, looking at it meanwhile."""

    def shell(line: str):
        return calls(tool, **{argument: line})

    turns = [
        {"items": [thinks("Make it"), shell(MADE)]},
        {"items": [thinks("Look and run"), shell("ls made"), shell(RUN)]},
        {"items": [thinks("Tell"), {"text": "Done. It printed: {{tool_output}}"}]},
    ]
    return {"turns": turns}


def done_by(command: list[str], folder: Path, **environment: str) -> str:
    """What it said at the end. It has a home of its own."""
    home = folder / "home"
    work = folder / "work"
    for each in (home, work):
        each.mkdir(exist_ok=True)
    environment |= {"HOME": str(home), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        command,
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (work / "made" / "answer.py").read_text() == "print(6 * 7)\n"
    return done.stdout


def asked_in_order(up) -> None:
    """Its own side talk is about other things, and offers no such tool."""
    requests = [request for request in up.requests() if request["scenario"] == "mine-task"]
    assert {request["status"] for request in requests} == {200}
    assert not any(request["notes"] for request in requests)
    assert [thoughts_sent(request["body"]) for request in requests][-3:] == [0, 1, 2]


@pytest.mark.parametrize("wire", WIRES)
def test_codex_does_its_task(served, key, up, tmp_path, wire):
    folder = node_clients("@openai/codex")
    up.add("mine-task", task("exec_command", "cmd"))
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(
        f"""
        model = "{WIRES[wire].format("scenario:mine-task")}"
        model_provider = "thoughtline"
        [model_providers.thoughtline]
        name = "Thoughtline"
        base_url = "{served.url}v1"
        env_key = "THOUGHTLINE_KEY"
        wire_api = "responses"
        """
    )
    command = [str(folder / "node_modules/.bin/codex"), "exec", "--skip-git-repo-check"]
    command += [
        "--dangerously-bypass-approvals-and-sandbox",
        "Make a program that knows the answer, and run it.",
    ]
    said = done_by(command, tmp_path, CODEX_HOME=str(home), THOUGHTLINE_KEY=key())
    assert "42" in said
    asked_in_order(up)


@pytest.mark.parametrize("wire", WIRES)
def test_claude_code_does_its_task(served, key, up, tmp_path, wire):
    folder = node_clients("@anthropic-ai/claude-code")
    up.add("mine-task", task("Bash", "command"))
    model = WIRES[wire].format("scenario:mine-task")
    command = [str(folder / "node_modules/.bin/claude"), "--print", "--model", model]
    command += ["--allowedTools", "Bash", "--", "Make a program that knows the answer, and run it."]
    said = done_by(
        command,
        tmp_path,
        ANTHROPIC_BASE_URL=served.url.rstrip("/"),
        ANTHROPIC_AUTH_TOKEN=key(),
        ANTHROPIC_SMALL_FAST_MODEL=model,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        DISABLE_AUTOUPDATER="1",
    )
    assert "42" in said
    asked_in_order(up)
