"""A review from submitting to the verdict and on: what each side sees, and what nobody sees who should not."""

from __future__ import annotations

import gzip
import re
from html import unescape
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatapp import store
from chatapp.accounts.store import leaving
from chatapp.branches.models import Origin
from chatapp.pages.limiting import throttle
from chatapp.pages.limiting.wholesale import COPIES, LINKS
from chatapp.reviews.models import Note, Scope, Submission, Verdict, Wish
from chatapp.reviews.store import reviewing
from chatapp.reviews.store.submitting import ask_to_submit, submit
from chatapp.reviews.views import reviewing as views
from chatapp.reviews.views import submitting as own
from chatapp.sharing.models import Share
from chatapp.store import AskedFor, Measured
from chatapp.store.models import Conversation, Item, Message, Status
from chatapp.store.running_models import Throttle
from tests.support.attacks import ATTACKS
from tests.support.make import call, result, text, thought
from tests.support.reviewed import DEMO, again, browser, end, message, reviewer, turn

pytestmark = pytest.mark.django_db

MOST_QUERIES = 28


@pytest.fixture
def bob(bob):
    return reviewer(bob)


@pytest.fixture
def she(alice):
    return browser(alice)


@pytest.fixture
def he(bob):
    return browser(bob)


@pytest.fixture
def asked(alice):
    """Two answers to one question, and one more turn below the second."""
    first = turn(alice, "What first?", "The first answer.")
    second = again(alice, first.question, "The second answer.")
    last = turn(alice, "What then?", "The last answer.", second.answer, first.conversation)
    return first, second, last


def page_of(client, submission, query="") -> str:
    response = client.get(f"/review/{submission.pk}/{query}")
    assert response.status_code == 200
    return unescape(response.text)


def held(leaf, bob, alice, **more) -> Submission:
    made = submit(message(leaf), by=alice, **more)
    reviewing.claim(made, by=bob)
    made.refresh_from_db()
    return made


# Submitting


def test_a_branch_is_submitted_without_scripts(she, he, asked):
    first = asked[0]
    form = she.get(f"/m/{first.answer}/submit/").text
    assert {"scope", "question", "key"} <= set(re.findall(r'name="([a-z]+)"', form))
    made = she.post(f"/m/{first.answer}/submit/", {"scope": "branch", "question": "Is it right?"})
    row = Submission.objects.get()
    assert made.headers["location"] == f"/review/{row.pk}/"
    assert (row.question, row.branches, row.thought_ms, row.by_models) == ("Is it right?", 1, 23_000, [DEMO])
    assert set(row.messages.values_list("message", flat=True)) == {first.question, first.answer}
    queue = unescape(he.get("/review/").text)
    assert "What first?" in queue and "Is it right?" in queue and "1 branch, 23 s of thought" in queue
    assert "waits for a reviewer" in queue and "What then?" not in queue


def test_the_form_is_a_dialog_for_scripts_and_sends_them_on(she, asked):
    path = f"/m/{asked[0].answer}/submit/"
    assert she.get(path, headers={"HX-Request": "true"}).text.lstrip().startswith("<dialog")
    sent = she.post(path, {"scope": "tree"}, headers={"HX-Request": "true"})
    assert sent.headers["HX-Redirect"] == f"/review/{Submission.objects.get().pk}/"


def test_the_whole_tree_has_every_branch(she, he, bob, alice, asked):
    she.post(f"/m/{asked[2].answer}/submit/", {"scope": "tree"})
    row = Submission.objects.get()
    assert row.branches == 2 and row.messages.count() == 5 and row.thought_ms == 69_000
    reviewing.claim(row, by=bob)
    page = page_of(he, row)
    assert "The last answer." in page and "The first answer." not in page and "2 / 2" in page
    assert "The first answer." in page_of(he, row, f"?at={asked[0].answer}")


@pytest.mark.parametrize("form", [{}, {"scope": "everything"}, {"scope": "tree", "question": "x" * 10_001}])
def test_a_form_that_makes_no_sense_submits_nothing(she, asked, form):
    assert she.post(f"/m/{asked[0].answer}/submit/", form).status_code == 409
    assert not Submission.objects.exists()


