"""The tools that a server says it has, and which of them can be used."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.items import clean
from ...core.signs.visible import hides
from ...core.verbatim import dumps, too_deep
from .full_name import full_name

MOST = 200
NAME = 200
DESCRIPTION = 4000
SCHEMA = 64 * 1024
DEPTH = 30
SECONDS = 20.0
_NAMED = 20
_SHOWN = 40
# What a server claims of a tool, and in which words staff read it. Nobody relies on it.
_HINTS = {
    "readOnlyHint": ("reads only", "changes something"),
    "destructiveHint": ("may destroy", "destroys nothing"),
    "idempotentHint": ("may be repeated", "may not be repeated"),
    "openWorldHint": ("reaches outside", "stays inside"),
}


@dataclass(frozen=True, slots=True)
class Offered:
    name: str
    description: str
    schema: Mapping[str, Any]
    hints: str = ""


@dataclass(slots=True)
class LeftOut:
    """Tools that cannot be used, and why: the first few by name."""

    count: int = 0
    sentences: list[str] = field(default_factory=list)

    def add(self, name: object, why: str) -> None:
        self.count += 1
        if len(self.sentences) < _NAMED:
            self.sentences.append(f"{clean(str(name))[:_SHOWN]} is left out: {why}.")

    def words(self) -> str:
        more = self.count - len(self.sentences)
        return " ".join([*self.sentences, *([f"So are {more:,} more."] if more else [])])


def plain_entries(entries: Sequence[Any], left_out: LeftOut) -> list[dict[str, Any]]:
    """The entries of a list without anything that is not used here; one that is no tool at all is left out."""
    kept = []
    for entry in entries[: MOST + 1]:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name:
            left_out.add("A tool without a name", "it must have one")
            continue
        schema = entry.get("inputSchema")
        if why := _shape_problem(name, schema):
            left_out.add(name, why)
            continue
        described = entry.get("description")
        kept.append(
            {
                "name": name,
                "description": described if isinstance(described, str) else "",
                "inputSchema": schema,
                "annotations": _claims(entry.get("annotations")),
            }
        )
    return kept


def _shape_problem(name: str, schema: Any) -> str:
    if len(name) > NAME or hides(name):
        return "its name is too long or holds signs that cannot be seen"
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return "its schema is not that of an object"
    return "its schema is nested too deeply" if too_deep(schema, DEPTH) else ""


def _claims(annotations: Any) -> dict[str, bool]:
    given = annotations if isinstance(annotations, dict) else {}
    return {name: given[name] for name in _HINTS if isinstance(given.get(name), bool)}


def usable_tools(server: str, entries: Sequence[Mapping[str, Any]], left_out: LeftOut) -> list[Offered]:
    """Of plain entries. It may take seconds: for a thread."""
    from .checking import schema_problem

    deadline, kept = time.monotonic() + SECONDS, dict[str, Offered]()
    for entry in entries:
        name, text = entry["name"], _as_kept(entry["inputSchema"])
        known_as = full_name(server, name)
        if known_as in kept:
            left_out.add(name, "another tool has its name")
        elif len(kept) == MOST:
            left_out.add(name, f"the server has more than {MOST} tools")
        elif not text or len(text) > SCHEMA:
            left_out.add(name, "its schema is too large or cannot be kept")
        elif time.monotonic() > deadline:
            left_out.add(name, "looking at the schemas took too long")
        elif why := schema_problem(entry["inputSchema"]):
            left_out.add(name, why)
        else:
            description = clean(entry["description"])[:DESCRIPTION]
            kept[known_as] = Offered(name, description, entry["inputSchema"], _hints(entry["annotations"]))
    return list(kept.values())


def _as_kept(schema: Any) -> str:
    try:
        return dumps(schema)
    except ValueError:
        return ""


def _hints(claims: Mapping[str, bool]) -> str:
    return ", ".join(_HINTS[name][0 if claimed else 1] for name, claimed in claims.items())
