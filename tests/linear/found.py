"""Everything in the package that reads text: its compiled patterns and how they are used, those that are written where they are used,
and its functions that take text."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import chatapp

# What looks for a pattern everywhere in a text.
ANYWHERE = ("search", "sub", "subn", "split", "findall", "finditer")
_USES = (*ANYWHERE, "match", "fullmatch")


@cache
def modules() -> tuple[ModuleType, ...]:
    names = [each.name for each in pkgutil.walk_packages(chatapp.__path__, "chatapp.")]
    return tuple(importlib.import_module(name) for name in names if ".migrations" not in name)


@cache
def source(module: ModuleType) -> str:
    return Path(module.__file__ or "").read_text()


def compiled() -> dict[re.Pattern, set[str]]:
    """Each with the ways in which it is used; one that lies in a table, in every way."""
    found: dict[re.Pattern, set[str]] = {}
    for module in modules():
        for name, value in vars(module).items():
            ways = _ways(name, module) if isinstance(value, re.Pattern) else set()
            for pattern in _inside(value):
                found.setdefault(pattern, set()).update(ways or _USES)
    return found


def _ways(name: str, home: ModuleType) -> set[str]:
    """How a pattern of this name is used: in its own module where it is private, else anywhere."""
    where = [home] if name.startswith("_") else modules()
    return {
        way for module in where for way in re.findall(rf"\b{name}\.({'|'.join(_USES)})\b", source(module))
    }


def _inside(value: Any, depth: int = 5) -> Iterator[re.Pattern]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth:
        for inner in _parts(value):
            yield from _inside(inner, depth - 1)


def _parts(value: Any) -> list[Any]:
    match value:
        case dict():
            return [*value.keys(), *value.values()]
        case list() | tuple() | set() | frozenset():
            return list(value)
        case type() if value.__module__.startswith("chatapp"):
            return list(vars(value).values())
        case _ if is_dataclass(value) and not isinstance(value, type):
            return [getattr(value, each.name, None) for each in fields(value)]
        case _ if type(value).__module__.startswith("chatapp"):
            return list(getattr(value, "__dict__", {}).values())
        case _:
            return []


def written_in_place() -> Iterator[tuple[str, str, str, str | bytes | None]]:
    """Calls of `re` with a pattern: its module, the call's name, the pattern as it is written, and what that comes to where the module
    knows it."""
    for module in modules():
        for call in ast.walk(ast.parse(source(module))):
            if _is_of_re(call) and call.func.attr in (*_USES, "compile"):
                words = ast.unparse(call.args[0])
                yield module.__name__, call.func.attr, words, _value(words, module)


def compiled_late() -> list[str]:
    """Patterns that are compiled in a function, where no walk finds them."""
    return [
        f"{module.__name__}: {ast.unparse(call)}"
        for module in modules()
        for function in ast.walk(ast.parse(source(module)))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for call in ast.walk(function)
        if _is_of_re(call) and call.func.attr == "compile"
    ]


def _is_of_re(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
    )


def _value(words: str, module: ModuleType) -> str | bytes | None:
    try:
        value = eval(words, vars(module))
    except NameError:
        return None
    return value if isinstance(value, str | bytes) else None


def readers() -> dict[str, Callable[..., Any]]:
    """Functions and methods, by module and name, that take text: what is private is reached through them."""
    return {
        f"{module.__name__.removeprefix('chatapp.')}.{name}": function
        for module in modules()
        for name, function in _public(module)
        if any(map(_is_text, _parameters(function)))
    }


def _public(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
            continue
        if inspect.isfunction(inspect.unwrap(value)):
            # Also what remembers its answers.
            yield name, inspect.unwrap(value)
        elif inspect.isclass(value):
            own = ((method, getattr(each, "__func__", each)) for method, each in vars(value).items())
            yield from ((f"{name}.{m}", f) for m, f in own if not m.startswith("_") and inspect.isfunction(f))


def takes_text_alone(function: Callable[..., Any]) -> bool:
    """Whether it can be called with texts and nothing else."""
    several = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    required = [
        each for each in _parameters(function) if each.default is each.empty and each.kind not in several
    ]
    return not inspect.iscoroutinefunction(function) and all(map(_is_text, required))


def texts(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(filter(_is_text, _parameters(function)))


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def _is_text(parameter: inspect.Parameter) -> bool:
    return bool({"str", "bytes"} & set(str(parameter.annotation).split(" | ")))
