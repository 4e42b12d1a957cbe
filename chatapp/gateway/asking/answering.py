"""One request of a program: let in, its history made whole, asked, told event by event, kept, counted."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings

from ...core.events import Asked as RequestSent
from ...core.events import Event, Repaired, Retrying, Usage
from ...core.history import History
from ...core.items import Item
from ...providers.base import Choice, ModelSpec, ProviderError, Trouble, UnknownModel
from ...providers.configured import Provider
from ...store import Fenced, in_thread
from ...store.models import Status
from ...store.refusal import BeyondLimit, Refused
from ...turns.engine import Engine
from ...turns.model_request import Asking, Hearing, ModelAsked, RoundResponse, as_it_is
from ..doors.asked import ProgramRequest, Said, ToldResult
from ..doors.door import INVALID, LIMITED, NOT_FOUND, Door, Frame, HowEnded, Wrong
from ..doors.estimate import estimate
from ..doors.handed import Handed, Sealing
from ..models import ApiKey
from ..names import NoSuchModel, known_models, model_meant
from ..recording.told import Part, is_side_talk, name_of, pieces, saying_of
from ..recording.turn import RecordedTurn
from ..replay.digests import Chain
from ..replay.kept import KeptAnswer, ModelScope
from ..replay.restoring import Found, Names, Restored, names_of, restored
from ..store import kept as kept_rows
from ..store.counting import RequestMeasured
from ..store.kept import KeptNames
from ..store.recorded import RunRequest, note_place, record
from ..store.replays import Replayed, to_write
from ..store.requests import BeginRequest, EndRequest
from ..store.standing import DeadKey
from .efforts import effort_for
from .passing import Passing
from .together import EndingRequest, Writing, beginning, ending
from .troubles import BROKEN, WRONG_KEY, wrong_of
from .under_way import noted

log = logging.getLogger(__name__)

T = TypeVar("T")
Tell = Callable[[list[Frame]], None]
KeepWhole = Callable[[str, Mapping[str, Any]], Writing | None]
# What is written when a response is over holds up its last word no longer than this.
WRITTEN_SECONDS = 2.0
MOST_IN_HEADER = 500
STOPPED = Wrong(409, INVALID, "This run was stopped on its page.", "stopped")
# Until a model says something, what is told may still be an error with a status of its own.
_BEFORE_THE_FIRST = (RequestSent, Retrying, Repaired)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: a key, and how the program calls itself."""

    key: ApiKey
    name: str = ""


