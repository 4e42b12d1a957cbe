"""Who is signed in: to a request, and to what stays open for longer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.db import InterfaceError, OperationalError
from django.db.models import Subquery
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.functional import SimpleLazyObject

from ..store import in_thread
from ..store.database.worded import Worded
from .sessions import Proof as Proof
from .sessions import SessionStore

ASK_AGAIN_SECONDS = 4.0
# A database that is away for so long makes nobody leave.
UNANSWERED_SECONDS = 15.0
# What a request has just found out holds for the news that it makes.
JUST_NOW_SECONDS = 1.0
USUAL_BACKEND = "django.contrib.auth.backends.ModelBackend"
# Whoever looks at what strangers may see too.
Anybody = User | AnonymousUser


class SignedIn(HttpRequest):
    """What `login_required` lets through."""

    user: User


def who_is_signed_in(session: str) -> Anybody:
    """By the session as it is stored now, the password, and whether the account is open; else nobody."""
    request = HttpRequest()
    request.session = SessionStore(session or None)
    return user_of(request)


class SignedInByBoth(AuthenticationMiddleware):
    """Django's, by a session and an account that are read together."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = cast(Anybody, SimpleLazyObject(lambda: _user_once(request)))


def _user_once(request: HttpRequest) -> Anybody:
    """Where Django looks for it, too."""
    known = vars(request)
    if "_cached_user" not in known:
        known["_cached_user"] = user_of(request)
    found: Anybody = known["_cached_user"]
    return found


def user_of(request: HttpRequest) -> Anybody:
    """Where what was read together does not plainly say who it is, Django finds out, and does what is to be done then."""
    session = request.session
    account = _plainly(session)
    if account is None:
        found = get_user(request)
        if isinstance(found, User) and isinstance(session, SessionStore):
            session.belongs_to(found)
        return found
    return account


def _plainly(session: SessionBase) -> User | None:
    """What Django asks of a session and of an account in which nothing is unusual."""
    named, backend = session.get(SESSION_KEY), session.get(BACKEND_SESSION_KEY)
    account: User | None = getattr(session, "account", None)
    if account is None or named != str(account.pk) or not account.is_active:
        return None
    if backend != USUAL_BACKEND or backend not in settings.AUTHENTICATION_BACKENDS:
        return None
    proved = constant_time_compare(session.get(HASH_SESSION_KEY) or "", account.get_session_auth_hash())
    return account if proved else None


def just_proved(request: SignedIn) -> tuple[tuple[str, int], Proof, float] | None:
    """Who this is, by which rows, and until when by the monotonic clock that may be taken for granted: what is written for this
    request is told to sockets of the same session. None where it was not read at once."""
    session = request.session
    if not isinstance(session, SessionStore) or session.proof is None or session.account != request.user:
        return None
    return (session.session_key or "", request.user.pk), session.proof, session.read_at + JUST_NOW_SECONDS


_PROOFS = Worded(
    lambda session, now, user: (
        User.objects.filter(pk=user, is_active=True)
        .annotate(
            session=Subquery(
                Session.objects.filter(session_key=session, expire_date__gt=now).values("session_data")
            )
        )
        .values_list("session", "password")
    ),
    str,
    datetime,
    int,
)


def proof_of(session: str, user: User) -> Proof | None:
    """What is stored of them now; None where they are signed out for sure."""
    found = _PROOFS.columns(session, timezone.now(), user.pk)
    return found[0] if found and found[0][0] is not None else None


def still_proved(session: str, user: User, proof: Proof | None) -> Proof | None:
    """What proves now that they are signed in; None where they are not. `proof`: what did so before."""
    now = proof_of(session, user)
    if now is None or now == proof:
        return now
    return now if who_is_signed_in(session) == user else None


@dataclass(eq=False, slots=True)
class Present:
    """Somebody who was signed in when these rows were read. `left` is settled when that is over."""

    session: str
    user: User
    left: asyncio.Future[None]
    proof: Proof | None = None


class Presence:
    """All who stay in this process. They are asked after together: one by one, that would cost more than what they hear."""

    def __init__(self) -> None:
        self._here: set[Present] = set()
        self._asking: asyncio.Task[None] | None = None

    async def until_signed_out(self, session: str, user: User) -> None:
        """Returns soon after it, whoever or whatever has done it."""
        mine = Present(session, user, asyncio.get_running_loop().create_future())
        self._here.add(mine)
        self._asking = self._asking or asyncio.create_task(self._keep_asking())
        try:
            await mine.left
        finally:
            self._here.discard(mine)
            if not self._here and self._asking:
                self._asking.cancel()
                self._asking = None

    async def _keep_asking(self) -> None:
        answered_at = time.monotonic()
        while True:
            await asyncio.sleep(ASK_AGAIN_SECONDS)
            here = list(self._here)
            try:
                gone = await in_thread(who_has_left)(here)
                answered_at = time.monotonic()
            except Exception as error:
                is_away = isinstance(error, OperationalError | InterfaceError)
                if is_away and time.monotonic() - answered_at < UNANSWERED_SECONDS:
                    continue
                # Who cannot be asked after must not stay either.
                for one in here:
                    if not one.left.done():
                        one.left.set_exception(error)
                continue
            for one in gone:
                if not one.left.done():
                    one.left.set_result(None)


PRESENCE = Presence()


def who_has_left(here: Iterable[Present]) -> list[Present]:
    """Where the rows are what they were, so is the answer."""
    now = _proofs(here)
    gone = []
    for one, proof in now.items():
        if proof is not None and proof == one.proof:
            continue
        if who_is_signed_in(one.session) == one.user:
            one.proof = proof
        else:
            gone.append(one)
    return gone


def _proofs(here: Iterable[Present]) -> dict[Present, Proof | None]:
    rows = Session.objects.filter(
        session_key__in={one.session for one in here}, expire_date__gt=timezone.now()
    )
    sessions = dict(rows.values_list("session_key", "session_data"))
    accounts = User.objects.filter(pk__in={one.user.pk for one in here}, is_active=True)
    passwords = dict(accounts.values_list("pk", "password"))
    return {
        one: (sessions[one.session], passwords[one.user.pk])
        if one.session in sessions and one.user.pk in passwords
        else None
        for one in here
    }
