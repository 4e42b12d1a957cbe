"""Who may do what in a review: by the part that one has in it. Everybody else finds what does not exist, and stores nothing."""

from __future__ import annotations

import re
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from chatapp.accounts.store.roles import set_roles
from chatapp.reviews.models import Note, Scope, Submission
from chatapp.reviews.store import reviewing
from chatapp.reviews.store.submitting import submit, withdraw
from chatapp.store import deleting
from chatapp.store.models import Conversation, Message
from tests.pages.test_access import rows, same
from tests.support.addresses import ADDRESSES, METHODS, Whose, those
from tests.support.front import HTMX
from tests.support.reviewed import again, browser, label_set, message, reviewer, turn

pytestmark = pytest.mark.django_db

BY_ID = [path for path in those(Whose.REVIEWS) if "<" in path]
PEOPLE = ("alice", "bob", "erin", "charlie", "dana", "gone", "nobody")
# alice owns it, bob holds it, erin reviews other things.
MAY = {
    "/review/": {"bob", "erin", "dana"},
    "/review/assign/": {"dana"},
    "/review/labels/": {"dana"},
    "/review/labels/<uuid:pk>/": {"dana"},
    "/review/labels/<uuid:pk>/away/": {"dana"},
    "/review/ask/<uuid:pk>/": {"dana"},
    "/review/<uuid:pk>/": {"alice", "bob"},
    "/review/<uuid:pk>/open/": {"alice", "bob"},
    "/review/<uuid:pk>/claim/": {"bob"},
    "/review/<uuid:pk>/release/": {"bob"},
    "/review/<uuid:pk>/assign/": {"dana"},
    "/review/<uuid:pk>/note/": {"bob"},
    "/review/<uuid:pk>/verdict/": {"bob"},
    "/review/<uuid:pk>/map/": {"alice", "bob"},
    "/review/<uuid:pk>/compare/": {"alice", "bob"},
    "/review/<uuid:pk>/suggest/": {"bob"},
    "/review/<uuid:pk>/rate/": {"bob"},
    "/review/<uuid:pk>/fork/": {"bob"},
}


class Reviewed:
    """What bob reviews for alice, beside something of hers that nobody submitted, and a submission that erin holds."""

    def __init__(self, alice: User, bob: User, erin: User) -> None:
        self.bob, self.erin = bob, erin
        first = turn(alice, "Why?")
        self.beside = again(alice, first.question, "In other words.").answer
        self.conversation, self.question, self.answer = first.conversation, first.question, first.answer
        self.submission = submit(message(first.answer), by=alice, question="Right?")
        reviewing.claim(self.submission, by=bob)
        self.note = reviewing.append_note(self.submission, by=bob, text="Hm.", message=self.answer)
        self.labels = label_set()
        self.rated = submit(message(first.answer), by=alice, label_set=label_set("In use"))
        reviewing.claim(self.rated, by=bob)
        made = reviewing.fork_submitted(self.submission, by=bob, until=self.question)
        self.suggestible = again(bob, made.copies[self.question], "A better one.").answer
        self.later = turn(alice, "And?", "So.", first.answer, first.conversation).answer
        other = turn(alice, "Elsewhere?")
        self.elsewhere = other.answer
        self.others = submit(message(other.answer), by=alice)
        reviewing.claim(self.others, by=erin)
        self.others_note = reviewing.append_note(self.others, by=erin, text="Well.", message=other.answer)

    def path(self, path: str, name: UUID | None = None) -> str:
        kinds = {"/ask/": self.conversation, "/labels/": self.labels.pk, "/rate/": self.rated.pk}
        usual = next((pk for kind, pk in kinds.items() if kind in path), self.submission.pk)
        query = ADDRESSES[path].query.format(answer=self.answer)
        return path.replace("<uuid:pk>", str(name or usual)) + query

    def form(self, path: str) -> dict[str, str]:
        known = {"reviewer": self.erin.pk, "message": self.answer, "suggestible": self.suggestible}
        return {name: value.format(**known) for name, value in ADDRESSES[path].form.items()}


@pytest.fixture
def erin(db):
    return reviewer(User.objects.create_user("erin", password="a long enough password"))


@pytest.fixture
def reviewed(alice, bob, erin):
    return Reviewed(alice, reviewer(bob), erin)


def come(name, people, method, path, form, headers=None):
    client = people[name]
    return getattr(client, method.lower())(path, form if method == "POST" else None, headers=headers or {})


