"""The tools that a program offers, in the new form and the old, and which of them may be called."""

from __future__ import annotations

from typing import Any

from ....core.values import Json
from ....providers.base import Choice, ToolSpec
from ..given import Given
from ..tools import Tools

CHOICES = {
    "auto": Choice.AUTO,
    "none": Choice.NONE,
    "required": Choice.REQUIRED,
    # Mistral's word.
    "any": Choice.REQUIRED,
}
DIALECT = "chat"


def is_legacy(body: Any) -> bool:
    """Whether calls are told in the old form, which has one call in a message and no id."""
    return bool(body.get("functions")) and not body.get("tools")


def tools_of(request: Given) -> Tools:
    _check(request)
    if is_legacy(request.value):
        return _legacy_tools(request)
    rows = request.take("tools", Given.objects) or []
    functions = tuple(_function(row) for row in rows if _is_function(row))
    offered = Tools(
        functions,
        hosted=tuple(row.value for row in rows if not _is_function(row)),
        parallel=request.take("parallel_tool_calls", Given.flag),
    )
    choice = request.at("tool_choice")
    return _chosen(offered, choice) if choice else offered


def _check(request: Given) -> None:
    """Also what means nothing, since the other form is told or none: it is what the page says it is."""
    request.take("functions", Given.objects)
    request.take("parallel_tool_calls", Given.flag)
    for name in ("tool_choice", "function_call"):
        request.take(name, lambda choice: choice.text() if isinstance(choice.value, str) else choice.fields())


def _is_function(row: Given) -> bool:
    return row.must("type").name() == "function"


def _function(row: Given) -> ToolSpec:
    return _spec(row.must("function"), row.value)


def _spec(function: Given, wire: Json) -> ToolSpec:
    return ToolSpec(
        name=function.must("name").name(),
        description=function.says("description"),
        schema=function.take("parameters", Given.fields) or {"type": "object", "properties": {}},
        strict=function.take("strict", Given.flag),
        dialect=DIALECT,
        wire=wire,
    )


def _legacy_tools(request: Given) -> Tools:
    rows = request.must("functions").objects()
    specs = tuple(_spec(row, {"type": "function", "function": row.value}) for row in rows)
    offered, choice = Tools(specs, parallel=False), request.at("function_call")
    if choice is None:
        return offered
    return _by_word(offered, choice) if isinstance(choice.value, str) else offered.named(choice)


def _chosen(offered: Tools, choice: Given) -> Tools:
    if isinstance(choice.value, str):
        return _by_word(offered, choice)
    match choice.must("type").value:
        case "allowed_tools":
            return _allowed(offered, choice.at("allowed_tools") or choice)
        case str(kind):
            return offered.named(choice.at(kind) or choice)
        case _:
            raise choice.wrong("names no kind of tool")


def _by_word(offered: Tools, choice: Given) -> Tools:
    return offered.chosen(CHOICES[choice.one_of(CHOICES)], choice)


def _allowed(offered: Tools, given: Given) -> Tools:
    """Others are not shown to the model."""
    names = {_name_in(row) for row in given.must("tools").objects()}
    functions = tuple(tool for tool in offered.functions if tool.name in names)
    return _by_word(offered._replace(functions=functions), given.must("mode"))


def _name_in(row: Given) -> str:
    return row.says("name") or (row.at("function") or row).says("name")
