"""Files that somebody brings, as the pages and the process at work do it, without either."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User

from chatapp.exchange.models import Import, ImportFile
from chatapp.exchange.store import imports, uploads
from chatapp.exchange.store.bringing import Work
from chatapp.store.models import Conversation

RUNNER = "here"


def brought(owner: User, *files: bytes, piece: int = uploads.PIECE, name: str = "file-{}.json") -> Import:
    """Chosen, and here."""
    for n, data in enumerate(files):
        row = uploads.add_file(owner, name.format(n), len(data))
        while row.received < len(data):
            row.received = uploads.add_piece(row, row.received, data[row.received : row.received + piece])
    found = uploads.open_import(owner)
    assert found
    return found


def worked(row: Import, tools: Sequence[Any] = ()) -> Import:
    """By a process, to its end."""
    taken = imports.take(RUNNER)
    assert taken and taken.pk == row.pk
    imports.do(Work(taken, RUNNER, tools=lambda wanted: [tool for tool in wanted if tool in tools]))
    return Import.objects.get(pk=row.pk)


def checked(owner: User, *files: bytes, **more: Any) -> Import:
    row = brought(owner, *files, **more)
    imports.check(row)
    return worked(row)


def came(
    owner: User, *files: bytes, skips_known: bool = True, tools: Sequence[Any] = (), **more: Any
) -> list[Conversation]:
    """The conversations that came of them, in the order of the files."""
    row = checked(owner, *files, **more)
    assert not problems(row), problems(row)
    imports.start(row, skips_known=skips_known)
    assert worked(row, tools).state == Import.State.CAME
    found = row.found.filter(conversation__isnull=False).order_by("file__created_at", "number")
    return [each.conversation for each in found.select_related("conversation")]


def problems(row: Import) -> list[str]:
    return [
        problem for problem in row.files.order_by("created_at").values_list("problem", flat=True) if problem
    ]


def remarks(row: Import) -> dict[str, int]:
    """What is told of its only file."""
    (file,) = ImportFile.objects.filter(brought=row)
    return {name: told["count"] for name, told in file.report["remarks"].items()}


def ours(*conversations: dict[str, Any], **more: Any) -> bytes:
    return json.dumps(
        {"format": "thoughtline", "version": 1} | more | {"conversations": list(conversations)}
    ).encode()


def said(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"title": "T"} | more | {"messages": list(messages)}


def question(id: Any = 1, parent: Any = None, text: str = "Why?", **more: Any) -> dict[str, Any]:
    item = {"key": "part-0", "kind": "user_message", "text": text}
    return {"id": id, "parent": parent, "role": "user", "items": [item]} | more


def answer(id: Any = 2, parent: Any = 1, text: str = "So.", **more: Any) -> dict[str, Any]:
    item = {"key": "msg_1", "kind": "assistant_message", "text": text}
    return {"id": id, "parent": parent, "role": "assistant", "items": [item]} | more