@pytest.fixture
def people(reviewed, alice, bob, erin, charlie, dana):
    gone = reviewer(User.objects.create_user("gone", password="a long enough password"))
    found = {"alice": alice, "bob": bob, "erin": erin, "charlie": charlie, "dana": dana, "gone": gone}
    browsers = {name: browser(person) for name, person in found.items()} | {"nobody": browser()}
    User.objects.filter(pk=gone.pk).update(is_active=False)
    return browsers


BY_SCRIPT = pytest.mark.parametrize("headers", [{}, HTMX], ids=["browser", "script"])


def asked(path, headers):
    """A script is refused no other method than a browser."""
    return ADDRESSES[path].methods if headers else METHODS


@BY_SCRIPT
@pytest.mark.parametrize("path", BY_ID)
def test_who_has_no_part_in_it_finds_what_does_not_exist(reviewed, people, path, headers):
    before = rows()
    for name in sorted(set(PEOPLE) - MAY[path]):
        for method in asked(path, headers):
            nothing = come(name, people, method, reviewed.path(path, uuid4()), reviewed.form(path), headers)
            found = come(name, people, method, reviewed.path(path), reviewed.form(path), headers)
            if method not in ADDRESSES[path].methods:
                assert nothing.status_code == found.status_code == 405
            elif name in ("gone", "nobody"):
                assert nothing.status_code == found.status_code == 302
                assert found.headers["location"].startswith("/accounts/login/")
            else:
                assert nothing.status_code == 404
                assert same(found) == same(nothing), (name, method)
    assert rows() == before


@BY_SCRIPT
@pytest.mark.parametrize(("path", "name"), [(path, name) for path in BY_ID for name in sorted(MAY[path])])
def test_who_has_a_part_in_it_does_it_and_finds_nothing_that_does_not_exist(
    reviewed, people, path, name, headers
):
    for method in asked(path, headers):
        nothing = come(name, people, method, reviewed.path(path, uuid4()), reviewed.form(path), headers)
        found = come(name, people, method, reviewed.path(path), reviewed.form(path), headers)
        if method not in ADDRESSES[path].methods:
            assert nothing.status_code == found.status_code == 405
        else:
            assert found.status_code in (200, 204, 302, 303), (method, found.content)
            assert nothing.status_code == 404


@pytest.mark.parametrize("name", PEOPLE)
def test_the_queue_is_for_reviewers_and_staff(reviewed, people, name):
    wanted = 302 if name in ("gone", "nobody") else 200 if name in MAY["/review/"] else 404
    assert people[name].get("/review/").status_code == wanted
    assert people[name].post("/review/").status_code in (405, 302)


WITHOUT_ID = [path for path in those(Whose.REVIEWS) if "<" not in path and path != "/review/"]


@pytest.mark.parametrize("path", WITHOUT_ID)
@pytest.mark.parametrize("name", PEOPLE)
def test_what_is_for_those_who_assign_is_for_nobody_else(reviewed, people, path, name):
    before, may = rows(), name in MAY[path]
    for method in ADDRESSES[path].methods:
        response = come(name, people, method, path, ADDRESSES[path].form)
        wanted = (200, 302, 303, 409) if may else (302,) if name in ("gone", "nobody") else (404,)
        assert response.status_code in wanted, (method, response.text)
    assert may or rows() == before


def test_every_address_of_a_review_is_in_the_table():
    assert set(MAY) == set(those(Whose.REVIEWS))


def test_an_owner_answers_and_writes_no_notes_of_their_own(reviewed, people):
    path = reviewed.path("/review/<uuid:pk>/note/")
    answer = {"answer_to": str(reviewed.note.pk), "text": "I see."}
    assert people["alice"].post(path, answer).status_code == 303
    assert Note.objects.get(text="I see.").answer_to == reviewed.note
    for name in ("erin", "charlie", "dana"):
        assert people[name].post(path, answer).status_code == 404


def test_a_free_one_can_be_taken_and_not_read(reviewed, people, alice):
    free = submit(message(reviewed.answer), by=alice)
    where = f"/review/{free.pk}/"
    for name in ("bob", "erin", "charlie", "dana"):
        assert people[name].get(where).status_code == 404
    for name in ("charlie", "dana", "alice"):
        assert people[name].post(f"{where}claim/").status_code == 404
    assert people["erin"].post(f"{where}claim/").status_code == 303
    assert people["erin"].get(where).status_code == 200
    assert people["bob"].post(f"{where}claim/").status_code == 404


