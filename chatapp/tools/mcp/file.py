"""Reads MCP_SERVERS_FILE, in the format that MCP's programs share."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...config.environment import Misconfigured
from .server_place import ServerCommand

SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.IGNORECASE)
SERVER_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")


def commands_in(path: Path | None, beside: Mapping[str, str]) -> dict[str, ServerCommand]:
    """The commands by the names of their servers, each with its own environment and what stands `beside` it.
    Misconfigured says what is wrong with the file, never what it holds."""
    if path is None:
        return {}
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise _wrong("is not JSON") from None
    servers = written.get("mcpServers") if isinstance(written, dict) else None
    if not isinstance(servers, dict):
        raise _wrong('has no object "mcpServers"')
    return {name: _command(name, entry, beside) for name, entry in servers.items()}


def secrets_of(commands: Mapping[str, ServerCommand]) -> list[str]:
    """What must not get into a log."""
    return [
        value
        for command in commands.values()
        for name, value in command.environment.items()
        if SECRET_NAME.search(name)
    ]


def _command(name: str, entry: Any, beside: Mapping[str, str]) -> ServerCommand:
    if not SERVER_NAME.fullmatch(name):
        raise _wrong(
            f"names a server {name!r}; a name has small letters, digits and hyphens, begins with a letter and is short"
        )
    if not isinstance(entry, dict) or not _is_text(entry.get("command")):
        more = (
            "; servers over HTTP are added at /admin/" if isinstance(entry, dict) and "url" in entry else ""
        )
        raise _wrong(f"gives the server {name!r} no command{more}")
    arguments, environment = entry.get("args", []), entry.get("env", {})
    if not isinstance(arguments, list) or not all(map(_is_word, arguments)):
        raise _wrong(f"gives the server {name!r} arguments that are not a list of texts")
    if not isinstance(environment, dict) or not all(map(_is_variable, environment, environment.values())):
        raise _wrong(f"gives the server {name!r} an environment that is not made of names and texts")
    return ServerCommand(entry["command"], tuple(arguments), {**beside, **environment})


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value and value.encode(errors="ignore").decode() == value


def _is_text(value: Any) -> bool:
    return _is_word(value) and bool(value.strip())


def _is_variable(name: str, value: Any) -> bool:
    return _is_text(name) and "=" not in name and _is_word(value)


def _wrong(words: str) -> Misconfigured:
    return Misconfigured(f"The file of MCP_SERVERS_FILE {words}.")
