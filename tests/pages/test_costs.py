"""What each page and each command asks of the database, in statements: an exact number, the same for a short conversation and for a long
one with much of everything. What a question costs stands in `tests/live/test_cost.py`, what is done to an answer in
`tests/conversations/test_costs.py`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from chatapp.exchange.models import Archive
from chatapp.exchange.store.uploads import add_file
from chatapp.gateway.models import ApiKey
from chatapp.reviews.models import Suggestion, Wish
from chatapp.store import in_thread
from chatapp.store.models import Conversation, Message
from tests.conftest import PASSWORD
from tests.support.addresses import ADDRESSES
from tests.support.counting import Cost, counted
from tests.support.front import HTMX, house, visitor
from tests.support.long_lived import LongLived
from tests.support.reviewed import label_set, turn
from tests.support.stage import play

pytestmark = pytest.mark.django_db(transaction=True)

# The session with its account; below a page also what they chose, the list, what runs in it, and the marks of reviews.
WHO, PAGE = 1, 5
# A limit counts a first try with three statements, a further one with two.
FIRST_TRY, TRY = 3, 2
MOST = 15
# What copies as many rows as there are.
COPIES = {"/m/{last}/submit/", "/s/{token}/fork/", "/review/{submission}/fork/", "/m/{last}/fork/"}
# Whoever administers, whoever operates, and links from a mail.
ELSEWHERE = (
    "/admin/",
    "/insight/",
    "/api/",
    "/health/",
    "/metrics",
    "/accounts/reset/<>/",
    "/accounts/once/",
)
# What is drawn for each message and each of its items.
OF_MESSAGES = re.compile(r"thread/(_message|_timeline|_item_\w+|_end\w*)\.html|\w+/_acts\w*\.html")


@dataclass(frozen=True)
class Road:
    """`because`: what is asked for beside who it is and what stands on every page. `longer`: so much more where there is much.
    `drawn`: templates that are rendered by themselves, beside those of messages."""

    path: str
    statements: int
    because: str
    form: Mapping[str, str] | None = None
    who: str = "alice"
    script: bool = False
    status: int = 200
    drawn: int = 1
    longer: int = 0
    most: int = MOST


def page(path: str, more: int, because: str, **how: Any) -> Road:
    return Road(path, PAGE + more, because, **how)


def part(path: str, more: int, because: str, **how: Any) -> Road:
    """Asked for by our own page."""
    return Road(path, WHO + more, because, script=True, **how)


def done(path: str, more: int, because: str, form: Mapping[str, str] | None = None, **how: Any) -> Road:
    """A command of our own page."""
    return Road(path, WHO + more, because, form=form or {}, **{"script": True, "drawn": 0} | how)


def away(path: str, more: int, because: str, form: Mapping[str, str] | None = None, **how: Any) -> Road:
    """A command that leads to another page."""
    return done(path, more, because, form, **{"status": 303, "script": False} | how)


def strangers(path: str, statements: int, because: str, **how: Any) -> Road:
    return Road(path, statements, because, who="", **how)


THREAD = (
    "its row with head, choices and places; messages with counts and items, siblings; recent models, what is allowed, "
    "whether there are origins, and these; looks; whether there is a review, and these, wishes"
)
ROADS = [
    # Conversations
    page("/", 1, "recent models"),
    page("/c/{conversation}/", 10, THREAD),
    page("/c/{conversation}/?at={first}", 10, f"{THREAD}; the tree in place of siblings"),
    page("/c/{fork}/", 8, THREAD),
    part(
        "/c/{conversation}/earlier/?before={above}",
        4,
        "choices; the message, messages with items, siblings",
        drawn=1,
    ),
    page("/conversations/", 0, "the list is its own"),
    part("/conversations/?q=else", 2, "the list, what runs in it"),
    part("/conversations/?archived=1", 1, "the list, in which nothing is"),
    page("/?deleted={conversation}", 3, "recent models; a deleted conversation, deleted messages"),
    page("/c/{conversation}/map/", 5, "conversation, head, tree, rows, how they begin"),
    page("/c/{conversation}/export/", 5, "conversation; tree, where it ends, places, sizes"),
    page(
        "/compare/?a={last}&b={beside}",
        9,
        "both messages, trees, places, sums (2), what is shown (2), choices (2)",
        drawn=1,
    ),
    page(
        "/compare/?a={last}&b={forked}",
        7,
        "the same without choices, and a stretch that both have (2)",
        longer=2,
    ),
    page("/models/", 0, "models are known"),
    part("/models/", 0, "models are known"),
    page("/c/{conversation}/instructions/", 1, "conversation", drawn=2),
    done(
        "/c/{conversation}/instructions/",
        4,
        "conversation, lock, is it answering, write",
        {"instructions": "Be brief."},
    ),
    page("/c/{conversation}/tools/", 2, "conversation, what is allowed"),
    part("/c/{conversation}/tools/", 2, "conversation, what is allowed"),
    done(
        "/c/{conversation}/tools/",
        4,
        "conversation, lock, is it answering, write",
        {"tool": "clock", "on": "1"},
    ),
    done(
        "/c/{conversation}/tools/take-back/",
        3,
        "conversation, delete, what is allowed",
        {"tool": "clock0"},
        drawn=1,
    ),
    page("/c/{conversation}/title/", 1, "conversation"),
    done(
        "/c/{conversation}/title/",
        4,
        "conversation, write, owner, row with what runs in it",
        {"title": "A name"},
        drawn=1,
    ),
    done(
        "/c/{conversation}/pin/", 5, "conversation, write, owner, list, what runs in it", {"on": "1"}, drawn=1
    ),
    done("/c/{other}/archive/", 3, "conversation, write, owner", {"on": "1"}, drawn=1),
    done("/c/{other}/archive/", 5, "conversation, write, owner, list, what runs in it", {"on": "0"}, drawn=1),
    done("/c/{other}/delete/", 5, "conversation, lock, write, owner, what runs", drawn=1),
    done("/c/{other}/restore/", 4, "write, owner, list, what runs in it", drawn=1),
    # Messages
    part("/m/{last}/copy/", 2, "message, items", drawn=0),
    strangers("/picture/", 0, "nothing"),
    page("/m/{question}/edit/", 2, "message, items"),
    page("/m/{last}/again/", 2, "message, recent models"),
    page("/m/{last}/delete/", 2, "message, tree"),
    away("/m/{beside}/go/", 7, "message, conversation, tree, place (2), head, owner"),
    away("/m/{last}/go/", 7, "the same back"),
    away(
        "/m/{beside}/delete/",
        11,
        "message; tree, what runs; lock, message, tree, what runs, write, places, heads, owner",
    ),
    away("/undo/{deletion}/", 6, "deletion, lock, top, metadata, write, owner"),
    page("/m/{last}/fork/", 2, "message, tree"),
    # Links
    page("/m/{last}/share/", 2, "message, links"),
    done(
        "/m/{last}/share/",
        8 + FIRST_TRY,
        "message; conversation, leaf, made before, how many, write",
        {"thoughts": "on", "expires": "week"},
        status=303,
    ),
    page("/shares/", 1, "links"),
    done("/shares/{share}/revoke/", 4, "link, link, write, owner", drawn=1),
    strangers(
        "/s/{token}/",
        5 + 2 * FIRST_TRY,
        "tries of the address and of the reader; link (2), write, tree, messages with items",
    ),
    strangers("/s/{token}/", 3 + 2 * TRY - 1, "the same again: not counted"),
    Road("/s/{token}/", 12, "a stranger's and two for who it is", who="bob"),
    Road("/s/{token}/", 7, "the owner's look is not counted"),
    strangers("/s/{token}/open/", 1, "link", status=204, drawn=0),
    # Reviews
    page("/m/{last}/submit/", 2, "message, labels"),
    page("/reviews/", 3, "submissions, how many, wishes"),
    page(
        "/review/",
        3,
        "is a reviewer, submissions, how many, labels; nothing runs in an empty list",
        who="bob",
    ),
    page(
        "/review/",
        4,
        "is a reviewer, submissions, how many, labels, reviewers; nothing runs in an empty list",
        who="dana",
    ),
    page(
        "/review/{submission}/",
        8,
        "submission, seen, tree, forks, suggested answers, messages with items, notes, as it was",
    ),
    page("/review/{submission}/", 6, "the same; nothing runs in an empty list", who="bob"),
    Road("/review/{submission}/open/", WHO + 1, "submission", who="bob", status=204, drawn=0),
    page("/review/{submission}/map/", 5, "submission, tree, as it was, beginnings (2)"),
    page(
        "/review/{submission}/compare/?a={first}&b={last}",
        9,
        "submission, both, tree, as it was, measures (2), stretches (2)",
    ),
    page(
        "/review/{submission}/suggest/",
        4,
        "submission, tree, forks, suggested (2); nothing runs in an empty list",
        who="bob",
    ),
    page(
        "/reviews/suggested/{suggestion}/",
        10,
        "suggested; trees (2), answer, measures (2), beginnings (2), stretches (2)",
    ),
    page("/review/labels/", 1, "labels; nothing runs in an empty list", who="dana"),
    page(
        "/review/labels/{labels}/",
        2,
        "labels (2), is it asked for; nothing runs in an empty list",
        who="dana",
    ),
    page("/review/ask/{conversation}/", 0, "conversation; nothing runs in an empty list", who="dana"),
    away(
        "/review/{submission}/note/",
        10,
        "submission, message; lock, is there, how many, newest, write, news",
        {"message": "{last}", "text": "Hm."},
        who="bob",
    ),
    away(
        "/review/{submission}/verdict/",
        4,
        "submission, lock, write, news",
        {"verdict": "approved", "reason": ""},
        who="bob",
    ),
    away("/review/{second}/release/", 4, "submission, lock, write, reviewers", who="bob"),
    away("/review/{second}/claim/", 5, "submission, lock, is free, write, reviewers", who="bob"),
    away(
        "/review/{second}/assign/",
        6,
        "submission, reviewer, lock, is a reviewer, write, reviewers",
        {"reviewer": "{bob}"},
        who="dana",
    ),
    away("/reviews/{second}/withdraw/", 3, "submission, write, reviewers"),
    away("/reviews/asked/{wish}/decline/", 2, "wish, write", {"list": "1"}),
    # Copies
    done(
        "/m/{last}/submit/",
        19,
        "message, a try; is it long, what there is, what is written of it, each under lock; so many rows at once",
        {"scope": "branch", "question": "Right?"},
        longer=1,
        most=30,
    ),
    done(
        "/s/{token}/fork/",
        35,
        "link, a try; is it long, tree, rows, copies, folded rows, what is left out; so many rows at once",
        {"until": ""},
        who="bob",
        longer=5,
        most=45,
    ),
    done(
        "/review/{submission}/fork/",
        36,
        "submission, a try; the same as of a link",
        {"until": "{last}"},
        who="bob",
        longer=5,
        most=45,
    ),
    done(
        "/m/{last}/fork/",
        26,
        "message, a try; is it long, tree, rows, copies, folded rows; so many rows at once",
        {"extent": "branch"},
        longer=5,
        most=35,
    ),
    # Search
    page("/search/", 5, "which models answered, how far all is folded"),
    # Exchange
    page("/import/", 3, "what is under way, its files, what came before"),
    part("/import/files/{file}/", 1, "file", drawn=0),
    page("/settings/export/", 9, "what was made; what there is, kind by kind"),
    part("/settings/export/{archive}/", 2, "what was made, its first piece", drawn=0),
    page("/review/export/", 0, "how many, in place of what runs", who="dana"),
    strangers("/thoughtline-1.schema.json", 0, "nothing", drawn=0),
    # Accounts
    page("/settings/", 4, "recent models, daily limit, way in, looks", drawn=2),
    done("/settings/", 2, "what they chose, write", {"section": "appearance", "theme": "dark"}),
    page(
        "/settings/keys/",
        7,
        "revoked keys; keys with days and requests, daily limit, whether allowed, recent models",
    ),
    Road(
        "/settings/keys/",
        PAGE + 5 + FIRST_TRY,
        "who asks, whether allowed, made before, how many, a new key",
        form={"name": "Editor", "expires": "90", "key": "0123456789abcdef0123456789abcdef"},
    ),
    part("/settings/keys/{key}/used/", 1, "key"),
    page("/settings/keys/{key}/revoke/", 1, "key"),
    page("/settings/delete/", 1, "whether they may leave", drawn=3),
    Road("/accounts/password/", WHO + 1, "what they chose", drawn=4),
    Road("/accounts/email/", WHO + 1, "what they chose", drawn=3),
    Road("/accounts/password/done/", WHO + 1, "what they chose"),
    Road("/accounts/email/done/", WHO + 1, "what they chose"),
    Road("/accounts/again/", WHO + 1, "what they chose", drawn=2),
    Road("/nothing/", WHO + 1, "what they chose", status=404),
    strangers("/", 0, "led to the door", status=302, drawn=0),
    strangers("/accounts/login/", 1, "whether there is an account", drawn=3),
    strangers(
        "/accounts/login/",
        2 + 2 * FIRST_TRY,
        "account; whether there is one",
        form={"username": "alice", "password": "no"},
        status=400,
        drawn=3,
    ),
    strangers(
        "/accounts/login/",
        3 + 4 * TRY,
        "account; tries counted and taken back; session (2), last sign-in",
        form={"username": "alice", "password": PASSWORD},
        status=302,
        drawn=0,
    ),
    strangers("/accounts/signup/", 1, "whether there is an account", drawn=5),
    strangers(
        "/accounts/signup/",
        12 + FIRST_TRY,
        "whether there is an account (2), a name like it (4), account, name, when; session (3), last sign-in",
        form={"username": "erin", "password1": "a really long one", "password2": "a really long one"},
        status=302,
        drawn=0,
    ),
    strangers("/accounts/reset/", 0, "nothing", drawn=2),
    strangers("/accounts/reset/done/", 0, "nothing"),
    strangers("/accounts/reset/complete/", 0, "nothing"),
]


@pytest.mark.parametrize(("turns", "several"), [(2, 1), (150, 6)], ids=["short", "long"])
def test_every_road_costs_exactly_this(alice, bob, dana, monkeypatch, as_many_as_they_like, turns, several):
    wrong: list[str] = []

    async def story():
        world = await in_thread(LongLived)(alice, bob, dana, turns=turns, several=several)
        names = await in_thread(_names)(world)
        with counted(monkeypatch) as count:
            async with house():
                people = {each.username: await visitor(each) for each in (alice, bob, dana)}
                # What a process draws once stands there then.
                for each in people.values():
                    for path in ("/", f"/c/{names['conversation']}/"):
                        await each.get(path)
                for road in ROADS:
                    if "{deletion}" in road.path:
                        names["deletion"] = await in_thread(_deletion)()
                    who = people[road.who] if road.who else await visitor()
                    path, headers = road.path.format(**names), HTMX if road.script else {}
                    with count.one() as cost:
                        if road.form is None:
                            answer = await who.get(path, headers=headers)
                        else:
                            form = {name: value.format(**names) for name, value in road.form.items()}
                            answer = await who.post(path, form, headers=headers)
                    assert answer.status_code == road.status, (road, answer.text)
                    wrong.extend(_wrong(road, cost, answer.text, is_long=turns > 2))

    play(story())
    assert not wrong, "\n".join(wrong)


def _names(world: LongLived) -> dict[str, Any]:
    return {
        "conversation": world.conversation,
        "first": world.first.answer,
        "above": world.above.answer,
        "question": world.last.question,
        "last": world.last.answer,
        "beside": world.beside.answer,
        "fork": world.forks[0],
        "forked": Conversation.objects.get(pk=world.forks[0]).head_id,
        "other": world.others[0],
        "share": world.shares[-1].pk,
        "token": world.shares[0].token,
        "submission": world.submissions[0].pk,
        "second": world.submissions[1].pk,
        "labels": label_set().pk,
        "suggestion": _suggestion(world),
        "wish": Wish.objects.get().pk,
        "bob": world.bob.pk,
        "file": add_file(world.alice, "x.json", 10).pk,
        "archive": _archive(world.alice),
        "key": ApiKey.objects.values_list("pk", flat=True).first(),
    }


def _suggestion(world: LongLived) -> Any:
    """One that its owner did not take."""
    by, _ = User.objects.get_or_create(username="somebody who reviewed it")
    fork = turn(by, "In a fork?")
    ids = {"question_id": world.first.question, "answer_id": fork.answer, "settled_at": timezone.now()}
    return Suggestion.objects.create(submission=world.submissions[0], by=by, **ids).pk


def _archive(owner: Any) -> Any:
    """One in which there is nothing."""
    return Archive.objects.create(owner=owner, state=Archive.State.READY).pk


def _deletion() -> Any:
    return Message.objects.exclude(deletion=None).values_list("deletion", flat=True).first()


def _wrong(road: Road, cost: Cost, text: str, *, is_long: bool) -> list[str]:
    meant = road.statements + (road.longer if is_long else 0)
    what = f"{'GET' if road.form is None else 'POST'} {road.path} of {road.who or 'a stranger'}"
    found = []
    if len(cost.statements) != meant:
        found.append(
            f"{what}: {len(cost.statements)} statements, not {meant}:\n  " + "\n  ".join(cost.statements)
        )
    drawn = [name for name in cost.renderings if not OF_MESSAGES.fullmatch(name)]
    if len(drawn) != road.drawn:
        found.append(f"{what}: {len(drawn)} renderings, not {road.drawn}: {drawn}")
    if cost.renderings.count("thread/_message.html") > text.count("data-message-id="):
        found.append(f"{what}: a message is drawn more than once")
    return found


def test_no_page_asks_more_than_fifteen_times():
    """What copies thousands of rows asks more often, and each of these says how often at most."""
    assert [road for road in ROADS if road.statements + road.longer > road.most] == []
    assert {road.path for road in ROADS if road.most != MOST} == COPIES


def test_every_page_has_its_number():
    pages = {_bare(path) for path, address in ADDRESSES.items() if "GET" in address.methods}
    walked = {_bare(road.path.partition("?")[0]) for road in ROADS if road.form is None}
    assert {path for path in pages - walked if not path.startswith(ELSEWHERE)} == set()


def _bare(path: str) -> str:
    return re.sub(r"<[^>]+>|{\w+}", "<>", path)