def test_a_double_click_submits_once(she, asked):
    form = {"scope": "branch", "key": str(uuid4())}
    places = {she.post(f"/m/{asked[0].answer}/submit/", form).headers["location"] for _ in range(2)}
    assert len(places) == 1 and Submission.objects.count() == 1


def test_an_old_form_of_what_was_withdrawn_says_so(she, asked):
    path, form = f"/m/{asked[0].answer}/submit/", {"scope": "branch", "key": str(uuid4())}
    she.post(path, form)
    she.post(f"/reviews/{Submission.objects.get().pk}/withdraw/")
    again = she.post(path, form)
    assert again.status_code == 409 and "withdrew" in again.text
    assert she.post(path, form | {"key": str(uuid4())}).status_code == 302


def test_what_writes_many_rows_is_done_only_so_often(she, he, bob, alice, asked):
    row = held(asked[0].answer, bob, alice)
    ways = (
        (she, alice, COPIES, f"/m/{asked[0].answer}/submit/", {"scope": "tree"}),
        (she, alice, COPIES, f"/m/{asked[0].answer}/fork/", {"extent": "everything"}),
        (he, bob, COPIES, f"/review/{row.pk}/fork/", {"until": str(asked[0].answer)}),
        (she, alice, LINKS, f"/m/{asked[0].answer}/share/", {}),
    )
    for client, person, limit, path, form in ways:
        Throttle.objects.all().delete()
        for _ in range(limit.times - 2):
            throttle.take(limit, str(person.pk), timezone.now())
        answers = [client.post(path, form) for _ in range(3)]
        assert [answer.status_code // 100 for answer in answers] == [3, 3, 4], path
        assert "Too many of these came from you. Try again in 60 minutes." in answers[-1].text
    assert Submission.objects.count() == 3 and Origin.objects.count() == 4
    assert Share.objects.count() == 2


def test_an_answer_that_still_runs_is_not_submitted(she, alice, asked):
    started = store.start_turn(
        asked[0].conversation, "Now?", parent=asked[2].answer, author=alice, asked=AskedFor(model=DEMO)
    )
    refused = she.post(f"/m/{started.answer}/submit/", {"scope": "branch"})
    assert refused.status_code == 409 and "still being written" in refused.text
    she.post(f"/m/{asked[2].answer}/submit/", {"scope": "tree"})
    names = set(Submission.objects.get().messages.values_list("message", flat=True))
    assert started.answer not in names and started.question in names


# What a reviewer sees


CANARIES = (
    "canary-instructions",
    "canary-beside",
    "canary-later",
    "canary-title",
    "canary-raw",
    "canary-sentence",
    "canary-wire",
    "canary-elsewhere",
    "canary-continued",
    "canary-renamed",
)


@pytest.fixture
def hidden(alice):
    """A branch with all that must not be told in it, beside it, below it, and added to it after it was submitted."""
    first = turn(alice, "canary-title", "canary-beside", instructions="canary-instructions")
    asked = AskedFor(model=DEMO)
    shown = store.start_turn(
        first.conversation, "The shown question?", parent=None, author=alice, asked=asked
    )
    wire = {"id": "canary-wire"}
    end(
        shown.answer,
        [
            thought(text="A shown thought.", wire=wire),
            call(text='{"expression": "6*7"}', wire=wire),
            result(text="forty-two", wire=wire),
            text(text="The *shown* answer.", wire=wire),
        ],
    )
    rounds = [
        {"round": 0, "model": DEMO, "messages": 7, "shape": ["input: 2 entries"], "dropped": {"cut turn": 2}}
    ]
    row = message(shown.answer)
    Message.objects.filter(pk=row.pk).update(metadata=row.metadata | {"rounds": rounds})
    last = store.start_turn(
        first.conversation, "And then?", parent=shown.answer, author=alice, asked=AskedFor(model=DEMO)
    )
    end(last.answer, [text(text="Half of it")])
    ended = {"reason": "stopped", "sentence": "canary-sentence", "raw": "canary-raw"}
    stopped = message(last.answer)
    Message.objects.filter(pk=last.answer).update(
        status=Status.STOPPED, metadata=stopped.metadata | {"ended": ended}
    )
    turn(alice, "canary-elsewhere", "canary-elsewhere")
    return first, shown, last


def go_on(hidden, alice):
    """What happens after it was submitted."""
    first, shown, last = hidden
    assert store.requeue(last.answer)
    claim = store.claim_turn(last.answer, runner="here", seen=1)
    more = [thought(key="rs_9", text="canary-continued"), text(key="msg_9", text="canary-continued")]
    store.finish(claim, more, Measured(durations={"rs_9": 99_000}, timings={}, elapsed=990_000))
    again(alice, shown.question, "canary-beside")
    turn(alice, "canary-later", "canary-later", last.answer, first.conversation)
    Conversation.objects.filter(pk=first.conversation).update(title="canary-renamed", titled_by="model")


def every_page(client, submission) -> list[str]:
    base = f"/review/{submission.pk}/"
    names = submission.messages.values_list("message", flat=True)
    paths = ["/review/", "/review/?show=all", base, *(f"{base}?at={name}" for name in names), "/"]
    answers = [client.get(path) for path in paths]
    assert {answer.status_code for answer in answers} == {200}
    return [unescape(answer.text) for answer in answers]


def test_a_reviewer_sees_what_was_submitted_as_it_was_and_nothing_else(hidden, alice, bob, she, he):
    row = held(hidden[2].answer, bob, alice, question="Is it right?")
    # What the owner has looked at is kept, and must not come out of there.
    go_on(hidden, alice)
    assert "canary-continued" in she.get(f"/c/{hidden[0].conversation}/?at={hidden[2].answer}").text
    pages = every_page(he, row)
    shown = pages[2]
    for words in (
        "The shown question?",
        "A shown thought.",
        "<em>shown</em>",
        "forty-two",
        "Half of it",
        "Is it right?",
        "Thought for 23 seconds",
        "What was sent",
        "7 messages",
        "2 were left out because they were cut off",
        "input: 2 entries",
        "Stopped after 30 seconds",
    ):
        assert words in shown, words
    assert "1 min 39 s" not in shown and "16 min 30 s" not in shown and "1 / 2" not in shown
    assert 'data-status="stopped"' in shown
    for page in pages:
        assert [word for word in CANARIES if word in page] == []
    assert "canary-continued" not in page_of(she, row)


def test_a_fork_of_a_reviewer_holds_what_was_submitted_and_nothing_else(hidden, alice, bob, he):
    row = held(hidden[2].answer, bob, alice)
    go_on(hidden, alice)
    before = list(Message.objects.order_by("pk").values_list())
    items = list(Item.objects.order_by("pk").values_list())
    answer = he.post(f"/review/{row.pk}/fork/", {"until": str(hidden[2].answer)})
    made = Conversation.objects.get(owner=bob)
    assert answer.headers["location"] == f"/c/{made.pk}/#message"
    said = " ".join(
        [
            *(made.title, made.instructions),
            *(f"{row.text} {row.wire}" for row in Item.objects.filter(message__conversation=made)),
            *(str(row.metadata) for row in Message.objects.filter(conversation=made)),
            unescape(he.get(f"/c/{made.pk}/").text),
        ]
    )
    # A provider's own record goes along, so that its model can be asked on.
    assert [word for word in CANARIES if word in said and word != "canary-wire"] == []
    last = Message.objects.filter(conversation=made).latest("order")
    assert last.status == Status.STOPPED and "Half of it" in said
    assert [breach for breach in store.verify_log() if str(made.pk) in breach] == []
    assert list(Message.objects.exclude(conversation=made).order_by("pk").values_list()) == before
    assert list(Item.objects.exclude(message__conversation=made).order_by("pk").values_list()) == items


def test_an_answer_that_is_being_continued_stays_as_it_was_submitted(hidden, alice, bob, he):
    row = held(hidden[2].answer, bob, alice)
    assert store.requeue(hidden[2].answer)
    claim = store.claim_turn(hidden[2].answer, runner="here", seen=1)
    store.append_round(claim, [text(key="msg_9", text="canary-continued")], Measured())
    page = page_of(he, row)
    assert 'data-status="stopped"' in page and "canary" not in page
    refused = he.post(f"/review/{row.pk}/fork/", {"until": str(hidden[2].answer)})
    assert refused.status_code == 409 and "still being written" in refused.text


def test_of_a_failure_a_reviewer_reads_that_it_failed(asked, alice, bob, he):
    ended = {"reason": "refused", "sentence": "canary-sentence", "raw": "canary-raw"}
    last = message(asked[2].answer)
    Message.objects.filter(pk=last.pk).update(
        status=Status.FAILED, metadata=last.metadata | {"ended": ended, "moved": "canary-moved"}
    )
    row = held(last.pk, bob, alice)
    page = page_of(he, row)
    assert "This answer failed." in page and "canary" not in page
    he.post(f"/review/{row.pk}/fork/", {"until": str(last.pk)})
    copies = Message.objects.filter(conversation__owner=bob)
    assert copies.count() == 4 and "canary" not in str(list(copies.values_list("metadata", flat=True)))


def test_a_fork_from_the_middle_goes_on_with_another_model(asked, alice, bob, he, she):
    row = held(asked[2].answer, bob, alice, scope=Scope.TREE)
    form = {"until": str(asked[1].answer), "key": str(uuid4())}
    places = {he.post(f"/review/{row.pk}/fork/", form).headers["location"] for _ in range(2)}
    made = Conversation.objects.get(owner=bob)
    assert len(places) == 1 and Message.objects.filter(conversation=made).count() == 2
    assert Origin.objects.get().submission == row
    mine = unescape(he.get(f"/c/{made.pk}/").text)
    assert "by alice" in mine and f"/review/{row.pk}/?at={asked[1].answer}" in mine
    hers = unescape(she.get(f"/c/{asked[0].conversation}/").text)
    assert "Forked once" in hers and "by bob, who reviews it" in hers and str(made.pk) not in hers
    assert "Forked once" in page_of(he, row) and f"/c/{made.pk}/" in page_of(he, row)
    assert "by bob" in page_of(she, row) and str(made.pk) not in page_of(she, row)
    she.post(f"/reviews/{row.pk}/withdraw/")
    assert f"/review/{row.pk}/" not in he.get(f"/c/{made.pk}/").text


# Notes and verdict


def test_notes_and_answers_stand_beside_their_message(asked, alice, bob, she, he):
    row = held(asked[2].answer, bob, alice)
    path = f"/review/{row.pk}/note/"
    back = he.post(path, {"message": str(asked[1].answer), "text": "The plan is missing."})
    assert back.status_code == 303 and f"?at={asked[1].answer}#n-" in back.headers["location"]
    note = Note.objects.get()
    she.post(path, {"answer_to": str(note.pk), "text": "Here it is."})
    answer = Note.objects.latest("pk")
    he.post(path, {"answer_to": str(answer.pk), "text": "Thank you."})
    assert set(Note.objects.exclude(pk=note.pk).values_list("answer_to", flat=True)) == {note.pk}
    for client in (she, he):
        beside = page_of(client, row).split(f'id="n-m-{asked[1].answer}"')[1].split("<article")[0]
        places = [beside.index(words) for words in ("The plan is missing.", "Here it is.", "Thank you.")]
        assert places == sorted(places)


@pytest.mark.parametrize("text", ["", "   ", "x" * 10_001, "\0"])
def test_a_note_that_says_nothing_or_too_much_is_not_kept(asked, alice, bob, he, text):
    row = held(asked[2].answer, bob, alice)
    form = {"message": str(asked[1].answer), "text": text}
    assert he.post(f"/review/{row.pk}/note/", form).status_code == 409
    assert not Note.objects.exists()


WORDS = "I thought about this for an hour. </textarea><b>&"


def wrote(response) -> str:
    return unescape(response.text.partition('id="wrote"')[2].partition(">\n")[2].partition("</textarea>")[0])


def test_what_was_typed_is_told_again_where_it_is_not_taken(asked, alice, bob, dana, she, he):
    row = held(asked[2].answer, bob, alice)
    path, note = f"/review/{row.pk}/note/", {"message": str(asked[1].answer), "text": WORDS}
    long = note | {"text": WORDS * 500}
    assert wrote(he.post(path, long)) == long["text"]
    assert wrote(he.post(f"/review/{row.pk}/verdict/", {"reason": WORDS})) == WORDS
    question = {"scope": "branch", "question": WORDS * 500}
    assert wrote(she.post(f"/m/{asked[2].answer}/submit/", question)) == question["question"]
    wish = {"words": WORDS * 500}
    assert wrote(browser(dana).post(f"/review/ask/{row.conversation_id}/", wish)) == wish["words"]
    she.post(f"/reviews/{row.pk}/withdraw/")
    gone = he.post(path, note)
    assert gone.status_code == 404 and wrote(gone) == WORDS
    gone = he.post(f"/review/{row.pk}/verdict/", {"verdict": "rejected", "reason": WORDS})
    assert gone.status_code == 404 and wrote(gone) == WORDS
    assert not Note.objects.exists() and 'id="wrote"' not in he.get("/nowhere/").text


@pytest.mark.parametrize(
    "verdict, sign, words",
    [("approved", "good", "approved"), ("needs work", "work", "needs work"), ("rejected", "bad", "rejected")],
)
def test_a_verdict_is_given_once_and_read_by_both(asked, alice, bob, she, he, verdict, sign, words):
    row = held(asked[2].answer, bob, alice)
    form = {"verdict": verdict, "reason": "Fix the comment."}
    assert he.post(f"/review/{row.pk}/verdict/", form).status_code == 303
    for client in (she, he):
        page = page_of(client, row)
        assert f'data-state="{sign}">{words}<' in page and "Fix the comment." in page and "by bob" in page
    again = he.post(f"/review/{row.pk}/verdict/", {"verdict": "approved"})
    assert again.status_code == 409 and Submission.objects.get().verdict == verdict
    assert he.post(f"/review/{row.pk}/release/").status_code == 409
    note = {"message": str(asked[1].answer), "text": "One more thing."}
    assert he.post(f"/review/{row.pk}/note/", note).status_code == 303
    assert she.post(f"/m/{asked[2].answer}/submit/", {"scope": "branch"}).status_code == 302
    assert Submission.objects.filter(verdict="").count() == 1


@pytest.mark.parametrize(
    "form", [{}, {"verdict": "sound"}, {"verdict": "rejected"}, {"verdict": "needs work"}]
)
def test_a_verdict_that_makes_no_sense_or_has_no_reason_is_refused(asked, alice, bob, he, form):
    row = held(asked[2].answer, bob, alice)
    assert he.post(f"/review/{row.pk}/verdict/", form).status_code == 409
    assert Submission.objects.get().verdict == ""


def test_what_was_judged_moves_from_open_to_done(asked, alice, bob, he):
    row = held(asked[2].answer, bob, alice)
    assert str(row.pk) in he.get("/review/").text and str(row.pk) not in he.get("/review/?show=done").text
    reviewing.give_verdict(row, by=bob, verdict=Verdict.APPROVED)
    assert str(row.pk) not in he.get("/review/").text and str(row.pk) in he.get("/review/?show=done").text
    assert str(row.pk) in he.get("/review/?show=all").text
    assert str(row.pk) not in he.get("/review/?show=nonsense").text


def test_what_is_given_back_is_free_for_others(asked, alice, bob, charlie, he):
    row, other = held(asked[2].answer, bob, alice), browser(reviewer(charlie))
    assert str(row.pk) not in other.get("/review/").text
    he.post(f"/review/{row.pk}/release/")
    assert he.get(f"/review/{row.pk}/").status_code == 404
    assert f"/review/{row.pk}/claim/" in other.get("/review/").text
    assert other.post(f"/review/{row.pk}/claim/").headers["location"] == f"/review/{row.pk}/"


def test_staff_assign_and_the_assigned_are_told(asked, alice, bob, dana, he):
    row = submit(message(asked[2].answer), by=alice)
    assert browser(dana).post(f"/review/{row.pk}/assign/", {"reviewer": bob.pk}).status_code == 303
    assert mark(he, "queue") == 1 and "assigned to you" in he.get("/review/").text
    assert he.get(f"/review/{row.pk}/").status_code == 200


# Being told


def mark(client, which) -> int:
    found = re.search(rf'id="mark-{which}".*?</li>', client.get("/").text)
    assert found
    number = re.search(r'class="count">(\d+)<', found[0])
    return int(number[1]) if number else 0


def is_hidden(client, which) -> bool:
    return f'id="mark-{which}" hidden' in client.get("/").text


def test_each_side_is_told_until_it_has_looked(asked, alice, bob, she, he):
    assert is_hidden(she, "queue") and is_hidden(she, "own")
    assert not is_hidden(he, "queue") and is_hidden(he, "own")
    she.post(f"/m/{asked[2].answer}/submit/", {"scope": "branch"})
    row = Submission.objects.get()
    assert (mark(he, "queue"), mark(she, "own")) == (1, 0) and not is_hidden(she, "own")
    he.post(f"/review/{row.pk}/claim/")
    he.post(f"/review/{row.pk}/note/", {"message": str(asked[2].answer), "text": "Hm."})
    assert mark(she, "own") == 1
    assert "There is something new" in she.get(f"/c/{asked[0].conversation}/").text
    she.head(f"/review/{row.pk}/")
    assert mark(she, "own") == 1, "nobody has looked"
    page_of(she, row)
    assert mark(she, "own") == 0
    he.post(f"/review/{row.pk}/verdict/", {"verdict": "approved"})
    assert (mark(he, "queue"), mark(she, "own")) == (0, 1)
    she.post(f"/review/{row.pk}/note/", {"answer_to": str(Note.objects.get().pk), "text": "So?"})
    assert mark(he, "queue") == 1
    page_of(he, row)
    page_of(she, row)
    assert (mark(he, "queue"), mark(she, "own")) == (0, 0)
    assert "approved" in she.get(f"/c/{asked[0].conversation}/").text


def test_what_is_withdrawn_is_gone_for_both(asked, alice, bob, she, he):
    row = held(asked[2].answer, bob, alice)
    assert he.head(f"/review/{row.pk}/open/").status_code == 204
    assert she.post(f"/reviews/{row.pk}/withdraw/").headers["location"] == "/reviews/"
    for client in (she, he):
        assert client.get(f"/review/{row.pk}/").status_code == 404
        assert client.head(f"/review/{row.pk}/open/").status_code == 404
    assert mark(he, "queue") == 0 and is_hidden(she, "own")
    assert "You have submitted nothing" in she.get("/reviews/").text


# What administrators ask for


def test_an_owner_is_asked_and_submits(asked, alice, dana, she, settings):
    settings.ADMIN_CAN_READ_CHATS = False
    path = f"/review/ask/{asked[0].conversation}/"
    staff = browser(dana)
    assert path in staff.get("/admin/chatapp/conversation/").text
    form = staff.get(path).text
    assert "Ask alice to submit" in form and "What first" not in form and "answer." not in form
    assert "alice has been asked" in staff.post(path, {"words": "It failed."}).text
    assert mark(she, "own") == 1
    for page in (f"/c/{asked[0].conversation}/", "/reviews/"):
        assert "asks you to submit" in she.get(page).text and "It failed." in she.get(page).text
    she.post(f"/m/{asked[2].answer}/submit/", {"scope": "branch"})
    assert mark(she, "own") == 0 and "asks you" not in she.get(f"/c/{asked[0].conversation}/").text


def test_an_owner_says_not_now_and_can_be_asked_again(asked, alice, dana, she):
    conversation = Conversation.objects.get(pk=asked[0].conversation)
    wish = ask_to_submit(conversation, by=dana)
    ask_to_submit(conversation, by=dana, words="Please.")
    assert Wish.objects.count() == 1
    where = she.post(f"/reviews/asked/{wish.pk}/decline/").headers["location"]
    assert where == f"/c/{conversation.pk}/" and "asks you" not in she.get(where).text
    assert mark(she, "own") == 0 and not Submission.objects.exists()
    ask_to_submit(conversation, by=dana)
    assert mark(she, "own") == 1


# Hostile words


def test_what_attacks_a_page_stands_there_as_text(alice, bob, dana, she, he):
    some = "\n\n".join(ATTACKS)[:9000]
    made = turn(alice, some, some)
    Conversation.objects.update(title=some[:200], titled_by="person")
    row = held(made.answer, bob, alice, question=some)
    note = reviewing.append_note(row, by=bob, text=some, message=made.answer)
    reviewing.append_answer(row, by=alice, text=some, to=note)
    reviewing.give_verdict(row, by=bob, verdict=Verdict.REJECTED, reason=some)
    ask_to_submit(Conversation.objects.get(), by=dana, words=some)
    where = f"/review/{row.pk}/"
    pages = [he.get(where), he.get("/review/?show=all"), she.get(where), she.get("/reviews/")]
    pages.append(she.get(f"/c/{made.conversation}/"))
    for page in pages:
        assert page.status_code == 200
        assert all('src="/static/' in script for script in re.findall(r"<script[^>]*>", page.text))
        assert re.findall(r"<(?:iframe|object|embed|img|base|style)\b", page.text) == []
        assert re.findall(r"<[a-z][^<>]*\son[a-z]+=", page.text) == []


# People who left, and much of it


def test_a_reviewer_who_leaves_leaves_words_without_a_name(asked, alice, bob, she):
    row = held(asked[2].answer, bob, alice)
    reviewing.append_note(row, by=bob, text="A word of his.", message=asked[2].answer)
    leaving.leave(bob)
    page = page_of(she, row)
    assert "A word of his." in page and "somebody whose account is gone" in page and "bob" not in page
    assert "waits for a reviewer" in page


def test_an_owner_who_leaves_takes_everything_along(asked, alice, bob, he):
    row = held(asked[2].answer, bob, alice)
    reviewing.append_note(row, by=bob, text="A word of his.", message=asked[2].answer)
    User.objects.create_superuser("somebody else")
    leaving.leave(alice)
    assert not Submission.objects.exists() and not Note.objects.exists()
    assert he.get(f"/review/{row.pk}/").status_code == 404


def test_a_long_branch_is_read_page_by_page_in_few_questions(alice, bob, he):
    rich = "A paragraph of some words with *stress* and `code`.\n\n" * 12
    made = None
    for n in range(30):
        made = turn(alice, f"Question {n}?", f"{rich}{n}", made and made.answer, made and made.conversation)
    row = held(made.answer, bob, alice)
    path = [one.pk for one in store.load_branch(made.answer).messages]
    page_of(he, row)
    with CaptureQueriesContext(connection) as queries:
        first = he.get(f"/review/{row.pk}/")
    assert len(queries) <= MOST_QUERIES
    assert len(gzip.compress(first.content)) < 100_000
    second = he.get(f"/review/{row.pk}/?at={made.answer}&from=50")
    names = [re.findall(r'data-message-id="([^"]+)"', page.text) for page in (first, second)]
    assert [*names[0], *names[1]] == [str(pk) for pk in path]
    assert "Give verdict" in second.text and "Give verdict" not in first.text
    at = he.get(f"/review/{row.pk}/?at={path[55]}")
    assert f'data-message-id="{path[55]}"' in at.text and "Earlier messages" in at.text


@pytest.mark.parametrize("start", ["x", "-1", "99999", "9" * 40, "²", ""])
def test_a_place_that_makes_no_sense_shows_something(asked, alice, bob, he, start):
    page = page_of(he, held(asked[2].answer, bob, alice), f"?from={start}")
    assert "<article" in page


def test_of_very_many_the_newest_are_listed(asked, alice, bob, he, she, monkeypatch):
    monkeypatch.setattr(views, "MOST_LISTED", 2)
    monkeypatch.setattr(own, "MOST_LISTED", 2)
    rows = [submit(message(asked[2].answer), by=alice) for _ in range(3)]
    for page in (he.get("/review/").text, she.get("/reviews/").text):
        assert [str(row.pk) in page for row in rows] == [False, True, True]
        assert "And 1 older" in page
