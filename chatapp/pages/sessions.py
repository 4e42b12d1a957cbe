"""Sessions as Django keeps them, read together with the account of whoever has them: both are asked for at every request."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore as StoredSessions
from django.contrib.sessions.models import Session
from django.db.models import Subquery
from django.utils import timezone

from ..store.database.worded import Worded

# What proves that somebody is signed in: their session and their password, as they are stored.
Proof = tuple[str, str]
# Whose session it was when it was last looked at. It saves a statement and proves nothing.
_LIKELY: dict[str, int] = {}
MOST_LIKELY = 10_000

_ACCOUNT_AND_SESSION = Worded(
    lambda session, now, user: User.objects.filter(pk=user).annotate(
        session=Subquery(
            Session.objects.filter(session_key=session, expire_date__gt=now).values("session_data")
        )
    ),
    str,
    datetime,
    int,
)


class SessionStore(StoredSessions):
    """`account`: the account that probably has it, as it was when the session was read, at `read_at` of the monotonic clock."""

    account: User | None = None
    proof: Proof | None = None
    read_at = 0.0

    def load(self) -> dict[str, Any]:
        key = self.session_key or ""
        likely = _LIKELY.get(key)
        row: Any = _ACCOUNT_AND_SESSION.first(key, timezone.now(), likely) if likely else None
        if row is None or row.session is None:
            loaded: dict[str, Any] = super().load()
            return loaded
        self.account, self.proof, self.read_at = row, (row.session, row.password), time.monotonic()
        return dict(self.decode(row.session))

    def belongs_to(self, user: User) -> None:
        if len(_LIKELY) >= MOST_LIKELY:
            _LIKELY.clear()
        if self.session_key:
            _LIKELY[self.session_key] = user.pk
