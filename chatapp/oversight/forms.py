"""What administrators ask the list of conversations for: read from its address, and written back into one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields, replace
from datetime import date
from urllib.parse import urlencode

from django.http import QueryDict

from ..core.durations import in_short
from ..core.named import day_named, number
from ..core.signs.visible import Leave, visible
from ..store.models import Status

WORDS_CAP, MOST_WORDS, LONGEST = 200, 8, 300
OLDER, ANY_TIME, TODAY = "older", 0, "today"
STATES: dict[str, tuple[str, tuple[Status, ...]]] = {
    "answering": ("Answering now", (Status.QUEUED, Status.RUNNING)),
    "waits": ("Waits for its person or program", (Status.WAITING,)),
    "failed": ("Has a failed answer", (Status.FAILED,)),
    "stopped": ("Has a stopped answer", (Status.STOPPED,)),
    "interrupted": ("Has an interrupted answer", (Status.INTERRUPTED,)),
}
DAYS = {
    TODAY: "Today",
    "1": "Last 24 hours",
    "7": "Last 7 days",
    "30": "Last 30 days",
    "365": "Last year",
    OLDER: "Older",
}
# Seconds.
THOUGHT = (1, 10, 30, 60, 300, 1800)
REVIEWS = {"open": "Under review", "judged": "Has a verdict"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAsked:
    """Names as the address has them. `thinking`: at least so many seconds of thought; `since`, `until`: days of the last question;
    `key`: driven by a program."""

    q: str = ""
    owner: int | None = None
    model: str = ""
    provider: str = ""
    state: str = ""
    days: str = ""
    since: date | None = None
    until: date | None = None
    thinking: int = ANY_TIME
    review: str = ""
    failed: bool = False
    key: bool = False
    archived: bool = False

    @property
    def words(self) -> list[str]:
        return visible(self.q, Leave.PROSE).split()[:MOST_WORDS]

    @property
    def query(self) -> str:
        """Without what was not chosen."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        return urlencode({name: 1 if value is True else value for name, value in said.items() if value})

    def pairs(self) -> Iterator[tuple[str, str]]:
        """As hidden fields of a form."""
        for each in fields(self):
            if value := getattr(self, each.name):
                yield each.name, "1" if value is True else str(value)


@dataclass(frozen=True, slots=True)
class Chip:
    """Something that was chosen, in words, and the address of the list without it."""

    words: str
    without: str


def asked_for(data: QueryDict) -> ListAsked:
    """What makes no sense counts as not chosen."""
    seconds = number(data.get("thinking", ""))
    return ListAsked(
        q=_name(data.get("q", ""))[:WORDS_CAP],
        owner=number(data.get("owner", "")),
        model=_name(data.get("model", "")),
        provider=_name(data.get("provider", "")),
        state=_one_of(STATES, data.get("state", "")),
        days=_one_of(DAYS, data.get("days", "")),
        since=day_named(data.get("since", "")),
        until=day_named(data.get("until", "")),
        thinking=seconds if seconds in THOUGHT else ANY_TIME,
        review=_one_of(REVIEWS, data.get("review", "")),
        failed="failed" in data,
        key="key" in data,
        archived="archived" in data,
    )


def chips(asked: ListAsked, owner: str) -> list[Chip]:
    """`owner`: what the chosen person is called."""
    said = [
        ("q", f"with “{visible(asked.q, Leave.PROSE)}”"),
        ("owner", f"of {owner}"),
        ("model", f"by {visible(asked.model)}"),
        ("provider", f"from {visible(asked.provider)}"),
        ("state", STATES[asked.state][0].lower() if asked.state else ""),
        ("days", f"last question: {DAYS[asked.days].lower()}" if asked.days else ""),
        ("since", f"last question since {asked.since}"),
        ("until", f"last question until {asked.until}"),
        ("thinking", f"thought at least {in_short(asked.thinking * 1000)}"),
        ("review", REVIEWS[asked.review].lower() if asked.review else ""),
        ("failed", "an answer failed"),
        ("key", "recorded by a key"),
        ("archived", "archived too"),
    ]
    nothing = ListAsked()
    return [
        Chip(words, replace(asked, **{name: getattr(nothing, name)}).query)
        for name, words in said
        if getattr(asked, name) != getattr(nothing, name)
    ]


def _name(text: str) -> str:
    """As a row may have it: no database keeps a zero."""
    return text.replace("\0", "").strip()[:LONGEST]


def _one_of(choices: Collection[str], said: str) -> str:
    return said if said in choices else ""
