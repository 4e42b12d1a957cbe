"""What a person chooses from before a conversation goes out: how much, as what, and how large that will be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Sum
from django.db.models.functions import Coalesce, Length
from django.utils.text import slugify

from ...branches.store.forking import Extent
from ...core.items import Kind
from ...core.plural import many
from ...store.models import Conversation, Item
from ..forms import Format
from ..out.chosen import Chosen, load_choice

_EXTENTS = {
    Extent.BRANCH: ("This branch", "What you see, from the first question to the last answer."),
    Extent.WITH_SIDES: (
        "With its side branches",
        "The other questions and answers along this branch as well.",
    ),
    Extent.EVERYTHING: ("Everything", "The whole tree of this conversation."),
}
_FORMATS = {
    Format.MARKDOWN: ("Markdown", "md", "To read and to print. Side branches follow below."),
    Format.JSON: (
        "Thoughtline’s JSON",
        "json",
        "Complete. Opens in any Thoughtline again, thoughts and all.",
    ),
    Format.ASSISTANT_UI: (
        "assistant-ui",
        "json",
        "For programs built with it. Durations in whole seconds.",
    ),
}
# Of a message and of an item, beside what they say.
_AROUND_MESSAGE, _AROUND_ITEM = 220, 160
_SPOKEN = (Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE)


@dataclass(frozen=True, slots=True)
class ExtentToChoose:
    """`sizes`: about how many bytes its words are, its thoughts, its tools' details, and all that is kept of it."""

    value: str
    name: str
    words: str
    count: str
    sizes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FormatToChoose:
    value: str
    name: str
    ending: str
    words: str


FORMATS = tuple(FormatToChoose(value, *words) for value, words in _FORMATS.items())


def name_of(conversation: Conversation, format: Format) -> str:
    """Of the file."""
    return f"{slug_of(conversation)}.{_FORMATS[format][1]}"


def slug_of(conversation: Conversation) -> str:
    return slugify(conversation.title)[:60].strip("-") or "conversation"


def extents_to_choose(
    conversation: Conversation, owner: User, at: UUID | None
) -> list[ExtentToChoose] | None:
    """None where that message is not there."""
    choice, sizes = load_choice(conversation, owner, at=at), _sizes(conversation.pk)
    return [_to_choose(extent, choice.of(extent), sizes) for extent in Extent] if choice else None


def _to_choose(extent: Extent, chosen: Chosen, sizes: Mapping[UUID, Counter[str]]) -> ExtentToChoose:
    whole = Counter[str]()
    for pk in chosen.messages:
        whole += sizes.get(pk, Counter())
    count = many(len(chosen.messages), "message")
    if extent is Extent.EVERYTHING:
        above = set(chosen.parents.values())
        count += f", {many(sum(pk not in above for pk in chosen.messages), 'branch', 'branches')}"
    return ExtentToChoose(extent, *_EXTENTS[extent], count, whole)


def _sizes(conversation: UUID) -> Mapping[UUID, Counter[str]]:
    """By message."""
    found: dict[UUID, Counter[str]] = {}
    rows = Item.objects.filter(message__conversation=conversation, message__deletion=None).order_by()
    lengths = rows.values_list("message", "kind").annotate(
        text=Sum(Length("text")), kept=Sum(Coalesce(Length("wire"), 0)), count=Count("pk")
    )
    for message, kind, text, wire, count in lengths:
        which = "words" if kind in _SPOKEN else "thoughts" if kind == Kind.REASONING else "tools"
        sizes = found.setdefault(message, Counter(json=_AROUND_MESSAGE))
        sizes.update({which: text, "json": text + wire + count * _AROUND_ITEM})
    return found