def test_ones_own_is_not_ones_own_to_review(reviewed, people, bob):
    own = submit(message(turn(bob, "Mine?").answer), by=bob)
    assert people["bob"].get(f"/review/{own.pk}/").status_code == 200, "as its owner"
    for what, form in (("claim", {}), ("verdict", {"verdict": "approved"}), ("release", {})):
        assert people["bob"].post(f"/review/{own.pk}/{what}/", form).status_code == 404
    refused = people["dana"].post(f"/review/{own.pk}/assign/", {"reviewer": bob.pk})
    assert refused.status_code == 409
    assert Submission.objects.get(pk=own.pk).reviewer is None


def ids(reviewed, alice, charlie):
    """Of everything that is not in bob's submission."""
    return {
        "a message beside it": reviewed.beside,
        "a message that came later": reviewed.later,
        "a message of another submission": reviewed.elsewhere,
        "no message": uuid4(),
        "nonsense": "x",
        "nothing": "",
    }


@pytest.mark.parametrize("field", ["message", "until"])
def test_messages_that_were_not_submitted_are_like_none(reviewed, people, alice, charlie, field):
    what = {"message": "note", "until": "fork"}[field]
    before, answers = rows(), set()
    for name in ids(reviewed, alice, charlie).values():
        form = {field: str(name), "text": "Hm.", "key": str(uuid4())}
        answers.add(same(people["bob"].post(f"/review/{reviewed.submission.pk}/{what}/", form)))
    assert len(answers) == 1 and answers.pop()[0] == 404
    assert rows() == before


def test_a_branch_that_was_not_submitted_does_not_open(reviewed, people, alice, charlie):
    answers = {
        same(people["bob"].get(f"/review/{reviewed.submission.pk}/?at={name}"))
        for name in ids(reviewed, alice, charlie).values()
        if name
    }
    assert len(answers) == 1 and answers.pop()[0] == 404


def test_notes_of_other_submissions_are_not_answered(reviewed, people):
    before = rows()
    for note in (reviewed.others_note.pk, 10**9, "x", "", "9" * 40, "-1", "²"):
        form = {"answer_to": str(note), "text": "Hm.", "message": str(reviewed.answer)}
        for name in ("alice", "bob"):
            answer = people[name].post(f"/review/{reviewed.submission.pk}/note/", form)
            assert answer.status_code == 404
    assert rows() == before


def test_a_place_to_come_back_to_tells_nothing(reviewed, people):
    for at in (reviewed.beside, reviewed.elsewhere, uuid4(), "x"):
        form = {"message": str(reviewed.answer), "text": "Hm.", "at": str(at)}
        answer = people["bob"].post(f"/review/{reviewed.submission.pk}/note/", form)
        assert answer.headers["location"].endswith(f"?at={reviewed.answer}#n-m-{reviewed.answer}")


def test_only_reviewers_are_assigned(reviewed, people, charlie, dana, bob):
    path = f"/review/{reviewed.submission.pk}/assign/"
    before, answers = rows(), set()
    for person in (charlie.pk, dana.pk, 10**9, "x", "", "9" * 40):
        answers.add(same(people["dana"].post(path, {"reviewer": str(person)})))
    assert len(answers) == 1 and answers.pop()[0] == 404
    assert rows() == before


def test_roles_count_at_once(reviewed, people, bob):
    where = f"/review/{reviewed.submission.pk}/"
    set_roles(bob, active=True, staff=False, reviewer=False)
    assert people["bob"].get(where).status_code == 404
    assert people["bob"].get("/review/").status_code == 404
    assert people["erin"].post(f"{where}claim/").status_code == 303, "it is free again"


def gone_in_each_way(reviewed, alice):
    def withdrawn():
        withdraw(reviewed.submission)
        withdraw(reviewed.rated)

    def deleted():
        deleting.delete_conversation(reviewed.conversation)

    def message_deleted():
        deleting.delete_below(message(reviewed.question))

    def owner_closed():
        User.objects.filter(pk=alice.pk).update(is_active=False)

    return {f.__name__: f for f in (withdrawn, deleted, message_deleted, owner_closed)}


@pytest.mark.parametrize("how", ["withdrawn", "deleted", "message_deleted", "owner_closed"])
def test_what_is_gone_is_gone_from_the_review(reviewed, people, alice, how):
    gone_in_each_way(reviewed, alice)[how]()
    before = rows()
    for path in BY_ID:
        # To ask for it again is what staff do with what was withdrawn or is partly gone.
        if "ask" in path and how in ("withdrawn", "message_deleted"):
            continue
        # Labels are nobody's submission.
        if "/labels/" in path:
            continue
        for name in ("bob", "erin", "dana"):
            for method in ADDRESSES[path].methods:
                nothing = come(name, people, method, reviewed.path(path, uuid4()), reviewed.form(path))
                found = come(name, people, method, reviewed.path(path), reviewed.form(path))
                assert nothing.status_code == 404
                assert same(found) == same(nothing), (path, name, method)
    assert str(reviewed.submission.pk) not in people["bob"].get("/review/?show=all").text
    assert str(reviewed.submission.pk) not in people["dana"].get("/review/?show=all").text
    assert rows() == before


