"""Who may do what: every address, every method, every field that carries an id. What one may not see is what does not exist."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.urls import get_resolver

import chatapp
from chatapp import store
from chatapp.exchange.models import Archive, ArchivePiece, Import
from chatapp.exchange.store.archives import remove as remove_archive
from chatapp.exchange.store.imports import cancel
from chatapp.exchange.store.uploads import add_file
from chatapp.gateway.store.keys import KeyChoices, create_key, revoke_key
from chatapp.reviews.models import Submission, Suggestion, Wish
from chatapp.reviews.store.submitting import ask_to_submit, decline, submit, withdraw
from chatapp.sharing.store import share
from chatapp.store import AskedFor, deleting, in_thread
from chatapp.store.models import Conversation, Message, Status
from tests.support.addresses import ADDRESSES, METHODS, Whose, those
from tests.support.front import HTMX, Visitor, house, visitor
from tests.support.stage import play
from tests.support.turns import end

pytestmark = pytest.mark.django_db(transaction=True)

DEMO = "demo:thinker"


def test_every_address_has_its_row_and_every_row_its_address():
    assert {f"/{each.pattern}" for each in _addressed()} == set(ADDRESSES)


def test_a_name_leads_to_one_address_in_all_rooms():
    names = Counter(getattr(each, "name", None) for each in _addressed())
    assert {name for name, times in names.items() if name and times > 1} == set()


def _addressed() -> list[Any]:
    top = get_resolver().url_patterns
    rooms = [each for one in top if not str(one.pattern) for each in getattr(one, "url_patterns", [])]
    return [*rooms, *(one for one in top if str(one.pattern))]


def test_every_room_with_pages_has_its_addresses():
    """And `urls.py` of the whole is a line a room. Those of `oversight` and `administration` are the site's of administrators."""
    rooms = {
        each.parent for name in ("views", "views.py") for each in Path(chatapp.__path__[0]).glob(f"*/{name}")
    }
    assert {each.name for each in rooms if not (each / "urls.py").exists()} == {"oversight", "administration"}


class Belongings:
    """What a person has: a conversation with an answer and a stopped one, a link to it, a deletion in it with a link, and a
    deleted conversation; a key and a revoked one; something submitted and something withdrawn, and what an administrator asked for."""

    def __init__(self, owner: User) -> None:
        self.owner = owner
        first = store.open_conversation(owner, f"A secret of {owner}", tools=[], asked=AskedFor(model=DEMO))
        self.conversation, self.question, self.answer = first.conversation, first.question, first.answer
        end(first.answer)
        self.second, self.gone = (self._more(words) for words in ("And?", "In other words?"))
        self.link, self.gone_link = (
            share(Message.objects.get(pk=pk), by=owner).pk for pk in (first.answer, self.gone.answer)
        )
        self.deletion = deleting.delete_below(Message.objects.get(pk=self.gone.question)).id
        last = store.open_conversation(owner, "Gone", tools=[], asked=AskedFor(model=DEMO))
        end(last.answer)
        deleting.delete_conversation(last.conversation)
        self.deleted = last.conversation
        self.key, self.gone_key = (create_key(owner, KeyChoices(name="A secret"))[0].pk for _ in range(2))
        revoke_key(owner, self.gone_key)
        answer = Message.objects.get(pk=first.answer)
        self.submission, self.withdrawn = (submit(answer, by=owner).pk for _ in range(2))
        withdraw(Submission.objects.get(pk=self.withdrawn))
        self.gone_file, self.gone_brought = self._brought()
        cancel(Import.objects.get(pk=self.gone_brought))
        self.suggestion, self.gone_suggestion = (
            self._suggested(pk) for pk in (self.submission, self.withdrawn)
        )
        self.file, self.brought = self._brought()
        self.gone_archive, self.archive = (_archive(owner) for _ in range(2))
        remove_archive(Archive.objects.get(pk=self.gone_archive))
        self.declined, self.wish = (self._wish() for _ in range(2))

    def _suggested(self, submission: UUID) -> UUID:
        """By a reviewer, from a conversation of theirs."""
        by, _ = User.objects.get_or_create(username=f"reviewer of {self.owner}")
        other = store.open_conversation(by, "Their fork", tools=[], asked=AskedFor(model=DEMO))
        end(other.answer)
        ids = {"question_id": self.question, "answer_id": other.answer}
        return Suggestion.objects.create(submission_id=submission, by=by, **ids).pk

    def _brought(self) -> tuple[UUID, UUID]:
        file = add_file(self.owner, "x.json", 10)
        return file.pk, file.brought_id

    def _wish(self) -> UUID:
        """Asked for again, what was asked before is answered."""
        for before in Wish.objects.filter(conversation=self.conversation, answered_at=None):
            decline(before)
        return ask_to_submit(Conversation.objects.get(pk=self.conversation), by=self.owner).pk

    def _more(self, words: str) -> store.Started:
        asked = AskedFor(model=DEMO)
        started = store.start_turn(
            self.conversation, words, parent=self.answer, author=self.owner, asked=asked
        )
        end(started.answer, Status.STOPPED)
        return started

    def ids_for(self, path: str) -> list[UUID]:
        if path.startswith("/m/"):
            return [self.second.answer, self.answer, self.question]
        if path.startswith("/undo/"):
            return [self.deletion]
        if path.startswith("/shares/"):
            return [self.link]
        if path.startswith("/settings/keys/"):
            return [self.key]
        if path.startswith("/settings/export/"):
            return [self.archive]
        if path.startswith("/import/files/"):
            return [self.file]
        if path.startswith("/import/"):
            return [self.brought]
        if path.startswith("/reviews/asked/"):
            return [self.wish]
        if path.startswith("/reviews/suggested/"):
            return [self.suggestion]
        if path.startswith(("/reviews/", "/review/<")):
            return [self.submission]
        return [self.deleted if "restore" in path else self.conversation]