class Answering:
    """`prepare`, then `run`. `keep_whole`: keeps the response as it was given, by its secret. `again`: what
    the program calls this request, should it come once more."""

    def __init__(
        self,
        engine: Engine,
        door: Door,
        asked: ProgramRequest,
        program: Caller,
        *,
        keep_whole: KeepWhole | None = None,
        again: str = "",
    ) -> None:
        self._engine, self._door, self.asked, self.program = engine, door, asked, program
        self._keep_whole = keep_whole
        self.again = again
        self._chain = Chain(program.key.owner_id)
        self._request: UUID | None = None
        self._beginning: asyncio.Future[Any] | None = None
        self._usage: Usage | None = None
        self.wrong: Wrong | None = None
        self.restored = Restored()
        self.left_out: list[str] = []
        self.hearing: Hearing = Passing(self._hear)
        self._turn: RecordedTurn | None = None
        self._stopped_by: Wrong | None = None
        self._tell: Tell = _nobody
        self._sent: History | None = None
        self._facts: dict[str, Any] = {}

    async def prepare(self) -> None:
        """Wrong where it cannot be asked. From here on `close` has to be called."""
        said = self.asked.model
        try:
            self.who = await self._meant(said)
        except (NoSuchModel, UnknownModel) as error:
            raise Wrong(404, NOT_FOUND, str(error), "model_not_found", "model") from None
        provider, model = self.who
        self.asked = replace(self.asked, history=tuple(self._seen(model)))
        self._scope = scope_of(provider, model)
        owner = self.program.key.owner_id
        self._sealing = Sealing(_seal_key(settings.SECRET_KEY), f"{owner}\n{self._scope}")
        self.handed = Handed(self._sealing)
        names = names_of(self.asked.history, self._chain)
        await self._begin(self._let_in(model))
        found = await self._found(names) if names.digests else []
        self.restored = restored(
            self.asked.history,
            names,
            Found(found),
            scope=self._scope,
            sealing=self._sealing,
            dialect=self.asked.wishes.dialect,
        )
        if not _thinks(model):
            self.restored.missed = 0
        known = sum(bool(kept and kept.thoughts) for kept in self.restored.kept)
        kept_rows.memory.lookups.note(hits=known, misses=self.restored.missed)
        if self.asked.wishes.hosted and self.asked.wishes.dialect != model.dialect:
            self.left_out += [str(tool.get("type", "tool"))[:40] for tool in self.asked.wishes.hosted]
        if self._is_recorded:
            await self._begin(self._record(model))
        self._writer = self._door.writer(self.asked, said or model.id, self.handed, _now())

    async def _begin(self, beginning: Awaitable[T]) -> T:
        """A thread that writes rows is not stopped by a program that goes away meanwhile."""
        self._beginning = asyncio.ensure_future(beginning)
        return await asyncio.shield(self._beginning)

    @property
    def _is_recorded(self) -> bool:
        asked = self.asked
        return self.program.key.is_recorded and not is_side_talk(
            asked.history,
            tools=len(asked.tools),
            most_output=asked.wishes.most_output,
            form=asked.wishes.form,
        )

    async def _record(self, model: ModelSpec) -> None:
        history, made = self.asked.history, self.restored.made
        names = [tool.name for tool in self.asked.tools]
        request = RunRequest(
            key=self.program.key,
            model=model.id,
            effort=effort_for(self.asked.effort, model.efforts),
            runner=self._engine.runner.name,
            pieces=pieces(history, made, self.program.key.owner_id),
            saying=saying_of(history, self.restored.opening, names),
            turns=tuple({kept.turn for kept in self.restored.kept if kept and kept.turn}),
            again=self.again,
        )
        try:
            recorded = await in_thread(record)(request)
        except Refused as refusal:
            raise Wrong(429, LIMITED, str(refusal), "rate_limit_exceeded", wait=5) from None
        self._turn = self.hearing = RecordedTurn(self._engine, recorded, self._hear)
        self._turn.told = {"restored": self.restored.restored, "missed": self.restored.missed}

    async def _meant(self, said: str) -> tuple[Provider, ModelSpec]:
        key, catalog = self.program.key, self._engine.catalog
        default = "" if said or key.default_model else await self._engine.default_model()
        try:
            spec = model_meant(said, key, catalog, known=catalog.listed(), default=default)
        except NoSuchModel:
            # Not all providers may have told yet what they have.
            spec = model_meant(said, key, catalog, known=await known_models(catalog), default=default)
        return catalog.find(spec.id)

    async def _let_in(self, model: ModelSpec) -> None:
        request = BeginRequest(
            key=self.program.key,
            model=model.id,
            estimate=estimate(self.asked),
            runner=self._engine.runner.name,
            program=self.program.name,
        )
        try:
            self._request = await beginning.done(request)
        except DeadKey:
            raise replace(WRONG_KEY) from None
        except BeyondLimit as refusal:
            raise Wrong(429, LIMITED, str(refusal), "insufficient_quota", wait=_until_tomorrow()) from None
        except Refused as refusal:
            raise Wrong(429, LIMITED, str(refusal), "rate_limit_exceeded", wait=2) from None

    async def _found(self, names: Names) -> list[KeptAnswer]:
        owner, asked = self.program.key.owner_id, KeptNames(names.all_secrets(), {*names.digests})
        found, unknown = kept_rows.remembered(owner, asked)
        return [*found, *(await in_thread(kept_rows.find)(owner, unknown) if unknown else ())]

    def _seen(self, model: ModelSpec) -> Sequence[Any]:
        """Pictures and files become words where the model takes none."""
        if model.sees:
            return self.asked.history
        history = [_in_words(told) for told in self.asked.history]
        if history != list(self.asked.history):
            self.left_out.append("attachments")
        return history

    @property
    def headers(self) -> dict[str, str]:
        """What was put back of the thoughts, and what could not be passed on."""
        told = f"restored={self.restored.restored} missed={self.restored.missed} dropped={self._dropped()}"
        named = {"x-thoughtline-reasoning": told}
        return named | ({"x-thoughtline-left-out": _in_header(self.left_out)} if self.left_out else {})

    @property
    def has_failed(self) -> bool:
        return self.wrong is not None

    @property
    def key(self) -> UUID:
        return self.program.key.pk

    async def run(self, tell: Tell) -> None:
        """Tells frames as they come. Wrong before the first of them, and whenever nobody wanted a stream; what else goes wrong is told in
        them."""
        self._tell = tell
        self._asked_now = asyncio.create_task(self._answered())
        if self._turn:
            self._engine.runner.accompany(self._turn.claim, self._asked_now)
        try:
            await asyncio.wait({self._asked_now})
        finally:
            self._asked_now.cancel()
        if self._asked_now.cancelled():
            if self._turn and self._stopped_by:
                await self._written(self._turn.stop(self.program.key.name))
            await self._fail(self._stopped_by or STOPPED, Status.STOPPED)
        elif self._wrong:
            raise self._wrong

    _asked_now: asyncio.Task[None] | None = None
    _wrong: Wrong | None = None

    def give_up(self, wrong: Wrong) -> None:
        """Ends it for this reason."""
        self._stopped_by = wrong
        if self._asked_now:
            self._asked_now.cancel()

    async def _answered(self) -> None:
        """Never fails: why there is no answer is kept for whoever waits."""
        try:
            response = await self._asked_model()
            await self._end(response)
        except ProviderError as error:
            await self._failed(error)
        except Fenced:
            await self._failed(None, STOPPED)
        except Exception as error:
            log.error(
                "a request of a program broke: %s",
                type(error).__name__,
                exc_info=log.isEnabledFor(logging.DEBUG),
            )
            await self._failed(ProviderError(Trouble.BROKEN, BROKEN.sentence), BROKEN)

    async def _failed(self, error: ProviderError | None, wrong: Wrong | None = None) -> None:
        if self._turn and error:
            with suppress(Fenced):
                await self._turn.fail(error)
        try:
            await self._fail(wrong or (wrong_of(error) if error else STOPPED))
        except Wrong as told:
            self._wrong = told

    async def _asked_model(self) -> RoundResponse:
        asking = self._asking()
        try:
            with noted(self):
                return await asking.ask()
        finally:
            # A turn lets go of its facts when they are rows.
            self._sent, self._facts = asking.sent, self.hearing.facts or {}

    @property
    def usage(self) -> Usage:
        return self._usage or Usage()

    def whole(self) -> dict[str, Any]:
        return self._writer.whole()

    def still_thinking(self) -> list[Frame]:
        return self._begun() + self._writer.still_thinking()

    def _asking(self) -> Asking:
        asked, (_, model) = self.asked, self.who
        what = ModelAsked(
            log=self.restored.log,
            conversation=str(self.program.key.pk),
            instructions=self.restored.instructions,
            effort=effort_for(asked.effort, model.efforts),
            tools=asked.tools,
            may_call=asked.wishes.choice is not Choice.NONE,
            # Whoever watches a run sees what its program does not.
            wishes=replace(asked.wishes, hides_thoughts=False) if self._turn else asked.wishes,
        )
        return Asking(self.hearing, self.who, what, replay_turns=None, named=as_it_is)

    def _hear(self, event: Event) -> None:
        if not isinstance(event, _BEFORE_THE_FIRST) or self._has_begun:
            frames = self._begun() + self._writer.hear(event)
            if frames:
                self._tell(frames)

    _has_begun = False

    def _begun(self) -> list[Frame]:
        if self._has_begun:
            return []
        self._has_begun = True
        return self._writer.begin()

    async def _fail(self, wrong: Wrong, ended: str = Status.FAILED) -> None:
        self.wrong = wrong
        told_nothing = ended == Status.FAILED and not self.hearing.draft.pieces
        self._usage = Usage(0, 0, 0, 0, 0) if told_nothing else None
        await self._written(self._count(ended))
        if not (self._has_begun and self.asked.stream):
            raise wrong
        self._tell(self._writer.fail(wrong))

    async def _end(self, response: RoundResponse) -> None:
        self._usage = Usage(**response.facts["usage"])
        frames = self._begun() + self._writer.end(
            HowEnded(finish=response.finish, usage=self._usage, at=_now())
        )
        if self._turn:
            await self._turn.end(response)
        await self._written(self._kept(response))
        self._tell(frames)

    async def _written(self, writing: Coroutine[Any, Any, None]) -> None:
        """Goes on by itself where it takes long, or where the program has gone."""
        task = asyncio.ensure_future(writing)
        _writing.add(task)
        task.add_done_callback(_has_written)
        await asyncio.wait({task}, timeout=WRITTEN_SECONDS)

    async def _kept(self, response: RoundResponse) -> None:
        self._chain.add_response(response.items)
        kept, keeping = None, list[Writing]()
        if self._is_worth_keeping(response.items):
            kept = kept_rows.kept_now(
                secret=self.handed.secret,
                owner=self.program.key.owner_id,
                scope=self._scope,
                digest=self._chain.digest(),
                items=response.items,
                keys=self.handed.keys,
                repaired=response.facts.get("repaired", ()),
                turn=str(self._turn.claim.message) if self._turn else "",
                name=self.handed.name,
            )
            kept_rows.remember(kept)
        if self._turn:
            name, owner = name_of(Part.ANSWER, self._chain.digest()), self.program.key.owner_id
            place = self._turn.claim.message, response.facts["round"]
            keeping.append(partial(note_place, owner, name, *place))
        if self._keep_whole and (write := self._keep_whole(self.handed.secret, self._writer.whole())):
            keeping.append(write)
        await self._count(Status.COMPLETE, kept, keeping)

    def _is_worth_keeping(self, items: Sequence[Item]) -> bool:
        _, model = self.who
        return _thinks(model) or any(item.wire is not None for item in items)

    async def _count(
        self, ended: str, kept: KeptAnswer | None = None, keeping: Sequence[Writing] = ()
    ) -> None:
        """Tried until it stands: what was used was paid for. `kept` and `keeping`: what is written with it, if that can be."""
        request, self._request = self._request, None
        if request is None:
            return
        draft = self.hearing.draft
        measured = RequestMeasured(
            round=self._facts,
            durations=draft.durations(list(draft.clock.spans), draft.at),
            replayed=self._replayed(),
        )
        end = EndRequest(pk=request, usage=self._usage, ended=ended, measured=measured)
        over = EndingRequest(end=end, key=self.program.key.pk, kept=kept, keeping=keeping)
        await self._engine.keeper.patiently(ending.done)(over)

    def _replayed(self) -> Replayed:
        """What became of the thoughts in the history, also counted for each response that they are of."""
        sent = self.restored.sent_back(self._sent) if self._facts.get("replayed") else set()
        to_write.note(sent)
        kept_rows.memory.lookups.note(replays=len(sent))
        return Replayed(self.restored.restored, self.restored.missed, self._dropped())

    def _dropped(self) -> int:
        return sum((self.hearing.facts or self._facts).get("dropped", {}).values())

    async def close(self) -> None:
        """However it ended; where its program has gone away, what it was told counts by estimate."""
        if self._beginning and not self._beginning.done():
            await self._written(self._close_once_begun(self._beginning))
        else:
            await self._close()

    async def _close_once_begun(self, beginning: asyncio.Future[Any]) -> None:
        await asyncio.wait({beginning})
        await self._close()

    async def _close(self) -> None:
        turn, has_gone = self._turn, self._request is not None
        if turn and has_gone:
            await self._written(turn.stop(self.program.key.name))
        if has_gone:
            await self._written(self._count(Status.STOPPED))
        if turn:
            turn.close()


