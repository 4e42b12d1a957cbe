"""Asks a provider over HTTP and gives its answer as events, with retries and every failure in words."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from math import ceil
from typing import Any

import httpx

from ..core.contracts import Contract, contract_for
from ..core.events import Event, ItemStarted, Retrying
from ..core.history import History
from ..core.items import KeyMaker, Kind
from ..core.verbatim import encode
from .base import Ask, Endpoint, HearLetters, ModelSpec, ProviderError, RequestShape, Trouble, Wire
from .client import HttpAnswer, answered, request
from .reader import MIB, Reader, StreamLimits
from .refusals import WAIT_CAP, trouble_error
from .shape import shape_of
from .whole_answers import is_error_body, model_rows, read_to_end, read_whole, streams, words

BACKOFF = (1.0, 2.0, 4.0, 8.0)
ANSWER_LIMITS = StreamLimits()
LIST_LIMITS = StreamLimits(connect=5.0, silence=10.0, total=15.0, answer=16 * MIB)
UNSENDABLE = (RecursionError, ValueError)
MEANWHILE = {Trouble.BUSY: "is busy", Trouble.UNREACHABLE: "cannot be reached"}


class HttpProvider:
    """An endpoint that speaks a wire."""

    def __init__(
        self,
        endpoint: Endpoint,
        wire: Wire,
        *,
        limits: StreamLimits = ANSWER_LIMITS,
        list_limits: StreamLimits = LIST_LIMITS,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.endpoint, self.wire = endpoint, wire
        self._label = endpoint.who
        self._limits, self._list_limits = limits, list_limits
        self._sleep, self._now = sleep, now

    def model(self, name: str) -> ModelSpec:
        return self.wire.model(self.endpoint, {"id": name})

    def contract(self, model: ModelSpec) -> Contract:
        return contract_for(model.dialect, model=model.name, host=self.endpoint.host)

    def sent(self, ask: Ask) -> RequestShape:
        """Nothing of what cannot be sent."""
        with suppress(*UNSENDABLE):
            body = self.wire.body(ask)
            return RequestShape(tuple(shape_of(body)), self.wire.thoughts(ask, body))
        return RequestShape()

    async def stream(
        self, ask: Ask, keys: KeyMaker, hear: HearLetters | None = None
    ) -> AsyncGenerator[Event, None]:
        """The answer's events. A request that failed before it gave more than thoughts goes out again, announced each time."""
        waits = iter(BACKOFF)
        while True:
            thoughts: list[str] = []
            try:
                async with aclosing(self._events(ask, keys, hear)) as events:
                    async for event in events:
                        if _is_answer(event):
                            waits = iter(())
                        elif isinstance(event, ItemStarted):
                            thoughts.append(event.key)
                        yield event
                return
            except ProviderError as error:
                wait = next(waits, None) if error.again else None
                if wait is None:
                    raise
                retrying = self._retrying(error, wait, thoughts)
            yield retrying
            await self._sleep(retrying.seconds)

    def _retrying(self, error: ProviderError, wait: float, lost: Sequence[str]) -> Retrying:
        seconds = wait if error.wait is None else min(max(error.wait, 0.0), WAIT_CAP)
        how = MEANWHILE.get(error.trouble, "had an error")
        sentence = f"{self._label} {how}, trying again in {max(1, ceil(seconds))} s"
        return Retrying(seconds, sentence, tuple(lost))

    async def _events(
        self, ask: Ask, keys: KeyMaker, hear: HearLetters | None
    ) -> AsyncGenerator[Event, None]:
        reader = Reader(self.wire.parser(ask, keys), self._limits, self._label, self._now, hear)
        async with answered(self.endpoint, self._question(ask)) as answer:
            data: bytes | None = await self._opening(answer)
            while data != b"":
                if data:
                    reader.hear(data)
                for event in reader.heard():
                    yield event
                data = b"" if reader.ended else await answer.body.more(reader.hear)
            for event in reader.close():
                yield event
            if not answer.body.ends_with_connection:
                await read_to_end(answer.body)

    async def _opening(self, answer: HttpAnswer) -> bytes:
        """The first bytes of a stream, or the error that this answer is none."""
        if answer.status != 200:
            raise await self._refused(answer)
        first = await answer.body.more() or b""
        if streams(first):
            return first
        text = await words(answer.body, first)
        if is_error_body(text):
            raise self.wire.refusal(self._label, answer.status, answer.headers, text)
        raise trouble_error(Trouble.GARBAGE, self._label, text, status=answer.status)

    async def _refused(self, answer: HttpAnswer) -> ProviderError:
        text = await words(answer.body)
        if 300 <= answer.status < 400:
            sentence = f"{self._label} is at another address now. Correct its base URL."
            return ProviderError(Trouble.UNREACHABLE, sentence, text, answer.status)
        return self.wire.refusal(self._label, answer.status, answer.headers, text)

    def _question(self, ask: Ask) -> httpx.Request:
        headers = {"accept": "text/event-stream", "content-type": "application/json"}
        headers |= self.wire.headers(self.endpoint, ask)
        path, content = self.wire.path(self.endpoint), _encoded(self.wire.body(ask))
        return request(self.endpoint, path, headers, self._limits, content)

    async def list_models(self) -> list[ModelSpec]:
        """What the provider says it has, in its order."""
        try:
            async with asyncio.timeout(self._list_limits.total):
                text = await self._listed()
        except TimeoutError:
            raise trouble_error(Trouble.SILENT, self._label) from None
        if text is None:
            raise trouble_error(Trouble.TOO_LARGE, self._label)
        rows = model_rows(text)
        if rows is None:
            raise trouble_error(Trouble.GARBAGE, self._label, text)
        return [self.wire.model(self.endpoint, row) for row in rows]

    async def _listed(self) -> str | None:
        async with answered(self.endpoint, self._list_question()) as answer:
            if answer.status != 200:
                raise await self._refused(answer)
            return await read_whole(answer.body, self._list_limits.answer)

    def _list_question(self) -> httpx.Request:
        spec = self.model("")
        ask = Ask(model=spec, contract=self.contract(spec), history=History(()))
        headers = {"accept": "application/json"} | self.wire.headers(self.endpoint, ask)
        return request(self.endpoint, self.wire.models_path(self.endpoint), headers, self._list_limits)


def _is_answer(event: Event) -> bool:
    """Whatever has begun besides a thought: it was seen as part of the answer."""
    return isinstance(event, ItemStarted) and event.kind is not Kind.REASONING


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return encode(body)
    except UNSENDABLE:
        raise ProviderError(
            Trouble.REFUSED, "Something in this conversation cannot be sent to a model."
        ) from None
