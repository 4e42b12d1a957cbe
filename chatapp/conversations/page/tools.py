"""The tools as a person switches them: in groups, each with a word on whether it asks, and what is allowed already."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from ...core.signs.visible import visible, visible_name
from ...store import names_of
from ...store.models import Conversation
from ...store.permissions.grants import holding, load_grants
from ...tools import Tool
from ...turns.engine import engine

# More than these are found by a field.
MANY = 12
GONE = "not here at the moment"
# Of what a server says of a tool; all of it stands where the tool asks.
ABOUT = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """`about`: what a server says that its tool does."""

    name: str
    title: str
    note: str
    about: str = ""
    server: str = ""
    is_on: bool = False


@dataclass(frozen=True, slots=True)
class ServerGroup:
    """The tools of one MCP server; without a name, the built-in ones."""

    server: str
    switches: tuple[Switch, ...]


@dataclass(frozen=True, slots=True)
class Allowed:
    """A tool that asks no more here. `holds`: it is still the one that was allowed."""

    tool: str
    name: str
    holds: bool


@dataclass(frozen=True, slots=True)
class ToolsShown:
    """`conversation`: None for one that is not there yet."""

    conversation: UUID | None
    groups: tuple[ServerGroup, ...]
    allowed: tuple[Allowed, ...] = ()

    @property
    def switches(self) -> list[Switch]:
        return [switch for group in self.groups for switch in group.switches]

    @property
    def on(self) -> int:
        return sum(switch.is_on for switch in self.switches)

    @property
    def are_many(self) -> bool:
        return len(self.switches) > MANY


def tools_of(conversation: Conversation) -> ToolsShown:
    tools, grants = engine().tools, load_grants(conversation.pk)
    allowed = holding(grants, conversation)
    free = {name for name, tool in tools.items() if allowed.get(name) == tool.fingerprint}
    rows = tuple(Allowed(row.tool, visible_name(row.tool), row.tool in free) for row in grants)
    return ToolsShown(conversation.pk, _server_groups(tools, names_of(conversation), free), rows)


def tools_to_begin_with(chosen: Collection[str] | None = None) -> ToolsShown:
    """Of a new conversation: those that were chosen in the form, else the usual ones."""
    tools = engine().tools
    on = [name for name, tool in tools.items() if tool.usual] if chosen is None else chosen
    return ToolsShown(None, _server_groups(tools, on, ()))


def _server_groups(
    tools: Mapping[str, Tool], on: Collection[str], free: Collection[str]
) -> tuple[ServerGroup, ...]:
    """What is on and not here any more comes first: somebody may look for it."""
    gone = [_tool_gone(name) for name in on if name not in tools]
    here = [_switch(tool, is_on=name in on, is_free=name in free) for name, tool in tools.items()]
    return tuple(_by_server([*gone, *here]))


def _by_server(switches: Sequence[Switch]) -> Iterable[ServerGroup]:
    in_order = sorted(switches, key=lambda switch: switch.server)
    for server, group in groupby(in_order, key=lambda switch: switch.server):
        yield ServerGroup(server, tuple(group))


def _tool_gone(name: str) -> Switch:
    server, _, own = name.rpartition(".")
    server = visible_name(server)
    return Switch(
        name=name, title=visible_name(own), note=_from_server(server, GONE), server=server, is_on=True
    )


def _switch(tool: Tool, *, is_on: bool, is_free: bool) -> Switch:
    own = tool.name.removeprefix(f"{tool.server}.") if tool.server else tool.name
    title = visible(tool.title) if tool.title and not tool.server else visible_name(own)
    asks = "never asks" if tool.safe else "allowed in this conversation" if is_free else "asks each time"
    return Switch(
        name=tool.name,
        title=title,
        note=_from_server(tool.server, asks),
        about=_about(tool.description) if tool.server else "",
        server=tool.server,
        is_on=is_on,
    )


def _about(description: str) -> str:
    line = description.strip().partition("\n")[0].strip()
    return visible(line if len(line) <= ABOUT else f"{line[:ABOUT]}…")


def _from_server(server: str, words: str) -> str:
    return f"from the MCP server “{server}”, {words}" if server else words
