"""Finished Markdown, kept for those who look next: an item never changes, so neither does its HTML. Before it is a row, another
attempt may say something else under its key, so the text counts too."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from uuid import UUID

from . import blocks_waiting, question_waiting, question_within, render_blocks_within

Blocks = tuple[str, ...]
MOST_KEPT = 16 * 1024 * 1024


class Kept:
    """The newest so many bytes, by message, key and text."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most, self._size, self._lock = most, 0, Lock()
        self._blocks: OrderedDict[tuple[UUID, str, int], Blocks] = OrderedDict()

    def get(self, message: UUID, key: str, text: str) -> Blocks | None:
        name = (message, key, hash(text))
        with self._lock:
            found = self._blocks.get(name)
            if found is not None:
                self._blocks.move_to_end(name)
            return found

    def put(self, message: UUID, key: str, text: str, blocks: Blocks) -> Blocks:
        name = (message, key, hash(text))
        with self._lock:
            old = self._blocks.pop(name, None)
            self._size += _size(blocks) - (0 if old is None else _size(old))
            self._blocks[name] = blocks
            while self._size > self._most:
                self._size -= _size(self._blocks.popitem(last=False)[1])
        return blocks


KEPT = Kept()


def rendered(message: UUID, key: str, text: str) -> Blocks:
    """For a thread that may wait."""
    found = KEPT.get(message, key, text)
    if found is None:
        found = KEPT.put(message, key, text, tuple(blocks_waiting(text, message=str(message), key=key)))
    return found


async def rendered_within(message: UUID, key: str, text: str) -> Blocks:
    """For the event loop."""
    found = KEPT.get(message, key, text)
    if found is None:
        made = await render_blocks_within(text, message=str(message), key=key)
        found = KEPT.put(message, key, text, tuple(made))
    return found


def rendered_question(message: UUID, key: str, text: str) -> Blocks:
    """For a thread that may wait."""
    found = KEPT.get(message, key, text)
    return KEPT.put(message, key, text, tuple(question_waiting(text))) if found is None else found


async def rendered_question_within(message: UUID, key: str, text: str) -> Blocks:
    """For the event loop."""
    found = KEPT.get(message, key, text)
    return KEPT.put(message, key, text, tuple(await question_within(text))) if found is None else found


def _size(blocks: Blocks) -> int:
    return sum(map(len, blocks)) + 100
