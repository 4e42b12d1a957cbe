"""MCP_SERVERS_FILE is understood, or refused in one sentence that repeats no secret."""

from __future__ import annotations

import json

import pytest

from chatapp.config.environment import Misconfigured
from chatapp.tools.mcp.file import commands_in, secrets_of
from chatapp.tools.mcp.server_place import ServerCommand

BESIDE = {"PATH": "/bin"}


def read(tmp_path, text):
    file = tmp_path / "servers.json"
    file.write_text(text if isinstance(text, str) else json.dumps(text))
    return commands_in(file, BESIDE)


def test_without_a_file_there_is_no_command():
    assert commands_in(None, BESIDE) == {}


def test_a_command_has_its_arguments_and_an_environment_of_its_own(tmp_path):
    entry = {"command": "npx", "args": ["-y", "files"], "env": {"FILES_TOKEN": "canary"}, "disabled": False}
    commands = read(tmp_path, {"mcpServers": {"files": entry, "plain": {"command": "plain"}}})
    assert commands == {
        "files": ServerCommand("npx", ("-y", "files"), {"PATH": "/bin", "FILES_TOKEN": "canary"}),
        "plain": ServerCommand("plain", (), {"PATH": "/bin"}),
    }
    assert secrets_of(commands) == ["canary"]
    assert "canary" not in repr(commands)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", 'has no object "mcpServers"'),
        ({"mcpServers": []}, 'has no object "mcpServers"'),
        ({"mcpServers": {"My_Server": {"command": "x"}}}, "names a server 'My_Server'"),
        ({"mcpServers": {"a" * 33: {"command": "x"}}}, "names a server"),
        ({"mcpServers": {"files": "npx canary"}}, "gives the server 'files' no command"),
        ({"mcpServers": {"files": {"command": " "}}}, "gives the server 'files' no command"),
        ({"mcpServers": {"files": {"command": "a\0b"}}}, "gives the server 'files' no command"),
        ({"mcpServers": {"files": {"url": "https://canary"}}}, "servers over HTTP are added at /admin/"),
        (
            {"mcpServers": {"files": {"command": "x", "args": "canary"}}},
            "arguments that are not a list of texts",
        ),
        ({"mcpServers": {"files": {"command": "x", "args": [1]}}}, "arguments that are not a list of texts"),
        ({"mcpServers": {"files": {"command": "x", "env": {"A": 1}}}}, "an environment that is not made of"),
        ({"mcpServers": {"files": {"command": "x", "env": {"A=B": "canary"}}}}, "an environment that is not"),
        ({"mcpServers": {"files": {"command": "x", "env": {"A": "\ud800"}}}}, "an environment that is not"),
    ],
)
def test_a_wrong_file_is_refused_in_a_sentence(tmp_path, text, words):
    with pytest.raises(Misconfigured) as refusal:
        read(tmp_path, text)
    sentence = str(refusal.value)
    assert words in sentence and sentence.startswith("The file of MCP_SERVERS_FILE ")
    assert "canary" not in sentence and "\n" not in sentence
