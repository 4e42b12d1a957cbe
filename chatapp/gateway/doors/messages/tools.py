"""The tools that a program offers, and which of them may be called."""

from __future__ import annotations

from typing import NamedTuple

from ....core.values import Json
from ....providers.base import Choice, ToolSpec
from ..given import Given

DIALECT = "messages"
CHOICES = {"auto": Choice.AUTO, "none": Choice.NONE, "any": Choice.REQUIRED, "tool": Choice.REQUIRED}


class Tools(NamedTuple):
    functions: tuple[ToolSpec, ...] = ()
    hosted: tuple[Json, ...] = ()
    choice: Choice | None = None
    call: str = ""
    parallel: bool | None = None


def tools_of(request: Given) -> Tools:
    rows = request.take("tools", Given.objects) or []
    functions = tuple(_function(row) for row in rows if _is_function(row))
    offered = Tools(functions, tuple(row.value for row in rows if not _is_function(row)))
    choice = request.at("tool_choice")
    return _chosen(offered, choice) if choice else offered


def _is_function(row: Given) -> bool:
    return row.says("type") in ("", "custom")


def _function(row: Given) -> ToolSpec:
    return ToolSpec(
        name=row.must("name").name(),
        description=row.says("description"),
        schema=row.must("input_schema").fields(),
        strict=row.take("strict", Given.flag),
        dialect=DIALECT,
        wire=row.value,
    )


def _chosen(offered: Tools, choice: Given) -> Tools:
    chosen = CHOICES[choice.must("type").one_of(CHOICES)]
    alone = choice.take("disable_parallel_tool_use", Given.flag)
    call = choice.must("name").name() if choice.value["type"] == "tool" else ""
    if chosen is Choice.REQUIRED:
        _demand(offered, choice, call)
    return offered._replace(choice=chosen, call=call, parallel=None if alone is None else not alone)


def _demand(offered: Tools, choice: Given, call: str) -> None:
    if not (offered.functions or offered.hosted):
        raise choice.wrong("demands a call, and no tools are offered")
    if call and not offered.hosted and call not in {tool.name for tool in offered.functions}:
        raise choice.wrong("names a tool that is not offered")
