"""The line above a recorded run: whose it is, when it began, how many requests there were and what they cost."""

from __future__ import annotations

from collections import Counter
from datetime import tzinfo

from django.db.models import QuerySet
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from ...catalog.store import load_prices
from ...core.plural import many
from ...core.recorded import Recorded
from ...pages.stencils import Stencil
from ...pages.words.amounts import NOTHING, cost
from ...pages.words.moments import Moment
from ...store.models import Conversation, Message, Role

_RUN = Stencil("conversations/run/_run.html")


def render_run(conversation: Conversation, zone: tzinfo) -> SafeString:
    """Nothing where no program drives it."""
    if not conversation.program:
        return SafeString("")
    answers = Message.objects.filter(conversation=conversation.pk, role=Role.ASSISTANT, deletion=None)
    requests, paid = _figures(answers.values_list("metadata", flat=True))
    begun = Moment(conversation.created_at.astimezone(zone))
    words = {
        "program": conversation.program,
        "begun": _begun(begun),
        "exact": begun.exact,
        "day": begun.day,
        "requests": many(requests, "request"),
        "cost": paid,
        "key": _address_of_keys(),
    }
    return _RUN.fill({}, words)


def _begun(begun: Moment) -> str:
    today = timezone.now().astimezone(begun.at.tzinfo).date()
    return f"at {begun.clock}" if begun.at.date() == today else f"on {begun.day}"


def _figures(answers: QuerySet[Message, object]) -> tuple[int, str]:
    """Each request once, also where the answer of which it is a part went on in several ways."""
    recorded = [Recorded(metadata) for metadata in answers]
    rounds = [facts for one in recorded for facts in one.rounds[one.copied :]]
    prices = load_prices({facts.model for facts in rounds})
    made = Counter[str]()
    for facts in rounds:
        price = prices.get(facts.model)
        made["cost"] += price.cost(facts.usage) if price else 0
        made["unpriced"] += not price and bool(facts.usage)
    said = cost(made)
    return len(rounds), said if made["cost"] and said != NOTHING else ""


def _address_of_keys() -> str:
    try:
        return reverse("keys")
    except NoReverseMatch:
        return "/settings/keys/"