def _archive(owner: User) -> UUID:
    """One that is ready."""
    made = Archive.objects.create(owner=owner, state=Archive.State.READY, size=1)
    ArchivePiece.objects.create(archive=made, number=0, data=b"x")
    return made.pk


def rows() -> dict[str, Any]:
    """Everything that is stored."""
    models = apps.get_app_config("chatapp").get_models()
    return {model.__name__: sorted(map(repr, model.objects.values_list())) for model in models}


def address(path: str, name: UUID, owner: Belongings) -> str:
    query = ADDRESSES[path].query.format(answer=owner.answer)
    return re.sub("<uuid:[a-z]+>", str(name), path) + query


SHIFTING = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=value=\")[A-Za-z0-9]{64}(?=\")")


def same(response: Any) -> tuple[int, str, str]:
    """What a person can tell apart: no ids, since they know those that they sent, and no tokens."""
    return (
        response.status_code,
        SHIFTING.sub("…", response.headers.get("location", "")),
        SHIFTING.sub("…", response.text),
    )


async def come(who: Visitor, method: str, path: str, form: Any, headers: dict[str, str]) -> Any:
    if method == "POST":
        return await who.post(path, form, headers=headers)
    return await who.send(method, path, headers={"X-CSRFToken": who.token} | headers)


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["browser", "script"])
@pytest.mark.parametrize("path", those(Whose.OWN))
def test_what_is_not_ones_own_is_like_what_does_not_exist(alice, bob, charlie, dana, path, headers):
    row = ADDRESSES[path]

    async def story():
        hers = await in_thread(Belongings)(alice)
        before = await in_thread(rows)()
        async with house():
            for person in (bob, charlie, dana, None):
                who = await visitor(person)
                # A script is refused no other method than a browser.
                for method in row.methods if headers else METHODS:
                    nothing = await come(who, method, address(path, uuid4(), hers), row.form, headers)
                    wanted = (404 if person else 302) if method in row.methods else 405
                    assert nothing.status_code == wanted, (person, method)
                    for name in hers.ids_for(path):
                        found = await come(who, method, address(path, name, hers), row.form, headers)
                        assert same(found) == same(nothing), (person, method)
        assert await in_thread(rows)() == before

    play(story())


@pytest.mark.parametrize("path", those(Whose.OWN))
def test_what_is_ones_own_opens_in_the_ways_of_its_row_alone(alice, path):
    row = ADDRESSES[path]

    async def story():
        hers = await in_thread(Belongings)(alice)
        async with house():
            she = await visitor(alice)
            for method in sorted(METHODS, key="POST".__eq__):
                for name in hers.ids_for(path):
                    response = await come(she, method, address(path, name, hers), row.form, {})
                    if method not in row.methods:
                        assert response.status_code == 405, method
                    else:
                        assert response.status_code in (200, 302, 303, 409), (method, response.text)

    play(story())


