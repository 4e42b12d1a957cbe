"""Files that somebody brings to a real server, and takes from it, as the page's script does."""

from __future__ import annotations

import re
from uuid import UUID

import httpx

from .bringing import answer, ours, question, said

PIECE = 8 * 1024 * 1024
# Messages of a long conversation, and questions of one that takes seconds to pack.
LONG, TURNS = 1500, 4000


def long_file(messages: int = LONG, letters: int = 0) -> bytes:
    """A long conversation between two small ones."""
    some = "x" * letters
    chain = (
        make
        for n in range(1, messages + 1, 2)
        for make in (question(n, n - 1 or None, f"Question {n}? {some}"), answer(n + 1, n, f"Answer. {some}"))
    )
    first, last = said(question(text="First?"), answer()), said(question(text="Last?"), answer())
    return ours(first, said(*chain, title="Long"), last)


def chosen(client: httpx.Client, data: bytes, name: str = "kept.json") -> UUID:
    """The import, of which the file is here."""
    begun = client.post("/import/files/", data={"name": name, "size": len(data)}).json()
    received = begun["received"]
    while received < len(data):
        piece = client.post(
            f"/import/files/{begun['file']}/?begins={received}",
            content=data[received : received + PIECE],
            headers={"Content-Type": "application/octet-stream"},
        )
        assert piece.status_code == 200, piece.text
        received = piece.json()["received"]
    found = re.search(r"/import/([0-9a-f-]{36})/check/", page(client))
    assert found
    return UUID(found[1])


def page(client: httpx.Client) -> str:
    shown = client.get("/import/")
    assert shown.status_code == 200, shown.text
    return shown.text


def is_at(client: httpx.Client, step: str) -> bool:
    return f'data-step="{step}"' in page(client)


def command(client: httpx.Client, brought: UUID, what: str) -> None:
    """`check`, `start` or `end`."""
    done = client.post(f"/import/{brought}/{what}/", data={"skip": "on"})
    assert done.status_code == 200, done.text
