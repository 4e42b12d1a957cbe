"""Labels for one submission by several reviewers: blind until all have handed in, then read by everybody who has a part in it."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.utils import timezone

from chatapp.exchange.out.as_reviewed import WantedReviews, as_reviewed, chosen_reviews
from chatapp.exchange.store import archives
from chatapp.reviews import part
from chatapp.reviews.models import LabelSet, Note, Rating, Seat, Submission
from chatapp.reviews.store import rating, reviewing
from chatapp.reviews.store.marks import load_marks
from chatapp.reviews.store.reminding import take_reminders
from chatapp.reviews.store.submitting import submit
from chatapp.reviews.verify import review_breaches
from tests.support.reviewed import browser, label_set, message, reviewer, turn

pytestmark = [pytest.mark.both, pytest.mark.django_db]


@pytest.fixture
def erin(db):
    return reviewer(User.objects.create_user("erin", password="a long enough password"))


@pytest.fixture
def row(alice, bob, erin):
    """Rated by bob and erin, of whom neither has said anything yet."""
    first = turn(alice, "Why?", "Because.")
    last = turn(alice, "And then?", "Then this.", first.answer, first.conversation)
    made = submit(message(last.answer), by=alice, label_set=label_set(), may_leave=True)
    for person in (reviewer(bob), erin):
        reviewing.claim(made, by=person)
    return made


def page(person, row) -> str:
    response = browser(person).get(f"/review/{row.pk}/")
    assert response.status_code == 200
    return unescape(response.text)


def fields(person, row) -> list[str]:
    return list(dict.fromkeys(re.findall(r'name="(r\.[^"]+)"', page(person, row))))


VALUES = {"Is it right?": "yes", "How clear is it?": "4", "This thought": "leads on", "In words": "Well."}


def filled(row, **other) -> dict[str, str]:
    """Everything that is asked, with other values for some labels."""
    values = VALUES | {words.replace("_", " ") + "?": value for words, value in other.items()}
    return {
        f"r.{each.label.pk}.{each.message}.{each.item_key}": values[each.label.words]
        for each in rating.load_to_rate(row)
    }


def rate(person, row, form, **more):
    return browser(person).post(f"/review/{row.pk}/rate/", form | more)


def hand_in(person, row, **other):
    return rate(person, row, filled(row, **other), hand_in="1")


def test_every_answer_and_every_thought_is_asked_of(row, bob):
    asked = fields(bob, row)
    assert (
        len(asked) == 2 * 4 and sum(name.endswith(".rs_1") or not name.endswith(".") for name in asked) == 2
    )
    shown = page(bob, row)
    assert "Rated blind." in shown and "0</b> of 6 filled in" in shown and "1, I had to guess" in shown


def test_what_is_said_is_kept_as_it_is_made(row, bob):
    one, *_ = [name for name in fields(bob, row) if "in " not in name]
    assert rate(bob, row, {one: "yes"}).status_code == 303
    assert Rating.objects.get().value == "yes" and "1</b> of 6 filled in" in page(bob, row)
    rate(bob, row, {one: "no"})
    assert Rating.objects.get().value == "no"


def test_words_may_be_taken_back_and_labels_not(row, bob):
    rate(bob, row, filled(row))
    rate(bob, row, dict.fromkeys(filled(row), ""))
    assert set(Rating.objects.values_list("label__words", flat=True)) == set(VALUES) - {"In words"}


def test_nothing_is_handed_in_before_all_is_filled_in(row, bob):
    form = filled(row)
    del form[next(iter(form))]
    refused = rate(bob, row, form, hand_in="1")
    assert refused.status_code == 409 and "no label yet" in refused.text
    assert not Seat.objects.filter(handed_in_at__isnull=False).exists()
    without_words = {name: value for name, value in filled(row).items() if value != "Well."}
    assert rate(bob, row, without_words, hand_in="1").status_code == 303


@pytest.mark.parametrize("value", ["maybe", "6", "0", "Yes", "leads on ", "x" * 10_001])
def test_what_is_not_on_the_scale_is_not_kept(row, bob, value):
    yes_no = next(name for name, said in filled(row).items() if said == "yes")
    assert rate(bob, row, {yes_no: value}).status_code == 409
    assert not Rating.objects.exists()


def test_what_is_not_asked_is_not_said(row, alice, bob):
    other = turn(alice, "Elsewhere?")
    label = row.label_set.labels.first().pk
    for name in (
        f"r.{label}.{other.answer}.",
        f"r.999999.{row.leaf_id}.",
        "r.x.y.z",
        "r",
        "r.1.2",
        f"r.{label}.{row.leaf_id}.nope",
    ):
        rate(bob, row, {name: "yes"})
    assert not Rating.objects.exists()


CANARY = "canary-of-bob"


def test_nobody_sees_what_another_says_until_all_have_handed_in(row, alice, bob, erin):
    form = {"message": str(row.leaf_id), "text": CANARY}
    browser(bob).post(f"/review/{row.pk}/note/", form)
    words = {name: CANARY if value == "Well." else value for name, value in filled(row).items()}
    rate(bob, row, words, hand_in="1")
    note = Note.objects.get()
    for person in (alice, erin):
        assert CANARY not in page(person, row) and "carol" not in page(person, row)
        answer = {"answer_to": str(note.pk), "text": "What?"}
        assert browser(person).post(f"/review/{row.pk}/note/", answer).status_code == 404
    assert CANARY in page(bob, row)
    assert CANARY not in json.dumps(archives._reviews(alice))
    assert load_marks(alice).news == 0
    hand_in(erin, row)
    for person in (alice, bob, erin):
        shown = page(person, row)
        assert CANARY in shown and "Rated." in shown
    assert load_marks(alice).news == 0, "she has opened it"


def test_who_reviews_something_else_or_nothing_never_sees_it(row, bob, erin, charlie, dana):
    hand_in(bob, row)
    hand_in(erin, row)
    for person in (charlie, dana, reviewer(User.objects.create_user("frank"))):
        assert browser(person).get(f"/review/{row.pk}/").status_code == 404
        assert hand_in(person, row).status_code == 404


@pytest.mark.parametrize("may_read", [True, False])
def test_staff_who_review_nothing_see_figures_alone(row, bob, erin, dana, settings, may_read):
    settings.ADMIN_CAN_READ_CHATS = may_read
    Submission.objects.filter(pk=row.pk).update(question=CANARY)
    for person in (bob, erin):
        browser(person).post(f"/review/{row.pk}/note/", {"message": str(row.leaf_id), "text": CANARY})
        words = {name: CANARY if value == "Well." else value for name, value in filled(row).items()}
        rate(person, row, words, hand_in="1")
    for path in ("/review/?show=all", "/review/labels/", f"/review/labels/{row.label_set_id}/", "/insight/"):
        response = browser(dana).get(path, follow=True)
        assert response.status_code == 200 and CANARY not in response.text and "Because." not in response.text
    for path in ("", "map/", f"compare/?a={row.leaf_id}&b={row.leaf_id}", "suggest/"):
        assert browser(dana).get(f"/review/{row.pk}/{path}").status_code == 404


def test_all_are_told_when_the_last_one_hands_in(row, alice, bob, erin):
    hand_in(bob, row)
    assert load_marks(alice).news == 0 and load_marks(bob).waiting == 0 and load_marks(erin).waiting == 1
    hand_in(erin, row)
    assert load_marks(alice).news == 1 and load_marks(bob).waiting == 1 and load_marks(erin).waiting == 0


def test_one_changes_ones_mind_until_all_have_handed_in(row, bob, erin):
    hand_in(bob, row)
    yes_no = next(name for name, said in filled(row).items() if said == "yes")
    assert rate(bob, row, {yes_no: "no"}).status_code == 303
    hand_in(erin, row)
    late = rate(bob, row, {yes_no: "yes"})
    assert late.status_code == 409 and "Nothing of it changes any more" in late.text
    assert sorted(Rating.objects.filter(label__words="Is it right?").values_list("value", flat=True)) == [
        "no",
        "yes",
        "yes",
        "yes",
    ]


def test_agreement_is_shown_after_handing_in_and_not_before(row, alice, bob, erin, dana):
    """Also where something of the same set was decided before."""
    hand_in(bob, row)
    hand_in(erin, row, Is_it_right="no")
    other = turn(alice, "Elsewhere?")
    second = submit(message(other.answer), by=alice, label_set=row.label_set)
    for person in (bob, erin):
        reviewing.claim(second, by=person)
    said = "How well reviewers agree in “First look”"
    for person in (bob, erin):
        assert said not in page(person, second) and said not in unescape(browser(person).get("/review/").text)
    hand_in(bob, second)
    assert said in page(bob, second) and said in unescape(browser(bob).get("/review/").text)
    assert said not in page(erin, second)
    assert said in unescape(browser(dana).get("/review/").text)


def test_a_seat_that_is_given_back_is_free_and_leaves_nothing(row, bob, erin, charlie):
    rate(bob, row, filled(row))
    frank = reviewer(charlie)
    assert browser(frank).post(f"/review/{row.pk}/claim/").status_code == 404
    browser(bob).post(f"/review/{row.pk}/release/")
    assert not Rating.objects.exists()
    assert browser(frank).post(f"/review/{row.pk}/claim/").status_code == 303
    assert browser(bob).get(f"/review/{row.pk}/").status_code == 404


def test_who_reviews_no_more_holds_no_seat(row, bob, erin, charlie):
    bob.groups.clear()
    frank = reviewer(charlie)
    assert browser(frank).post(f"/review/{row.pk}/claim/").status_code == 303
    hand_in(erin, row)
    hand_in(frank, row)
    assert Submission.objects.get(pk=row.pk).decided_at


def test_a_verdict_is_not_given_where_labels_are_asked_for(row, bob):
    refused = browser(bob).post(f"/review/{row.pk}/verdict/", {"verdict": "approved"})
    assert refused.status_code == 409 and Submission.objects.get().verdict == ""


def test_a_thought_without_words_is_not_asked_of(alice, bob):
    from chatapp.store.models import Item

    first = turn(alice, "Why?")
    Item.objects.filter(message=first.answer, kind="reasoning").update(text="")
    made = submit(message(first.answer), by=alice, label_set=label_set())
    assert [each.label.words for each in rating.load_to_rate(made)] == [
        "Is it right?",
        "How clear is it?",
        "In words",
    ]


def test_a_submission_asks_for_a_set_by_its_form(alice):
    first, sets = turn(alice, "Why?"), [label_set(), label_set("Old")]
    browser(alice).get(f"/m/{first.answer}/submit/")
    LabelSet.objects.filter(pk=sets[1].pk).update(put_away_at=timezone.now())
    path, form = f"/m/{first.answer}/submit/", {"scope": "branch"}
    assert str(sets[0].pk) in browser(alice).get(path).text
    assert str(sets[1].pk) not in browser(alice).get(path).text
    assert browser(alice).post(path, form | {"label_set": str(sets[1].pk)}).status_code == 409
    assert browser(alice).post(path, form | {"label_set": str(sets[0].pk)}).status_code == 302
    assert Submission.objects.get().label_set == sets[0]


def test_it_leaves_with_the_export(row, alice, bob, erin):
    assert list(chosen_reviews(WantedReviews())) == []
    hand_in(bob, row)
    hand_in(erin, row, How_clear_is_it="2")
    for wanted in (WantedReviews(), WantedReviews(reviewer="erin")):
        lines = [json.loads(line) for line in as_reviewed(chosen_reviews(wanted), wanted)]
        told, *agreed = lines
        assert told["labels"] == "First look" and len(told["ratings"]) == 16 and "reviewer" not in told
        assert {each["reviewer"] for each in told["ratings"]} == {1, 2}
        assert {each["value"] for each in told["ratings"] if each["label"] == "How clear is it?"} == {
            "4",
            "2",
        }
        assert {"bob", "erin", "alice"}.isdisjoint(json.dumps(lines).replace('"', " ").split())
        assert {each["label"]: each["agreed"] for each in agreed} == {
            "Is it right?": 1,
            "How clear is it?": 0,
            "This thought": 1,
        }


def test_what_is_rated_is_sound(row, bob, erin):
    hand_in(bob, row)
    hand_in(erin, row)
    assert list(review_breaches()) == []
    other = label_set("Another").labels.first()
    Rating.objects.filter(pk=Rating.objects.first().pk).update(label=other)
    assert len(list(review_breaches())) == 1


# Label sets


FORM = {
    "name": "Look",
    "raters": "3",
    "words-0": "Right?",
    "of-0": "answer",
    "scale-0": "choice",
    "choices-0": "yes\n\n no \nyes\nmaybe",
    "words-3": "How?",
    "of-3": "thought",
    "scale-3": "even steps",
    "low-3": "not at all",
}


def test_an_administrator_writes_changes_and_puts_away(dana, alice):
    her = browser(dana)
    assert her.post("/review/labels/", FORM).status_code == 303
    made = LabelSet.objects.get()
    one, two = made.labels.all()
    assert (made.raters, one.choices, two.scale, two.low) == (
        3,
        ["yes", "no", "maybe"],
        "even steps",
        "not at all",
    )
    assert her.post(f"/review/labels/{made.pk}/", FORM | {"words-0": "Sound?"}).status_code == 303
    assert made.labels.first().words == "Sound?"
    assert "Sound?" in her.get(f"/review/labels/?copy={made.pk}").text
    her.post(f"/review/labels/{made.pk}/away/")
    assert LabelSet.objects.get().put_away_at
    her.post(f"/review/labels/{made.pk}/away/", {"back": "1"})
    submit(message(turn(alice, "Why?").answer), by=alice, label_set=made)
    refused = her.post(f"/review/labels/{made.pk}/", FORM | {"words-0": "Other?"})
    assert refused.status_code == 409 and made.labels.first().words == "Sound?"
    assert "Copy it" in her.get(f"/review/labels/{made.pk}/").text


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"name": "x" * 81},
        {"raters": "1"},
        {"raters": "6"},
        {"raters": "x"},
        {"scale-0": "nonsense"},
        {"of-0": ""},
        {"choices-0": "one"},
        {"choices-0": "\n".join(map(str, range(13)))},
        {"choices-0": f"a\n{'x' * 61}"},
        {"words-0": "", "words-3": ""},
        {"words-0": "x" * 201},
    ],
)
def test_labels_that_make_no_sense_are_refused_in_words(dana, change):
    assert browser(dana).post("/review/labels/", FORM | change).status_code == 409
    assert not LabelSet.objects.exists()


# Assigning, and reminding


def test_what_is_chosen_is_assigned_in_turn(alice, bob, erin, dana):
    reviewer(bob)
    rows = [submit(message(turn(alice, f"Why {n}?").answer), by=alice) for n in range(4)]
    reviewing.claim(rows[0], by=bob)
    chosen = {"chosen": [str(row.pk) for row in rows], "reviewer": ""}
    answer = browser(dana).post("/review/assign/", chosen)
    assert answer.headers["location"] == "/review/?assigned=3"
    assert sorted(Submission.objects.values_list("reviewer__username", flat=True)) == [
        "bob",
        "bob",
        "bob",
        "erin",
    ] or (
        sorted(Submission.objects.values_list("reviewer__username", flat=True))
        == ["bob", "bob", "erin", "erin"]
    )
    assert "3 assigned." in browser(dana).get("/review/?assigned=3").text


def test_the_owner_of_a_submission_is_passed_over(bob, erin, dana):
    reviewer(bob)
    rows = [submit(message(turn(bob, f"Why {n}?").answer), by=bob) for n in range(2)]
    browser(dana).post("/review/assign/", {"chosen": [str(row.pk) for row in rows], "reviewer": ""})
    assert set(Submission.objects.values_list("reviewer__username", flat=True)) == {"erin"}
    browser(dana).post("/review/assign/", {"chosen": ["x", ""], "reviewer": str(bob.pk)})


def test_seats_are_assigned_in_turn_too(alice, bob, erin, dana):
    reviewer(bob)
    row = submit(message(turn(alice, "Why?").answer), by=alice, label_set=label_set())
    for _ in range(3):
        browser(dana).post("/review/assign/", {"chosen": [str(row.pk)], "reviewer": ""})
    assert sorted(row.seats.values_list("reviewer__username", "assigned")) == [("bob", True), ("erin", True)]


def test_the_queue_says_how_old_what_waits_is(alice, bob, dana):
    row = submit(message(turn(alice, "Why?").answer), by=alice)
    Submission.objects.filter(pk=row.pk).update(created_at=timezone.now() - timedelta(days=3, hours=1))
    for person in (reviewer(bob), dana):
        shown = browser(person).get("/review/").text
        assert "The oldest of them has waited for 3 days." in shown and "data-late" in shown


def test_who_holds_what_waits_is_reminded_once(row, alice, bob, erin):
    User.objects.filter(pk=bob.pk).update(email="bob@example.org")
    single = submit(message(row.leaf_id), by=alice)
    reviewing.claim(single, by=bob)
    now = timezone.now()
    assert take_reminders(now) == []
    later = now + timedelta(days=2, minutes=1)
    assert take_reminders(later) == [(bob, 2)]
    assert take_reminders(later) == []
    part.remind(User.objects.get(pk=bob.pk), 2)
    sent = mail.outbox[0]
    assert sent.to == ["bob@example.org"] and "2 submissions wait for you" in sent.body
    assert "alice" not in sent.body + sent.subject


def test_who_has_handed_in_is_not_reminded(row, bob, erin):
    User.objects.update(email="somebody@example.org")
    hand_in(bob, row)
    assert take_reminders(timezone.now() + timedelta(days=3)) == [(erin, 1)]