_writing: set[asyncio.Task[None]] = set()


def _has_written(task: asyncio.Task[None]) -> None:
    _writing.discard(task)
    if not task.cancelled() and (error := task.exception()):
        log.error("the end of a request was not written: %s", type(error).__name__)


async def all_written() -> None:
    """Before the process ends."""
    if _writing:
        await asyncio.wait(_writing, timeout=WRITTEN_SECONDS)


def scope_of(provider: Provider, model: ModelSpec) -> ModelScope:
    return ModelScope(
        provider=model.provider,
        destination=provider.endpoint.base_url[:300],
        dialect=model.dialect,
        model=model.name,
    )


def _thinks(model: ModelSpec) -> bool:
    return model.thinks or bool(model.efforts)


def _in_words(told: Any) -> Any:
    if not isinstance(told, Said | ToldResult):
        return told
    return replace(told, parts=tuple(part if isinstance(part, str) else part.in_words for part in told.parts))


def _in_header(words: Iterable[str]) -> str:
    """Each once, in signs that any header may have."""
    said = ", ".join(dict.fromkeys(words))[:MOST_IN_HEADER]
    return "".join(sign if sign.isascii() and sign.isprintable() else "?" for sign in said)


@cache
def _seal_key(secret: str) -> bytes:
    return hmac.digest(secret.encode(), b"gateway seals", "sha256")


def _now() -> int:
    return int(time.time())


def _until_tomorrow() -> int:
    return 86_400 - _now() % 86_400


def _nobody(frames: list[Frame]) -> None:
    pass
