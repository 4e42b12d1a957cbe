"""Who may send how much: decided while a request comes in, before its body is kept. What is refused here is told by a page like
every other, which `refused_at_the_door` makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.db import Error
from django.http import HttpRequest, HttpResponse, parse_cookie
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.decorators import sync_and_async_middleware
from django.utils.html import escape

from ...store import in_thread
from ..commands import by_script
from ..signed_in import who_is_signed_in
from .caps import KB, LITTLE, beside_of, cap_of, size_in_words

Header = Callable[[str], str]
# A door can tell the application no more than headers. Whoever sends this one themselves is refused, and nobody else.
HEADER = "Thoughtline-Refused"
# A body comes at least so fast, in bytes a second, after the time that everybody has.
PATIENCE, PACE = 20.0, 16 * KB
# Each piece costs as much as a hundred bytes; a slow line makes them of a kilobyte and more.
MOST_PIECES, CRUMB = 10_000, 512
# Of one person at once, those that are longer than little.
MOST_OF_ONE = 2


class Refusal(StrEnum):
    LARGE = "large"
    SIGNED_OUT = "signed-out"
    MANY = "many"
    CROWDED = "crowded"
    SLOW = "slow"


STATUS = {
    Refusal.LARGE: 413,
    Refusal.SIGNED_OUT: 413,
    Refusal.MANY: 429,
    Refusal.CROWDED: 503,
    Refusal.SLOW: 408,
}
SENTENCES = {
    Refusal.SIGNED_OUT: f"Without signing in at most {size_in_words(LITTLE)} can be sent. Sign in, then send it again.",
    Refusal.MANY: "Other long texts of yours are on their way still. Send this one when they have arrived.",
    Refusal.CROWDED: "Too many long texts are on their way to the server. Send it again in a moment.",
    Refusal.SLOW: "What you sent took too long to arrive. Send it again.",
}
RETRY_SECONDS = "5"


def seconds_for(size: int) -> float:
    return PATIENCE + size / PACE


def in_crumbs(pieces: int, size: int) -> bool:
    """Nobody who means well sends so many that are so small."""
    return pieces > max(MOST_PIECES, size / CRUMB)


def session_in(cookies: str) -> str:
    return str(parse_cookie(cookies).get(settings.SESSION_COOKIE_NAME, ""))


# Who sends it to what is no page, by the value of each header.
SENDERS: dict[str, Callable[[Header], int | None]] = {}


def person_of(path: str, header: Header) -> int | None:
    """Who is signed in with these cookies, or is known by what else they bring."""
    if beside := beside_of(path):
        return SENDERS[beside](header)
    session = session_in(header("cookie"))
    user = who_is_signed_in(session) if session else None
    return user.pk if user and user.is_authenticated else None


class Body(Protocol):
    def refuse(self, refusal: Refusal) -> None:
        """Ends it; it is not in the pool any more then."""


class Pool:
    """Bodies that are on their way or wait to be read. Where they are too much together, the one that has been on its way for longest
    makes room: whoever is slow on purpose keeps nobody else out."""

    def __init__(self, most: int) -> None:
        self._most, self._sum = most, 0
        self._coming: dict[Body, int] = {}
        self._here: dict[Body, int] = {}

    def grow(self, body: Body, size: int) -> None:
        """It has come so far."""
        self._sum += size - self._coming.get(body, 0)
        self._coming[body] = size
        while self._sum > self._most and self._coming:
            next(iter(self._coming)).refuse(Refusal.CROWDED)

    def arrived(self, body: Body) -> None:
        if body in self._coming:
            self._here[body] = self._coming.pop(body)

    def leave(self, body: Body) -> None:
        self._sum -= self._coming.pop(body, 0) + self._here.pop(body, 0)


little_ones = Pool(16 * 1024 * KB)
long_ones = Pool(48 * 1024 * KB)
# By person.
senders: Counter[int] = Counter()


class RoomTaken:
    """By one body: among the little ones, until it is known whose it is."""

    def __init__(self, body: Body) -> None:
        self._body, self._pool = body, little_ones
        self._person: int | None = None

    def grow(self, size: int) -> None:
        self._pool.grow(self._body, size)

    def may_be_long(self, person: int, size: int) -> bool:
        """From now on it may, unless as many of this person's are on their way as may be."""
        if senders[person] >= MOST_OF_ONE:
            return False
        self.leave()
        self._pool, self._person = long_ones, person
        senders[person] += 1
        self.grow(size)
        return True

    def arrived(self) -> None:
        self._pool.arrived(self._body)

    def leave(self) -> None:
        self._pool.leave(self._body)
        if self._person is not None:
            senders[self._person] -= 1
            if not senders[self._person]:
                del senders[self._person]
            self._person = None


async def sender_of(path: str, header: Header) -> int | Refusal:
    """Who sends something long, or why nobody may."""
    try:
        person = await in_thread(person_of)(path, header)
    except Error:
        return Refusal.CROWDED
    return Refusal.SIGNED_OUT if person is None else person


@sync_and_async_middleware
def refused_at_the_door(get_response: Callable) -> Callable:
    """The last of all, so that its page has what every page has."""

    async def awaited(request: HttpRequest) -> HttpResponseBase:
        refusal = _told_refusal(request)
        return await (sync_to_async(_refusal_page)(request, refusal) if refusal else get_response(request))

    def called(request: HttpRequest) -> HttpResponseBase:
        refusal = _told_refusal(request)
        page: HttpResponseBase = _refusal_page(request, refusal) if refusal else get_response(request)
        return page

    return awaited if iscoroutinefunction(get_response) else called


def _told_refusal(request: HttpRequest) -> Refusal | None:
    try:
        return Refusal(request.headers.get(HEADER, ""))
    except ValueError:
        return None


def _refusal_page(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    status, sentence = STATUS[refusal], _sentence(request, refusal)
    if by_script(request):
        response = HttpResponse(escape(sentence), status=status)
    else:
        response = render(request, "413.html", {"sentence": sentence}, status=status)
    if status != 413:
        response["Retry-After"] = RETRY_SECONDS
    return response


def _sentence(request: HttpRequest, refusal: Refusal) -> str:
    if refusal is Refusal.LARGE:
        most = size_in_words(cap_of(request.method or "", request.path))
        return f"That is too much at once: at most {most} can be sent here."
    return SENTENCES[refusal]