def test_deleted_messages_are_gone_and_what_is_left_stays(reviewed, people, bob):
    reviewing.append_note(reviewed.submission, by=bob, text="On the question.", message=reviewed.question)
    deletion = deleting.delete_below(message(reviewed.answer))
    page = people["bob"].get(f"/review/{reviewed.submission.pk}/").text
    assert "On the question." in page and "Because." not in page and "Hm." not in page
    deleting.undo(deletion.id, Conversation.objects.get(pk=reviewed.conversation).owner)
    page = people["bob"].get(f"/review/{reviewed.submission.pk}/").text
    assert "Because." in page and "Hm." in page


MAY_BE_SAID = {"label_set", "message", "answer_to", "text", "quote", "begins", "verdict", "reason"}


def test_fields_that_a_person_may_not_set_are_ignored(reviewed, people, alice, bob, erin):
    names = {field.name for model in (Submission, Note) for field in model._meta.get_fields()}
    stolen = {name: str(erin.pk) for name in names - MAY_BE_SAID}
    stolen |= {"created_at": "2001-01-01", "withdrawn_at": str(timezone.now()), "branches": "99"}
    before = Submission.objects.filter(pk=reviewed.submission.pk).values().get()
    base = f"/review/{reviewed.submission.pk}/"
    people["bob"].post(f"{base}note/", stolen | {"message": str(reviewed.answer), "text": "New."})
    people["bob"].post(f"{base}verdict/", stolen | {"verdict": "approved", "reason": "Right."})
    note = Note.objects.get(text="New.")
    assert (note.author, note.submission) == (bob, reviewed.submission)
    after = Submission.objects.filter(pk=reviewed.submission.pk).values().get()
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"verdict", "reason", "decided_at", "news_for_owner"} - (
        {"news_for_owner"} if before["news_for_owner"] else set()
    )
    people["alice"].post(f"/m/{reviewed.answer}/submit/", stolen | {"scope": "branch", "question": "?"})
    made = Submission.objects.get(question="?")
    assert (made.conversation.owner, made.reviewer, made.verdict) == (alice, None, "")


def test_reading_a_review_gives_no_other_way_in(reviewed, people):
    ways = [
        f"/m/{reviewed.answer}/{what}/"
        for what in ("share", "fork", "copy", "edit", "again", "delete", "go", "continue", "submit")
    ]
    ways += [f"/c/{reviewed.conversation}/", f"/c/{reviewed.conversation}/map/"]
    ways += [f"/reviews/{reviewed.submission.pk}/withdraw/"]
    before = rows()
    for way in ways:
        for name in ("bob", "erin", "dana"):
            client = people[name]
            assert {client.get(way).status_code, client.post(way).status_code} <= {404, 405}, way
    assert rows() == before


def test_staff_who_review_nothing_see_facts_alone(reviewed, people, settings):
    for may_read in (True, False):
        settings.ADMIN_CAN_READ_CHATS = may_read
        page = people["dana"].get("/review/?show=all").text
        assert "bob reads it" in page and "alice" in page and "1 branch" in page
        assert not re.search("Why|Right|Elsewhere|Because", page)


def test_the_whole_tree_is_read_by_its_holder_alone(reviewed, people, alice):
    whole = submit(message(reviewed.answer), by=alice, scope=Scope.TREE)
    reviewing.claim(whole, by=reviewed.erin)
    for at in (reviewed.beside, reviewed.later):
        assert people["erin"].get(f"/review/{whole.pk}/?at={at}").status_code == 200
        assert people["bob"].get(f"/review/{whole.pk}/?at={at}").status_code == 404


def test_looking_around_moves_nobody(reviewed, people, alice):
    whole = submit(message(reviewed.answer), by=alice, scope=Scope.TREE)
    reviewing.claim(whole, by=reviewed.erin)
    people["erin"].get(f"/review/{whole.pk}/")
    before = rows()
    for at in (reviewed.beside, reviewed.answer, reviewed.question):
        people["erin"].get(f"/review/{whole.pk}/?at={at}")
    after = rows()
    assert after == before
    assert Message.objects.filter(conversation=reviewed.conversation).count() == 5
