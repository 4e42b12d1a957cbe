"""The tools of a request, and which of them the model may call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ....providers.base import Choice, ToolSpec
from ..door import Wrong
from .fields import Fields
from .names import one_name

DIALECT = "responses"
FUNCTION, NAMESPACE = "function", "namespace"
NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}}
# What tells two tools of one kind apart.
TOLD_BY = ("name", "server_label", "namespace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """`raw`: a choice that only the dialect itself can word."""

    tools: tuple[ToolSpec, ...] = ()
    hosted: tuple[Mapping[str, Any], ...] = ()
    choice: Choice | None = None
    call: str = ""
    raw: Any = None


def offer_in(body: Fields) -> Offer:
    rows = list(body.rows("tools"))
    for row in rows:
        row.name("type")
    chosen = body.values.get("tool_choice")
    match chosen:
        case None | str():
            return _offer(rows, choice=_choice(body))
        case dict():
            return _chosen(rows, body.inner("tool_choice"))
        case _:
            raise body.mistyped("tool_choice", "a string or an object")


def _choice(body: Fields) -> Choice | None:
    said = body.one_of("tool_choice", tuple(Choice))
    if said == Choice.REQUIRED and not body.values.get("tools"):
        raise body.wrong("tool_choice", "is `required`, and there are no `tools`.")
    return Choice(said) if said else None


def _chosen(rows: list[Fields], choice: Fields) -> Offer:
    match choice.name("type"):
        case "function":
            return _one_function(rows, choice)
        case "allowed_tools":
            return _allowed(rows, choice)
        case _:
            return _offer(rows, raw=choice.values)


def _one_function(rows: list[Fields], choice: Fields) -> Offer:
    name = one_name(choice.word("namespace"), choice.name("name"))
    offer = _offer(rows, call=name)
    if not any(tool.name == name for tool in offer.tools):
        raise choice.wrong("name", "is the name of none of the `tools`.")
    return offer


def _allowed(rows: list[Fields], choice: Fields) -> Offer:
    """Only these are offered: that means the same to every model."""
    mode = choice.one_of("mode", (Choice.AUTO, Choice.REQUIRED)) or Choice.AUTO
    allowed = [each.values for each in choice.rows("tools")]
    kept = [left for row in rows if (left := _within(row, allowed))]
    if not kept and mode == Choice.REQUIRED:
        raise choice.wrong("tools", "names none of the `tools`.")
    return _offer(kept, choice=Choice(mode))


def _within(row: Fields, allowed: list[Mapping[str, Any]]) -> Fields | None:
    if any(_fits(row.values, each) for each in allowed):
        return row
    if row.values["type"] != NAMESPACE:
        return None
    inside = {"namespace": row.word("name")}
    functions = [
        tool.values
        for tool in row.rows("tools")
        if any(_fits(inside | dict(tool.values), each) for each in allowed)
    ]
    return Fields({**row.values, "tools": functions}, row.path) if functions else None


def _fits(tool: Mapping[str, Any], allowed: Mapping[str, Any]) -> bool:
    return all(tool.get(name) == allowed[name] for name in ("type", *TOLD_BY) if name in allowed)


def _offer(rows: list[Fields], **chosen: Any) -> Offer:
    tools = tuple(tool for row in rows for tool in _functions(row))
    hosted = tuple(row.values for row in rows if not _holds_functions(row))
    return Offer(tools=tools, hosted=hosted, **chosen)


def _holds_functions(row: Fields) -> bool:
    return row.values["type"] == FUNCTION or any(True for _ in _in_namespace(row))


def _functions(row: Fields) -> Iterator[ToolSpec]:
    if row.values["type"] == FUNCTION:
        yield _function(row, "", row.values)
    # A namespace goes as one to a model of this dialect: each of its functions has the whole of it.
    yield from (_function(each, row.word("name"), row.values) for each in _in_namespace(row))


def _in_namespace(row: Fields) -> Iterator[Fields]:
    if row.values["type"] == NAMESPACE:
        row.name("name")
        yield from (each for each in row.rows("tools") if each.word("type") == FUNCTION)


def _function(tool: Fields, namespace: str, wire: Mapping[str, Any]) -> ToolSpec:
    return ToolSpec(
        name=one_name(namespace, tool.name("name")),
        description=tool.word("description"),
        schema=tool.inner("parameters").values or NO_ARGUMENTS,
        strict=tool.flag("strict"),
        dialect=DIALECT,
        wire=wire,
    )


def in_namespaces(body: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """By the one name, the two that the program knows."""
    try:
        rows = list(Fields(body).rows("tools"))
        return {
            one_name(row.word("name"), each.name("name")): (row.word("name"), each.name("name"))
            for row in rows
            for each in _in_namespace(row)
        }
    except Wrong:
        return {}
