"""Where a server is: a command that is started here, or an address; and how much it may send at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import token_hex

FRAME = 8 * 1024 * 1024
# A message within the limit that is nothing but brackets would hold up everybody while it is read.
PIECES = 200_000
# What our own transport says in the place of a server that no longer knows a session: no server can know these words.
FORGOTTEN = token_hex(16)
TOO_LONG = f"It sent a message of more than {FRAME // 1024 // 1024} MiB."
TOO_MANY = "It sent a message of too many pieces."


class Problem(Exception):
    """Says in one sentence what is wrong with a server."""


class Forgotten(Problem):
    """The session is over, and what was asked was not done."""


class Lost(Problem):
    """The call went out, and what came of it is not known."""


class ToolFailed(Problem):
    """A tool's own words."""


def pieces(data: bytes) -> int:
    """About how many values there are in this JSON."""
    return data.count(b",") + data.count(b"[") + data.count(b"{")


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """`environment` is all that it gets."""

    program: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """`private`: it may be in this network or on this machine. `key` is sent as a bearer token."""

    url: str
    private: bool = False
    key: str = field(default="", repr=False)


ServerPlace = ServerCommand | ServerAddress