@pytest.mark.parametrize("path", those(Whose.OWN))
def test_what_is_deleted_is_like_what_does_not_exist(alice, path):
    async def story():
        hers = await in_thread(Belongings)(alice)
        gone = {
            "/m/": [hers.gone.question, hers.gone.answer],
            "/c/": [hers.deleted],
            "/undo/": [hers.deleted],
            "/shares/": [hers.gone_link],
            "/settings/keys/": [hers.gone_key],
            "/reviews/": [hers.withdrawn],
            "/reviews/asked/": [hers.declined],
            "/reviews/suggested/": [hers.gone_suggestion],
            "/import/files/": [hers.gone_file],
            "/import/": [hers.gone_brought],
            "/settings/export/": [hers.gone_archive],
        }
        async with house():
            she = await visitor(alice)
            for name in [] if "restore" in path else gone[path[: path.index("<")]]:
                for method in ADDRESSES[path].methods:
                    response = await come(she, method, address(path, name, hers), ADDRESSES[path].form, {})
                    assert response.status_code == 404

    play(story())


FOREIGN = {
    "the parent of a question": (
        "POST",
        "/c/{mine.conversation}/ask/",
        {"text": "Hm?", "parent": "{answer}"},
    ),
    "the parent when the oldest turns are left out": (
        "POST",
        "/c/{mine.conversation}/ask/",
        {"text": "Hm?", "parent": "{answer}", "leave_out": "1"},
    ),
    "the parent of a first question": ("POST", "/ask/", {"text": "Hm?", "parent": "{answer}"}),
    "the parent of an edited question": (
        "POST",
        "/m/{mine.question}/edit/",
        {"text": "Hm?", "parent": "{answer}"},
    ),
    "the message to open at": ("GET", "/c/{mine.conversation}/?at={answer}", {}),
    "the question to open at": ("GET", "/c/{mine.conversation}/?at={question}", {}),
    "where earlier messages end": ("GET", "/c/{mine.conversation}/earlier/?before={answer}", {}),
    "the other branch to compare": ("GET", "/compare/?a={mine.answer}&b={answer}", {}),
    "the first branch to compare": ("GET", "/compare/?a={answer}&b={mine.answer}", {}),
    "both branches to compare": ("GET", "/compare/?a={question}&b={answer}", {}),
    "the branch with which a map begins": ("GET", "/c/{mine.conversation}/map/?a={answer}", {}),
    "a deletion to take back": ("GET", "/c/{mine.conversation}/?deleted={deletion}", {}),
    "a deletion on the first page": ("GET", "/?deleted={deletion}", {}),
    "a deleted conversation on the first page": ("GET", "/?deleted={deleted}", {}),
    "the message up to which is exported": ("GET", "/c/{mine.conversation}/export/?at={answer}", {}),
    "the message up to which a file goes": (
        "GET",
        "/c/{mine.conversation}/export/?format=json&at={answer}",
        {},
    ),
    "where the list goes on": ("GET", "/conversations/?before=0.1.{conversation}", {}),
    "the conversation that is on screen": ("GET", "/conversations/", {}),
}


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["browser", "script"])
@pytest.mark.parametrize("what", FOREIGN)
def test_ids_of_others_in_a_form_or_an_address_are_like_ids_of_nothing(alice, bob, what, headers):
    method, path, form = FOREIGN[what]

    async def story():
        hers, his = await in_thread(Belongings)(alice), await in_thread(Belongings)(bob)
        real = {name: value for name, value in vars(hers).items() if isinstance(value, UUID)}
        before = await in_thread(of)(hers)
        async with house():
            he, heard = await visitor(bob), []
            for ids in ({name: uuid4() for name in real}, real):
                sent = {name: value.format(**ids) for name, value in form.items()}
                more = {"HX-Current-URL": f"http://localhost/c/{ids['conversation']}/"} if headers else {}
                where = path.format(mine=his, **ids)
                heard.append(same(await come(he, method, where, sent, headers | more)))
            assert heard[1] == heard[0]
            assert heard[0][0] < 500
        assert await in_thread(of)(hers) == before

    play(story())


