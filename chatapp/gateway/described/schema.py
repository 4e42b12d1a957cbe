"""The few words of JSON Schema in which the doors are described."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Json = dict[str, Any]


def text(about: str = "", **more: Any) -> Json:
    return _said({"type": "string"}, about, more)


def number(about: str = "", **more: Any) -> Json:
    return _said({"type": "number"}, about, more)


def whole(about: str = "", **more: Any) -> Json:
    return _said({"type": "integer"}, about, more)


def flag(about: str = "") -> Json:
    return _said({"type": "boolean"}, about, {})


def one_of(words: Iterable[str], about: str = "") -> Json:
    return _said({"type": "string"}, about, {"enum": list(words)})


def rows(of: Json, about: str = "", **more: Any) -> Json:
    return _said({"type": "array", "items": of}, about, more)


def any_object(about: str = "") -> Json:
    return _said({"type": "object"}, about, {})


def either(*schemas: Json, about: str = "") -> Json:
    return _said({"anyOf": list(schemas)}, about, {})


def or_null(schema: Json) -> Json:
    """The same, or null, which means that it was left out."""
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return schema | {"type": [schema["type"], "null"]}
    return either(schema, {"type": "null"})


def taken(must: Mapping[str, Json], may: Mapping[str, Json] = {}, about: str = "") -> Json:
    """An object that is read: what it must have, and what it may; whatever else it has goes on to models that know it."""
    named = {**must, **{name: or_null(schema) for name, schema in may.items()}}
    return _said({"type": "object", "properties": named}, about, {"required": list(must)})


def given(about: str = "", **fields: Json) -> Json:
    """An object that is written: with all of this, and perhaps more."""
    return _said({"type": "object", "properties": fields}, about, {"required": list(fields)})


def named(schema: str) -> Json:
    return {"$ref": f"#/components/schemas/{schema}"}


def _said(schema: Json, about: str, more: Mapping[str, Any]) -> Json:
    return schema | ({"description": about} if about else {}) | dict(more)
