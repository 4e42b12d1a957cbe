"""Reads one answer: bytes to events, within the limits that one answer has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..core.events import Event, ResponseEnded
from .base import Parser, ProviderError, Trouble
from .refusals import trouble_error
from .sse import Decoder, EventTooLong

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLimits:
    """Seconds and bytes: until connected, without a byte, with nothing but signs of life, from first to last; of one event,
    of the whole answer."""

    connect: float = 10.0
    silence: float = 300.0
    nothing_said: float = 900.0
    total: float = 3600.0
    event: int = 16 * MIB
    answer: int = 64 * MIB


class Reader:
    """`ended`: the answer said that it is complete; nothing after that counts."""

    def __init__(self, parser: Parser, limits: StreamLimits, label: str, now: Callable[[], float]) -> None:
        self.ended = False
        self._parser, self._label, self._now = parser, label, now
        self._decoder = Decoder(limits.event)
        self._left = limits.answer
        self._until = now() + limits.total
        self._patience = limits.nothing_said
        self._heard = now()

    def read(self, data: bytes) -> Iterator[Event]:
        self._count(len(data))
        self._refuse_silence()
        for name, text in self._frames(data):
            for event in self._parser.feed(name, text):
                self._heard = self._now()
                yield event
                if isinstance(event, ResponseEnded):
                    self.ended = True
                    return

    def _refuse_silence(self) -> None:
        """Comments and pings keep a connection alive, and say nothing."""
        if self._now() - self._heard > self._patience:
            raise trouble_error(Trouble.SILENT, self._label)

    def close(self) -> list[Event]:
        return [] if self.ended else self._parser.close()

    def _frames(self, data: bytes) -> list[tuple[str, str]]:
        try:
            return self._decoder.feed(data)
        except EventTooLong:
            raise trouble_error(Trouble.TOO_LARGE, self._label) from None

    def _count(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise trouble_error(Trouble.TOO_LARGE, self._label)
        if self._now() > self._until:
            raise ProviderError(
                Trouble.SILENT, f"{self._label} did not finish its answer in time. Try again."
            )