@pytest.mark.parametrize("words", ["A secret", "Something else"])
def test_the_key_of_another_persons_form_is_a_key_like_any_other(alice, bob, words):
    async def story():
        async with house():
            she, he, key = await visitor(alice), await visitor(bob), str(uuid4())
            hers = await she.post("/ask/", {"text": "A secret", "key": key})
            his = await he.post("/ask/", {"text": words, "key": key})
            assert (hers.status_code, his.status_code) == (302, 302)
            assert hers.headers["location"] != his.headers["location"]
            answers = Message.objects.filter(role="assistant", author=bob, conversation__owner=bob)
            assert await in_thread(answers.count)() == 1

    play(story())


def of(belongings: Belongings) -> list[Any]:
    """All rows of one person's conversations."""
    mine = Conversation.objects.filter(owner=belongings.owner).order_by("pk")
    messages = Message.objects.filter(conversation__in=mine).order_by("pk")
    return [*mine.values_list(), *map(repr, messages.values_list())]


@pytest.mark.parametrize(
    "path", ["/c/{}/ask/", "/ask/", "/m/{}/edit/", "/m/{}/again/", "/m/{}/go/", "/c/{}/title/"]
)
def test_fields_that_a_person_may_not_set_are_ignored(alice, bob, path):
    async def story():
        hers = await in_thread(Belongings)(alice)
        names = {field.name for model in (Conversation, Message) for field in model._meta.get_fields()}
        stolen = {
            name: str(bob.pk) for name in names - {"title", "instructions", "model", "effort", "parent"}
        }
        stolen |= {"status": "complete", "role": "user", "metadata": "{}", "text": "Hm?", "title": "Mine"}
        where = path.format(
            hers.question if "edit" in path else hers.answer if "/m/" in path else hers.conversation
        )
        before = await in_thread(owners)()
        async with house():
            response = await (await visitor(alice)).post(where, stolen | {"parent": str(hers.answer)})
            assert response.status_code in (302, 303), response.text
        assert await in_thread(owners)() == before

    play(story())


def owners() -> set[int | None]:
    authors = Message.objects.values_list("author", flat=True)
    return {*Conversation.objects.values_list("owner", flat=True), *authors}


@pytest.mark.parametrize("path", [*those(Whose.PEOPLES), *those(Whose.OWN), *those(Whose.REVIEWS)])
def test_whoever_is_not_signed_in_is_asked_to(alice, path):
    async def story():
        hers = await in_thread(Belongings)(alice)
        async with house():
            stranger = await visitor()
            for method in ADDRESSES[path].methods:
                where = address(path, hers.ids_for(path)[0], hers) if "<" in path else path
                response = await come(stranger, method, where, ADDRESSES[path].form, {})
                assert response.status_code == 302
                assert response.headers["location"].startswith("/accounts/login/?next=")

    play(story())


@pytest.mark.parametrize("path", [path for path, row in ADDRESSES.items() if "POST" in row.methods])
def test_nothing_is_changed_without_the_token_of_our_own_page(alice, path):
    async def story():
        hers = await in_thread(Belongings)(alice)
        before = await in_thread(rows)()
        async with house():
            she = await visitor(alice)
            where = address(path, hers.ids_for(path)[0], hers) if "<" in path else path
            for token in ("", "x" * 32, "x" * 64, "é"):
                form = {**ADDRESSES[path].form, "csrfmiddlewaretoken": token}
                response = await she.send("POST", where, data=form)
                assert response.status_code == 403
                assert "css/base" in response.text, "in our look"
        assert await in_thread(rows)() == before

    play(story())


@pytest.mark.parametrize("path", [*those(Whose.PEOPLES), *those(Whose.EVERYBODYS)])
def test_other_methods_than_those_of_the_row_are_refused(alice, path):
    async def story():
        async with house():
            who = await visitor(None if path in those(Whose.EVERYBODYS) else alice)
            for method in sorted(set(METHODS) - set(ADDRESSES[path].methods)):
                assert (await come(who, method, path, {}, {})).status_code == 405, method

    play(story())
