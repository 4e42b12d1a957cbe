"""Today, for whoever administers: one sentence that answers, and the sections that it leads to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import cached_property
from uuid import UUID

from django.urls import reverse
from django.utils import dateformat

from ...catalog.page.providers import ProviderLine
from ...core.counting import ENDED
from ...core.durations import in_short
from ...core.model_name import ModelName
from ...core.plural import many
from ...core.signs.visible import Leave, visible
from ...insight.page.insight import Sums, priced_in_words
from ...insight.page.reasons import ending_in_words, is_failure
from ...mcp_servers.models import McpTool
from ...operation.page.operation import OperationPage
from ...operation.part.doing import Does
from ...operation.store.waiting import PERSON, PROGRAM, RUNS, SLOT, LiveTurns
from ...oversight.models import Look
from ...oversight.page.rows import title_of
from ...oversight.views.looks import LookRow, look_row
from ...pages.words.amounts import dollars, share_in_percent
from ...pages.words.moments import Moment, day_and_time, lasted
from ...providers.base import Trouble
from ...reviews.models import Submission
from ...store.models import Conversation, Status
from ..store import AnswerEnded, AnswerOfHour, Failed, LiveAnswer, NearLimit, NewPerson
from .day import DayLine, day_line
from .providers import ProviderToday, providers_today

MOST_FAILURES, MOST_NEAR, MOST_RAW, MOST_QUESTION = 8, 3, 160, 120
NEAR = 0.9
CLOSED = "A conversation"
_NUMBERS = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_DOES = {
    Does.THINKS: ("thinks", "Thinking for {}"),
    Does.WRITES: ("writes", "Writes, for {}"),
    Does.CALLS: ("calls", "Calls {}"),
    Does.ASKS: ("waits", "Asked {} ago"),
    Does.RETRIES: ("waits", "Its provider is busy, for {}"),
    Does.SAVES: ("waits", "Waits for the database, for {}"),
}
# The ruler of a list: a tick is a second, half as wide as usual, or ten.
FINE, TEN, LONGEST_FINE, MOST_RULER = 2, 4, 60, 120


@dataclass(frozen=True, slots=True, kw_only=True)
class TodaySeen:
    """What was read for the page. `day`: counts of the day (UTC), by provider and by model; `may_read`: whether titles may be told."""

    now: datetime
    began: datetime
    zone: tzinfo
    may_read: bool
    operation: OperationPage
    live: Mapping[str, LiveTurns]
    at_work: Sequence[LiveAnswer]
    waiting: Sequence[LiveAnswer]
    ended: Sequence[AnswerEnded]
    failed: Sequence[Failed]
    hour: Sequence[AnswerOfHour]
    providers: Sequence[ProviderLine]
    models: Mapping[str, Counter[str]]
    near: Sequence[NearLimit]
    people: tuple[int, Sequence[NewPerson]]
    looks: tuple[int, Sequence[Look]]
    unassigned: tuple[int, Sequence[Submission]]
    changed_tools: Sequence[McpTool]
    label: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class NeedsDecision:
    """Something that needs one of them: what it is, more of it, since when, and the step."""

    what: str
    more: str
    since: str
    step: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningAnswer:
    """`kind`: how its clock is drawn; `ruler` and `unit`: how long it has thought."""

    conversation: UUID
    title: str
    address: str
    told: str
    model: str
    kind: str
    words: str
    ruler: int = 0
    unit: str = ""


@dataclass(frozen=True, slots=True)
class WaitingAnswer:
    title: str
    address: str
    calls: tuple[str, ...]
    asks: str
    since: str


@dataclass(frozen=True, slots=True)
class FailedSo:
    """Answers that failed in one way at one provider. `raw`: what the provider said last."""

    what: str
    raw: str
    last: str
    number: int
    address: str


@dataclass(frozen=True, slots=True)
class UseOfLimit:
    name: str
    person: int
    of: str
    percent: str
    words: str
    is_near: bool


@dataclass(frozen=True, slots=True)
class PersonCame:
    name: str
    pk: int
    told: str
    turns: str
    seen: str


class TodayPage:
    def __init__(self, seen: TodaySeen) -> None:
        self._seen = seen

    # The sentence

    @property
    def day(self) -> str:
        return dateformat.format(self._seen.began, "l, j F")

    @property
    def as_of(self) -> str:
        return f"{self._seen.now.astimezone(self._seen.began.tzinfo):%H:%M}"

    @property
    def lead_runs(self) -> str:
        number = self.running_count
        return _sentence(number, "answer is running", "answers are running", "Nothing is running")

    @property
    def lead_waits(self) -> str:
        number = self.waiting_count
        if not number:
            return "nothing waits for anyone"
        return f"{_number(number)} {'is' if number == 1 else 'are'} waiting for someone"

    @property
    def lead_failed(self) -> str:
        turns = self.sums.turns
        if not turns:
            return "nothing has been answered yet"
        return f"{_number(self.sums.failures) if self.sums.failures else 'none'} of {turns:,} failed"

    @property
    def lead_decide(self) -> str:
        number = len(self.decisions)
        return _sentence(number, "thing needs you", "things need you", "Nothing needs you")

    # Needs you

    @cached_property
    def decisions(self) -> list[NeedsDecision]:
        return [*self._keys_refused(), *self._troubles(), *self._submitted(), *self._changed_tools()]

    def _keys_refused(self) -> Iterator[NeedsDecision]:
        """What no waiting mends: whoever runs the server has to do something."""
        for line in self._seen.providers:
            refused = [
                each
                for each in self._seen.failed
                if ModelName.of(each.model).provider == line.name and each.reason.endswith(f":{Trouble.KEY}")
            ]
            if not (refused or line.wrong):
                continue
            names = sorted({visible(each.owner) for each in refused})
            said = (
                f"{many(len(refused), 'answer')} of {_listed(names)} failed on it today."
                if refused
                else line.state
            )
            first = min((each.at for each in refused), default=None)
            what = f"{line.label} refuses the key" if refused else f"{line.label} cannot be asked"
            yield NeedsDecision(what, said, self._age(first), "Try it", _provider_address(line))

    def _troubles(self) -> Iterator[NeedsDecision]:
        for trouble in self._seen.operation.troubles:
            if trouble.is_bad:
                yield NeedsDecision(trouble.sentence, "", "", "See it", reverse("operation"))

    def _submitted(self) -> Iterator[NeedsDecision]:
        _, rows = self._seen.unassigned
        for row in rows:
            owner = visible(row.conversation.owner.get_username())
            title = f"“{title_of(row.conversation)}”" if self._seen.may_read else "A submission"
            asks = visible(row.question, Leave.PROSE)[:MOST_QUESTION] if self._seen.may_read else ""
            said = f"{owner} submitted it{f' and asks: {asks}' if asks else ''}"
            yield NeedsDecision(
                f"{title} has no reviewer", said, self._age(row.created_at), "Assign", reverse("queue")
            )

    def _changed_tools(self) -> Iterator[NeedsDecision]:
        for tool in self._seen.changed_tools:
            yield NeedsDecision(
                f"{visible(tool.server.name)}.{visible(tool.name)} describes itself differently now",
                "What was said of it does not hold until someone has read what changed.",
                "",
                "Read it",
                reverse("admin:chatapp_mcpserver_change", args=[tool.server_id]),
            )

    # What runs, and what waits

    @property
    def running_count(self) -> int:
        return self._seen.live[RUNS].number

    @property
    def in_line(self) -> str:
        number = self._seen.live[SLOT].number
        return f"{number:,} in line" if number else "nobody in line"

    @property
    def waiting_count(self) -> int:
        return self._seen.live[PERSON].number + self._seen.live[PROGRAM].number

    @cached_property
    def at_work(self) -> list[RunningAnswer]:
        return [self._at_work(each) for each in self._seen.at_work]

    def _at_work(self, row: LiveAnswer) -> RunningAnswer:
        known = self._seen.operation.doing(row.pk)
        kind, words, ms = "waits", "In line", 0
        if known:
            _, doing = known
            kind, said = _DOES[doing.does]
            words, ms = (
                said.format(visible(doing.name) if doing.does is Does.CALLS else in_short(doing.ms)),
                doing.ms,
            )
        elif row.status == Status.RUNNING:
            kind, words = "writes", "Is being answered"
        seconds = max(1, ms // 1000)
        is_long = seconds > LONGEST_FINE
        ruler = min(MOST_RULER, seconds // 10 * TEN if is_long else seconds * FINE) if kind == "thinks" else 0
        return RunningAnswer(
            conversation=row.conversation.pk,
            title=self._title(row.conversation),
            address=self._transcript(row),
            told=f"{self._whose(row.conversation)}, since {self._clock(row.since)}",
            model=self._model(row),
            kind=kind,
            words=words,
            ruler=ruler,
            unit="ten" if is_long else "fine",
        )

    @cached_property
    def waiting(self) -> list[WaitingAnswer]:
        return [
            WaitingAnswer(
                self._title(row.conversation),
                self._transcript(row),
                tuple(map(visible, row.calls)),
                "its program" if row.conversation.program else visible(row.conversation.owner.get_username()),
                self._clock(row.since),
            )
            for row in self._seen.waiting
        ]

    # What failed

    @cached_property
    def sums(self) -> Sums:
        return Sums(sum(self._seen.models.values(), Counter()))

    @property
    def failed_share(self) -> str:
        return f"{share_in_percent(self.sums.failures, self.sums.turns)} of {self.sums.turns:,}"

    @cached_property
    def failed(self) -> list[FailedSo]:
        """By provider and reason, most frequent first."""
        numbers: Counter[tuple[str, str]] = Counter()
        for model, counts in self._seen.models.items():
            for how, number in Sums(counts).of(ENDED).items():
                if is_failure(how):
                    numbers[ModelName.of(model).provider, how] += number
        return [self._failed_so(*key, number) for key, number in numbers.most_common(MOST_FAILURES)]

    def _failed_so(self, provider: str, how: str, number: int) -> FailedSo:
        rows = [
            each
            for each in self._seen.failed
            if each.reason == how and ModelName.of(each.model).provider == provider
        ]
        raw = visible(" ".join(rows[0].raw[: MOST_RAW * 2].split()))[:MOST_RAW] if rows else ""
        label = next(
            (line.label for line in self._seen.providers if line.name == provider), visible(provider)
        )
        state = "interrupted" if how == "interrupted" else "failed"
        return FailedSo(
            what=f"{label}: {_small(ending_in_words(how))}",
            raw=raw if self._seen.may_read else "",
            last=self._clock(rows[0].at) if rows else "",
            number=number,
            address=f"{self.conversations}?provider={provider}&state={state}&days=1",
        )

    @property
    def conversations(self) -> str:
        return reverse("admin:chatapp_conversation_changelist")

    # Providers, use, people, looks

    @cached_property
    def providers(self) -> list[ProviderToday]:
        today: dict[str, Counter[str]] = {}
        for model, counts in self._seen.models.items():
            today.setdefault(ModelName.of(model).provider, Counter()).update(counts)
        return providers_today(self._seen.providers, today, self._seen.hour, self._seen.now)

    @property
    def priced(self) -> str:
        return priced_in_words(self.sums.counts)

    @cached_property
    def nearest(self) -> list[UseOfLimit]:
        found = [use for near in self._seen.near if (use := _nearest(near))]
        return sorted(found, key=lambda use: -float(use.percent))[:MOST_NEAR]

    @property
    def people_count(self) -> int:
        return self._seen.people[0]

    @cached_property
    def people(self) -> list[PersonCame]:
        return [self._came(each) for each in self._seen.people[1]]

    def _came(self, row: NewPerson) -> PersonCame:
        how = "signed up by themselves; the limits for strangers apply" if row.signed_up else "was let in"
        seen = row.user.last_login
        return PersonCame(
            name=visible(row.user.get_username()),
            pk=row.user.pk,
            told=f"{how}, {day_and_time(row.user.date_joined, self._seen.zone)}",
            turns=many(row.turns, "turn"),
            seen=f"signed in {lasted(self._seen.now - seen)} ago" if seen else "never signed in",
        )

    @property
    def looks_count(self) -> int:
        return self._seen.looks[0]

    @cached_property
    def looks(self) -> list[LookRow]:
        return [look_row(row, self._seen.zone) for row in self._seen.looks[1]]

    @cached_property
    def line(self) -> DayLine:
        return day_line(self._seen.ended, self._seen.began, self._seen.now)

    # Words

    def _title(self, row: Conversation) -> str:
        return title_of(row) if self._seen.may_read else CLOSED

    def _transcript(self, row: LiveAnswer) -> str:
        if not self._seen.may_read:
            return ""
        return f"{reverse('admin:transcript', args=[row.conversation.pk])}?at={row.pk}"

    def _whose(self, row: Conversation) -> str:
        owner = visible(row.owner.get_username())
        return f"{owner}, by {visible(row.program)}" if row.program else owner

    def _model(self, row: LiveAnswer) -> str:
        label = visible(self._seen.label(row.model))
        return f"{label}, {visible(row.effort)} effort" if row.effort else label

    def _clock(self, at: datetime) -> str:
        moment = Moment(at.astimezone(self._seen.zone))
        today = self._seen.now.astimezone(self._seen.zone).date()
        if moment.at.date() == today:
            return f"{moment.at:%H:%M:%S}" if self._seen.now - at < timedelta(hours=1) else moment.clock
        return f"yesterday, {moment.clock}" if moment.at.date() == today - timedelta(days=1) else moment.day

    def _age(self, at: datetime | None) -> str:
        return lasted(self._seen.now - at) if at else ""


def _provider_address(line: ProviderLine) -> str:
    return reverse("admin:try_provider", args=[line.name])


def _nearest(near: NearLimit) -> UseOfLimit | None:
    """The limit of theirs of which most is used."""
    used, limit = near.used, near.limit
    pairs = [
        ("turns", used["turns"], limit.turns, f"{used['turns']:,} of {limit.turns or 0:,}"),
        ("tokens", used["tokens"], limit.tokens, f"{used['tokens']:,} of {limit.tokens or 0:,}"),
        (
            "cost",
            float(dollars(used["cost"])),
            None if limit.cost is None else float(limit.cost),
            f"$ {dollars(used['cost']):,.2f} of $ {limit.cost or 0:,.2f}",
        ),
    ]
    parts = [(min(1.0, part / whole), of, words) for of, part, whole, words in pairs if whole]
    if not parts:
        return None
    part, of, words = max(parts)
    return UseOfLimit(
        visible(near.user.get_username()), near.user.pk, of, f"{100 * part:.1f}", words, part >= NEAR
    )


def _number(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"


def _sentence(number: int, one: str, more: str, none: str) -> str:
    if not number:
        return none
    return f"{_number(number)} {one if number == 1 else more}".capitalize()


def _small(words: str) -> str:
    return f"{words[:1].lower()}{words[1:]}"


def _listed(names: Sequence[str]) -> str:
    few = [*names[:2], f"{len(names) - 2} more"] if len(names) > 3 else list(names)
    return f"{', '.join(few[:-1])} and {few[-1]}" if len(few) > 1 else "".join(few) or "somebody"
