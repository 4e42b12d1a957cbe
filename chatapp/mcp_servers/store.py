"""Servers of tools, and their tools as they were described last."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F

from ..tools.mcp.as_tool import fingerprint_of
from ..tools.mcp.full_name import full_name
from ..tools.mcp.offered import Offered
from .models import McpServer, McpTool


@dataclass(frozen=True, slots=True)
class ServerRow:
    """What a connection depends on, and by `revision` everything else."""

    pk: int
    name: str
    url: str
    key_variable: str
    private_network: bool
    is_on: bool
    revision: int

    @property
    def place(self) -> tuple[object, ...]:
        return (self.name, self.url, self.key_variable, self.private_network, self.is_on)


def register_commands(names: Iterable[str]) -> None:
    """A row for each server of MCP_SERVERS_FILE; one that staff gave an address under that name stays as it is."""
    McpServer.objects.bulk_create([McpServer(name=name) for name in names], ignore_conflicts=True)


def load_servers() -> list[ServerRow]:
    fields = ("pk", "name", "url", "key_variable", "private_network", "is_on", "revision")
    return [ServerRow(*values) for values in McpServer.objects.order_by("name").values_list(*fields)]


def load_tools() -> list[McpTool]:
    """Those that may be offered."""
    rows = McpTool.objects.filter(is_on=True, is_listed=True, server__is_on=True)
    return list(rows.select_related("server").order_by("server__name", "name"))


@transaction.atomic
def save_offered(server: ServerRow, offered: Sequence[Offered]) -> None:
    """What a server lists now. What staff said of a tool stays, for as long as it describes itself as it did then."""
    mine = McpServer.objects.select_for_update().filter(pk=server.pk, url=server.url).first()
    if mine is None:
        return
    known = {tool.name: tool for tool in mine.tools.all()}
    changed = [_save(mine, known.pop(one.name, None), one) for one in offered]
    if sum([*changed, _leave_out(mine, known)]):
        _rise(mine.pk)


def _save(server: McpServer, row: McpTool | None, offered: Offered) -> bool:
    described = {
        "description": offered.description,
        "schema": dict(offered.schema),
        "hints": offered.hints,
        "fingerprint": fingerprint_of(server.name, offered),
        "is_listed": True,
    }
    if row is not None and all(getattr(row, name) == value for name, value in described.items()):
        return False
    McpTool.objects.update_or_create(server=server, name=offered.name, defaults=described)
    return True


def _leave_out(server: McpServer, gone: Mapping[str, McpTool]) -> int:
    """A tool that nobody said anything of is forgotten."""
    rows = McpTool.objects.filter(server=server, name__in=gone, is_listed=True)
    forgotten, _ = rows.filter(judged="", is_on=True, in_new_conversations=False).delete()
    return forgotten + rows.update(is_listed=False)


@transaction.atomic
def save_server(server: McpServer) -> None:
    """At another address nothing has been said of the tools."""
    before = McpServer.objects.select_for_update().filter(pk=server.pk).first()
    server.revision = before.revision if before else 0
    server.save()
    if before and before.url != server.url:
        server.tools.update(judged="")
    _rise(server.pk)


@transaction.atomic
def judge_tool(tool: int, *, seen: str, **said: bool) -> bool:
    """What staff say of a tool, having seen it with this fingerprint. False where it is another by now."""
    rows = McpTool.objects.select_for_update().filter(pk=tool)
    known = {name: said[name] for name in ("safe", "idempotent", "is_on", "in_new_conversations")}
    if not rows.update(**known, judged=seen):
        return False
    row = rows.get()
    _rise(row.server_id)
    return row.fingerprint == seen


@transaction.atomic
def save_at_start(names: Collection[str]) -> None:
    """Of tools by their full names: new conversations begin with these, and with no others of servers."""
    rows = McpTool.objects.select_for_update(of=("self",)).select_related("server")
    for row in rows.filter(is_listed=True, is_on=True, server__is_on=True):
        wanted = full_name(row.server.name, row.name) in names
        if wanted != row.in_new_conversations:
            McpTool.objects.filter(pk=row.pk).update(in_new_conversations=wanted)
            _rise(row.server_id)


def _rise(server: int) -> None:
    McpServer.objects.filter(pk=server).update(revision=F("revision") + 1)
