"""The tools of a request, and which of them the model may call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....core.values import Json, rows, word
from ....providers.base import Choice, ToolSpec
from ....providers.openai.namespaces import NAMESPACE, one_name
from ..given import Given

DIALECT = "responses"
FUNCTION = "function"
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


def offer_in(body: Given) -> Offer:
    tools = body.take("tools", Given.objects) or []
    chosen = body.at("tool_choice")
    match chosen and chosen.value:
        case dict():
            return _chosen(tools, body.must("tool_choice"))
        case None:
            return _offer(tools)
        case _:
            return _offer(tools, choice=_choice(tools, body.must("tool_choice")))


def _choice(tools: list[Given], said: Given) -> Choice:
    choice = Choice(said.one_of(tuple(Choice)))
    if choice is Choice.REQUIRED and not tools:
        raise said.wrong("is “required”, and there are no tools")
    return choice


def _chosen(tools: list[Given], choice: Given) -> Offer:
    match choice.must("type").name():
        case "function":
            return _one_function(tools, choice)
        case "allowed_tools":
            return _allowed(tools, choice)
        case _:
            return _offer(tools, raw=choice.fields())


def _one_function(tools: list[Given], choice: Given) -> Offer:
    namespace, name = choice.says("namespace"), choice.must("name").name()
    name = one_name(namespace, name)
    offer = _offer(tools, call=name, raw=choice.fields() if namespace else None)
    if not any(tool.name == name for tool in offer.tools):
        raise choice.must("name").wrong("is the name of none of the tools")
    return offer


def _allowed(tools: list[Given], choice: Given) -> Offer:
    """Only these are offered: that means the same to every model."""
    said = choice.take("mode", lambda mode: mode.one_of((Choice.AUTO, Choice.REQUIRED)))
    allowed = [each.fields() for each in choice.must("tools").objects()]
    kept = [left for tool in tools if (left := _within(tool, allowed))]
    if not kept and said == Choice.REQUIRED:
        raise choice.must("tools").wrong("names none of the tools")
    return _offer(kept, choice=Choice(said or Choice.AUTO))


def _within(tool: Given, allowed: list[Json]) -> Given | None:
    if any(_fits(tool.fields(), each) for each in allowed):
        return tool
    inside = {"namespace": tool.says("name")}
    left = [
        each.fields()
        for each in _in_namespace(tool)
        if any(_fits(inside | each.fields(), one) for one in allowed)
    ]
    return Given({**tool.fields(), "tools": left}) if left else None


def _fits(tool: Json, allowed: Json) -> bool:
    return all(tool.get(name) == allowed[name] for name in ("type", *TOLD_BY) if name in allowed)


def _offer(tools: list[Given], **chosen: Any) -> Offer:
    kinds = [tool.must("type").name() for tool in tools]
    read = [_functions(tool, kind) for tool, kind in zip(tools, kinds, strict=True)]
    hosted = tuple(tool.fields() for tool, functions in zip(tools, read, strict=True) if not functions)
    return Offer(tools=tuple(each for functions in read for each in functions), hosted=hosted, **chosen)


def _functions(tool: Given, kind: str) -> list[ToolSpec]:
    """A namespace goes as one to a model of this dialect: each of its functions has the whole of it."""
    if kind == FUNCTION:
        return [_function(tool, "", tool.fields())]
    return [_function(each, tool.must("name").name(), tool.fields()) for each in _in_namespace(tool)]


def _in_namespace(tool: Given) -> list[Given]:
    if tool.says("type") != NAMESPACE:
        return []
    return [each for each in tool.take("tools", Given.objects) or [] if each.says("type") == FUNCTION]


def _function(tool: Given, namespace: str, wire: Json) -> ToolSpec:
    return ToolSpec(
        name=one_name(namespace, tool.must("name").name()),
        description=tool.says("description"),
        schema=tool.take("parameters", Given.fields) or NO_ARGUMENTS,
        strict=tool.take("strict", Given.flag),
        dialect=DIALECT,
        wire=wire,
    )


def in_namespaces(body: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """By the one name, the two that the program knows."""
    spaces = [tool for tool in rows(body.get("tools")) if tool.get("type") == NAMESPACE]
    both = [
        (word(space.get("name")), word(each.get("name")))
        for space in spaces
        for each in rows(space.get("tools"))
    ]
    return {one_name(namespace, name): (namespace, name) for namespace, name in both}
