"""Map and Compare of what was submitted: of nothing else, and of nothing that came later."""

from __future__ import annotations

import re
from html import unescape
from uuid import uuid4

import pytest

from chatapp.reviews.models import Scope
from chatapp.reviews.store import reviewing
from chatapp.reviews.store.submitting import submit
from tests.reviews.test_reviewing import CANARIES, go_on
from tests.reviews.test_reviewing import hidden as hidden
from tests.support.reviewed import again, browser, message, reviewer, turn

pytestmark = [pytest.mark.both, pytest.mark.django_db]


@pytest.fixture
def bob(bob):
    return reviewer(bob)


@pytest.fixture
def two(alice, bob):
    """Two answers to one question, and a turn below the second; submitted whole and held by bob."""
    first = turn(alice, "What first?", "The first answer.")
    second = again(alice, first.question, "The second answer.")
    last = turn(alice, "What then?", "The last answer.", second.answer, first.conversation)
    row = submit(message(last.answer), by=alice, scope=Scope.TREE)
    reviewing.claim(row, by=bob)
    return row, first, second, last


def shown(client, path) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return unescape(response.text)


def test_the_map_has_every_message_that_was_submitted_and_leads_there(two, alice, bob):
    row, *_ = two
    for person in (alice, bob):
        page = shown(browser(person), f"/review/{row.pk}/map/")
        names = re.findall(r'name="at"\s+value="([^"]+)"', page)
        assert (
            set(names) == {str(pk) for pk in row.messages.values_list("message", flat=True)}
            and len(names) == 5
        )
        assert f'action="/review/{row.pk}/"' in page and "5 messages on 2 branches" in page
        assert "/c/" not in page.split('class="sheet"')[1]
    review = shown(browser(bob), f"/review/{row.pk}/")
    assert f"/review/{row.pk}/map/" in review and "?choose=1" in review


def test_two_branches_stand_side_by_side(two, bob):
    row, first, _, last = two
    page = shown(browser(bob), f"/review/{row.pk}/compare/?a={first.answer}&b={last.answer}")
    for words in (
        "The first answer.",
        "The second answer.",
        "The last answer.",
        "1 message in common",
        "23 s",
    ):
        assert words in page, words
    assert "/c/" not in page.split('class="sheet"')[1]
    map_page = shown(browser(bob), f"/review/{row.pk}/map/?a={first.answer}")
    assert f'action="/review/{row.pk}/compare/"' in map_page


def test_nothing_that_was_not_submitted_or_came_later_is_in_them(hidden, alice, bob):
    """The words that are nowhere else either."""
    row = submit(message(hidden[2].answer), by=alice)
    reviewing.claim(row, by=bob)
    go_on(hidden, alice)
    he, names = browser(bob), list(row.messages.values_list("message", flat=True))
    pages = [shown(he, f"/review/{row.pk}/map/")]
    pages += [shown(he, f"/review/{row.pk}/compare/?a={names[0]}&b={name}") for name in names]
    for page in pages:
        assert [word for word in CANARIES if word in page] == []
        assert "1 min 39 s" not in page and "16 min 30 s" not in page
    assert "stopped" in pages[0] and "Half of it" in pages[0]


@pytest.mark.parametrize("beside", ["before", "after"])
def test_a_message_beside_it_is_like_none(alice, bob, beside):
    first = turn(alice, "Why?")
    if beside == "before":
        other = again(alice, first.question, "canary").answer
    row = submit(message(first.answer), by=alice)
    reviewing.claim(row, by=bob)
    if beside == "after":
        other = turn(alice, "And?", "canary", first.answer, first.conversation).answer
    he = browser(bob)
    for path in ("compare/?a={0}&b={1}", "compare/?a={1}&b={0}", "map/?a={1}"):
        answers = [
            he.get(f"/review/{row.pk}/{path.format(first.answer, name)}") for name in (other, uuid4(), "x")
        ]
        assert {answer.status_code for answer in answers} == {404}
    assert "canary" not in shown(he, f"/review/{row.pk}/map/")
