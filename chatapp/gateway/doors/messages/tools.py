"""The tools that a program offers, and which of them may be called."""

from __future__ import annotations

from ....providers.base import Choice, ToolSpec
from ..given import Given
from ..tools import Tools

DIALECT = "messages"
NAMED = "tool"
CHOICES = {"auto": Choice.AUTO, "none": Choice.NONE, "any": Choice.REQUIRED, NAMED: Choice.REQUIRED}


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
    word = choice.must("type").one_of(CHOICES)
    chosen = offered.named(choice) if word == NAMED else offered.chosen(CHOICES[word], choice)
    alone = choice.take("disable_parallel_tool_use", Given.flag)
    return chosen if alone is None else chosen._replace(parallel=not alone)
