"""The list of keys, in words: what each may ask, when it was used, and what of its day."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, tzinfo

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils import timezone

from ...catalog.page.models_shown import models_in_words
from ...core.plural import many
from ...limits import store as limits
from ...limits.store import UsedToday
from ...pages.visitors import site_of
from ...pages.words.amounts import NOTHING, dollars, short
from ...pages.words.days import zone_of
from ...pages.words.moments import Moment, ago
from ...providers.configured import Catalog
from ..models import ApiKey
from ..store.keys import KeyInUse

# From this share on a limit is near, and from that on nearly reached.
NEAR, NEARLY = 80, 95
USUAL_HOURS = 168


@dataclass(frozen=True, slots=True)
class Gauge:
    """How much of which limit is used, in percent."""

    of: str
    percent: int
    near: int = NEAR
    nearly: int = NEARLY


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownKey:
    """`today` with `more_today` and `gauge`: what was used of its day; `last_use` and `expires` have a second line each."""

    row: ApiKey
    may_ask: str
    is_busy: bool
    last_use: str
    last_detail: str
    today: str
    more_today: str
    gauge: Gauge | None
    expires: str
    expires_on: str


@dataclass(frozen=True, slots=True)
class RevokedKey:
    name: str
    begins_with: str
    when: str


def base_address(request: HttpRequest) -> str:
    """What a program is told in place of its provider's."""
    return f"{site_of(request).rstrip('/')}/v1"


def shown_keys(request: HttpRequest, found: Iterable[KeyInUse], catalog: Catalog) -> list[ShownKey]:
    now, zone = timezone.now(), zone_of(request)
    return [_shown(each, catalog, now, zone) for each in found]


def revoked_keys(request: HttpRequest, rows: Iterable[ApiKey]) -> list[RevokedKey]:
    zone = zone_of(request)
    return [RevokedKey(row.name, row.begins_with, _date(row.revoked_at, zone)) for row in rows]


def kept_for() -> str:
    """How long thoughts are kept for a program that comes again."""
    hours = int(getattr(settings, "REASONING_CACHE_HOURS", USUAL_HOURS))
    return many(hours // 24, "day") if hours % 24 == 0 else many(hours, "hour")


def together_in_words(user: User) -> str:
    """What is used of the person's own day; "" where they have no limit."""
    limit, now = limits.load_limit(user), timezone.now()
    if limit is None:
        return ""
    used = ", ".join(limits.used_in_words(limit, limits.load_used(user, now)))
    again = limits.free_again(now)
    return f"All your keys and the chat together: {used} today. The next day begins in {again} (0:00 UTC)."


def may_ask(row: ApiKey, catalog: Catalog) -> str:
    if not row.models:
        return "every model that you may use"
    if len(row.models) == 1:
        return f"{catalog.label(row.models[0])} only"
    return models_in_words([catalog.label(model) for model in row.models])


def key_in_words(request: HttpRequest, row: ApiKey, catalog: Catalog) -> str:
    """All that was chosen of a new one, as the end of a sentence."""
    said = [may_ask(row, catalog), *_limits_in_words(row)]
    said += ["recorded"] if row.is_recorded else []
    said += ["with management"] if row.is_management else []
    said += [f"until {_date(row.expires_at, zone_of(request))}"] if row.expires_at else []
    return ", ".join(said)


def first_use_in_words(request: HttpRequest, row: ApiKey) -> str:
    """ "" while there was none."""
    if row.last_used_at is None:
        return ""
    at = Moment(row.last_used_at.astimezone(zone_of(request))).clock
    return f"It was used at {at}{f', by {row.last_program}' if row.last_program else ''}. It works."


def _shown(each: KeyInUse, catalog: Catalog, now: datetime, zone: tzinfo) -> ShownKey:
    row = each.row
    used_at = row.last_used_at
    made = f"made on {_date(row.created_at, zone)}"
    return ShownKey(
        row=row,
        may_ask=_what_it_asks(row, catalog),
        is_busy=bool(each.running),
        last_use="thinks now" if each.running else ago(used_at, now) if used_at else "never used",
        last_detail=row.last_program if used_at else made,
        today=_today(row, each.used),
        more_today=_more_today(row, each.used),
        gauge=_gauge(row, each.used),
        expires=_expires(row.expires_at, now, zone),
        expires_on=_date(row.expires_at, zone),
    )


def _what_it_asks(row: ApiKey, catalog: Catalog) -> str:
    default = f", {catalog.label(row.default_model)} if it names none" if row.default_model else ""
    return may_ask(row, catalog) + default


def _today(row: ApiKey, used: UsedToday) -> str:
    if row.turns is not None:
        return f"{used.turns:,} of {many(row.turns, 'turn')}"
    return many(used.turns, "turn") if used.turns else NOTHING


def _more_today(row: ApiKey, used: UsedToday) -> str:
    tokens = f"{short(used.tokens)} of {short(row.tokens)} tokens" if row.tokens else ""
    cost = f"$ {dollars(used.cost):,.2f} of $ {row.cost:,.2f}" if row.cost else ""
    if used.tokens and not tokens:
        tokens = f"{short(used.tokens)} tokens"
    if used.cost and not cost:
        cost = f"$ {dollars(used.cost):,.2f}"
    free = "no limit of its own" if used.turns and not _is_limited(row) else ""
    return ", ".join(filter(None, (tokens, cost, free)))


def _is_limited(row: ApiKey) -> bool:
    return (row.turns, row.tokens, row.cost) != (None, None, None)


def _gauge(row: ApiKey, used: UsedToday) -> Gauge | None:
    """Of the limit that is nearest."""
    shares = [
        (int(100 * done / most), of)
        for of, done, most in (
            ("turns", used.turns, row.turns),
            ("tokens", used.tokens, row.tokens),
            ("cost", dollars(used.cost), row.cost),
        )
        if most
    ]
    percent, of = max(shares, key=lambda share: share[0], default=(0, ""))
    return Gauge(of, min(100, percent)) if of else None


def _limits_in_words(row: ApiKey) -> list[str]:
    turns = f"{many(row.turns, 'turn')} a day" if row.turns is not None else ""
    tokens = f"{row.tokens:,} tokens a day" if row.tokens is not None else ""
    cost = f"$ {row.cost:,.2f} a day" if row.cost is not None else ""
    return list(filter(None, (turns, tokens, cost)))


def _expires(at: datetime | None, now: datetime, zone: tzinfo) -> str:
    if at is None:
        return "never"
    if at <= now:
        return "expired"
    days = (at.astimezone(zone).date() - now.astimezone(zone).date()).days
    return f"in {many(days, 'day')}" if days else "today"


def _date(at: datetime | None, zone: tzinfo) -> str:
    """This year's without the year."""
    this_year = timezone.now().astimezone(zone).year
    return Moment(at.astimezone(zone)).date.removesuffix(f" {this_year}") if at else ""
