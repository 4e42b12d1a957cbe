"""Reads one answer: bytes to events, within the limits that one answer has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ..core.events import Event, ItemDelta, ResponseEnded
from .base import HearLetters, Parser, ProviderError, Trouble
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
    """`ended`: the answer said that it is complete; nothing after that counts. Letters are told to `letters` as they are read,
    where nothing before them is still to be fetched."""

    def __init__(
        self,
        parser: Parser,
        limits: StreamLimits,
        label: str,
        now: Callable[[], float],
        letters: HearLetters | None = None,
    ) -> None:
        self.ended = False
        self._parser, self._label, self._now, self._letters = parser, label, now, letters
        self._decoder = Decoder(limits.event)
        self._left = limits.answer
        self._until = now() + limits.total
        self._patience = limits.nothing_said
        self._heard = now()
        self._events: list[Event] = []
        self._error: ProviderError | None = None

    def hear(self, data: bytes) -> bool:
        """True where nothing of it is left to be fetched."""
        letters: list[ItemDelta] = []
        try:
            for event in self._read(data):
                if self._letters and not self._events and isinstance(event, ItemDelta):
                    if letters and letters[0].key != event.key:
                        self._tell(letters)
                    letters.append(event)
                else:
                    self._events.append(event)
        except ProviderError as error:
            self._error = error
        self._tell(letters)
        return not (self._events or self._error)

    def _tell(self, letters: list[ItemDelta]) -> None:
        """What arrived together is told together."""
        if self._letters and letters:
            first, *more = letters
            self._letters(replace(first, text="".join(each.text for each in letters)) if more else first)
            letters.clear()

    def heard(self) -> Iterator[Event]:
        """What is left of what was read, and then the error that ended it."""
        events, self._events = self._events, []
        yield from events
        if self._error:
            raise self._error

    def _read(self, data: bytes) -> Iterator[Event]:
        now = self._now()
        self._count(len(data), now)
        self._refuse_silence(now)
        for name, text in self._frames(data):
            said = self._parser.feed(name, text)
            if said:
                self._heard = now
            for event in said:
                yield event
                if isinstance(event, ResponseEnded):
                    self.ended = True
                    return

    def _refuse_silence(self, now: float) -> None:
        """Comments and pings keep a connection alive, and say nothing."""
        if now - self._heard > self._patience:
            raise trouble_error(Trouble.SILENT, self._label)

    def close(self) -> list[Event]:
        return [] if self.ended else self._parser.close()

    def _frames(self, data: bytes) -> list[tuple[str, str]]:
        try:
            return self._decoder.feed(data)
        except EventTooLong:
            raise trouble_error(Trouble.TOO_LARGE, self._label) from None

    def _count(self, size: int, now: float) -> None:
        self._left -= size
        if self._left < 0:
            raise trouble_error(Trouble.TOO_LARGE, self._label)
        if now > self._until:
            raise ProviderError(
                Trouble.SILENT, f"{self._label} did not finish its answer in time. Try again."
            )
