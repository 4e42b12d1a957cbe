"""What is asked for: words and phrases, where, since when, of which model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import QueryDict

from ..core.items import clean
from ..core.named import identity, number
from ..core.signs.folded import fold
from .models import Spoken

WORDS_CAP = 200
MOST_TERMS = 8
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TITLE = "title"
WHERE = {TITLE: "Titles", Spoken.QUESTION: "Questions", Spoken.ANSWER: "Answers", Spoken.THOUGHT: "Thoughts"}
WHEN = {"": "Any time", "month": "The last 30 days", "year": "This year"}
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»「」『』＂", '"'))


class NotUnderstood(ValueError):
    """The address of a search makes no sense."""


@dataclass(frozen=True, slots=True)
class ConversationPlace:
    """In the list of one's conversations, the newest first: what comes after it is older."""

    updated_at: datetime
    id: UUID

    @classmethod
    def named(cls, text: str) -> ConversationPlace:
        moment, _, name = text.partition(".")
        # With a digit more it lay behind the last of all days.
        since, pk = number(moment, digits=17), identity(name)
        if since is None or pk is None:
            raise NotUnderstood("That place is in no list.")
        return cls(EPOCH + timedelta(microseconds=since), pk)

    def __str__(self) -> str:
        return f"{(self.updated_at - EPOCH) // timedelta(microseconds=1)}.{self.id}"


@dataclass(frozen=True, slots=True)
class Search:
    """`inside`: of one conversation alone, from its hit with the number `skip` on; `after`: from this place of the list on."""

    words: str = ""
    where: frozenset[str] = frozenset(WHERE)
    when: str = ""
    model: str = ""
    inside: UUID | None = None
    skip: int = 0
    after: ConversationPlace | None = None

    @classmethod
    def of(cls, query: QueryDict) -> Search:
        words = clean(query.get("q", ""))
        if len(words) > WORDS_CAP:
            raise NotUnderstood(f"Search with at most {WORDS_CAP} signs.")
        after = query.get("after", "")
        return cls(
            words=words.strip(),
            where=frozenset(WHERE.keys() & query.getlist("where")) or frozenset(WHERE),
            when=query.get("when", "") if query.get("when", "") in WHEN else "",
            model=clean(query.get("model", ""))[:300],
            inside=identity(query.get("in", "")),
            skip=number(query.get("skip", ""), digits=6) or 0,
            after=ConversationPlace.named(after) if after else None,
        )

    @property
    def terms(self) -> tuple[str, ...]:
        return terms_of(self.words)

    @property
    def is_narrowed(self) -> bool:
        return bool(self.when or self.model or self.where != frozenset(WHERE))

    def since(self, now: datetime) -> datetime | None:
        """`now` counts in the zone of whoever looks."""
        match self.when:
            case "month":
                return now - timedelta(days=30)
            case "year":
                return now.replace(month=1, day=1, hour=0, minute=0, second=0, microsecond=0)
            case _:
                return None

    def query(self, **changes: Any) -> str:
        """As the address says it."""
        search = replace(self, **changes)
        said: dict[str, Any] = {"q": search.words, "when": search.when, "model": search.model}
        said["where"] = (
            [] if search.where == frozenset(WHERE) else [key for key in WHERE if key in search.where]
        )
        said |= {"in": search.inside, "skip": search.skip, "after": search.after}
        return urlencode({name: value for name, value in said.items() if value}, doseq=True)


def terms_of(words: str) -> tuple[str, ...]:
    """Folded: each word, and what stands in quotes as one."""
    pieces = words.translate(_QUOTES).split('"')
    found = [
        term
        for n, piece in enumerate(pieces)
        for term in ([fold(piece)] if n % 2 else map(fold, piece.split()))
        if term
    ]
    return tuple(dict.fromkeys(found))[:MOST_TERMS]
