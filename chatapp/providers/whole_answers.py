"""What an answer holds when it is no stream: refusals, pages of somebody else, lists."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterable, Mapping
from contextlib import suppress
from typing import Any

from ..core.items import clean
from ..core.signs.visible import hides
from ..core.verbatim import loads
from .failures import FAILURES

REFUSAL_CAP = 64 * 1024
REFUSAL_SECONDS = 10.0
# What an answer sends after its last event comes at once; with it read, the connection can be used again.
REST_SECONDS = 0.25
MOST_MODELS = 2000
NAME_CAP = 200
# Providers list all they have: these make or read pictures, sound, films and vectors, or only complete a text.
_NOT_FOR_TALK = re.compile(
    r"embed|moderation|rerank|whisper|transcri|\btts\b|audio|realtime|image|dall-e|\bsora\b|\bveo\b|babbage|davinci",
    re.IGNORECASE,
)


def streams(first: bytes) -> bool:
    """Whether these bytes open a stream of events. Servers label their answers in every way, so the first letter
    counts: a field's, a comment's, a byte order mark's. Blank lines only keep a connection alive."""
    return first.lstrip()[:1] in b":deir\xef"


async def words(body: AsyncIterable[bytes], first: bytes = b"") -> str:
    """As much of a refusal as comes soon."""
    held = bytearray(first)
    with suppress(TimeoutError, *FAILURES):
        async with asyncio.timeout(REFUSAL_SECONDS):
            await _collect(body, held, REFUSAL_CAP)
    return _decoded(held[:REFUSAL_CAP])


async def read_to_end(body: AsyncIterable[bytes]) -> None:
    """Reads what is left of a complete answer, if it comes at once."""
    with suppress(TimeoutError, *FAILURES):
        async with asyncio.timeout(REST_SECONDS):
            await _collect(body, bytearray(), REFUSAL_CAP)


async def read_whole(body: AsyncIterable[bytes], cap: int) -> str | None:
    """All of it, or None where it is more than `cap` bytes."""
    held = bytearray()
    await _collect(body, held, cap + 1)
    return _decoded(held) if len(held) <= cap else None


async def _collect(body: AsyncIterable[bytes], held: bytearray, enough: int) -> None:
    async for data in body:
        held += data
        if len(held) >= enough:
            return


def _decoded(held: bytearray) -> str:
    return clean(held.decode(errors="replace"))


def is_error_body(text: str) -> bool:
    value = _json(text)
    if isinstance(value, list):
        value = next(iter(value), None)
    return isinstance(value, dict) and (
        "error" in value or "error" in (value.get("type"), value.get("object"))
    )


def model_rows(text: str) -> list[Mapping[str, Any]] | None:
    """The models of a provider's list that one can talk to, the newest first; None where this is no such list."""
    value = _json(text)
    rows = value.get("data") if isinstance(value, dict) else None
    if not isinstance(rows, list):
        return None
    named: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        if isinstance(row, dict) and _is_name(row.get("id")):
            named.setdefault(row["id"], row)
    talking = [row for name, row in named.items() if not _NOT_FOR_TALK.search(name)]
    return sorted(talking, key=_age)[:MOST_MODELS]


def _age(row: Mapping[str, Any]) -> float:
    """Less is newer; who tells nothing keeps the provider's order."""
    created = row.get("created")
    return -created if isinstance(created, int) else 0


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= NAME_CAP and not hides(value)


def _json(text: str) -> Any:
    try:
        return loads(text)
    except ValueError:
        return None
