"""The page of figures: for staff alone, of the days and the model that were chosen, without a word of anybody's chat."""

from __future__ import annotations

import csv
import re
from collections import Counter
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatapp import store
from chatapp.accounts.store.roles import set_roles
from chatapp.core.draft import Draft
from chatapp.core.spread import bucket
from chatapp.insight.models import ModelDay, PersonDay
from chatapp.insight.store.sums import day_of
from chatapp.reviews.models import Verdict
from chatapp.reviews.store import reviewing
from chatapp.reviews.store.submitting import submit, withdraw
from chatapp.store import AskedFor, Measured
from chatapp.store.models import Message
from tests.support.make import text, thought
from tests.support.page import Page, words

pytestmark = [pytest.mark.django_db, pytest.mark.both]

SHEETS = ("days", "models", "people", "endings", "tools", "keys", "thoughts-left-out", "reviews")
FACTS = {
    "round": 0,
    "model": "a:one",
    "usage": {"input": 1000, "output": 200},
    "first_event_ms": 900,
    "replayed": 3,
    "dropped": {"model changed": 2},
}


@pytest.fixture
def her(client, dana):
    client.force_login(dana)
    return client


def answered(person, *, model="a:one", ms=23_000, words="canary-question"):
    started = store.open_conversation(person, words, tools=[], asked=AskedFor(model=model))
    claim = store.claim_turn(started.answer, runner="here", seen=0)
    measured = Measured(durations={"rs_1": ms}, round=FACTS | {"model": model})
    store.finish(claim, [thought(text="canary-thought"), text(text="canary-answer")], measured)
    return started


def kept(model="a:one", *, back=0, user=None, **counts):
    """So many days ago."""
    day = day_of(timezone.now()) - timedelta(days=back)
    ModelDay.objects.create(day=day, model=model, counts=counts)
    known = {name: number for name, number in counts.items() if name in PersonDay.COUNTS}
    PersonDay.objects.create(day=day, model=model, user=user, **known)


def sums_of(page):
    return {words(row).split(":")[0]: words(row) for row in Page(page).all("div") if "dt" in str(row)}


def rows_of(page, heading):
    """The cells of the table of that name."""
    table = re.search(rf'aria-labelledby="{heading}">(.*?)</table>', page.text, re.DOTALL)
    found = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", table[1], re.DOTALL) if table else []
    return [re.sub(r"\|+", "|", re.sub(r"\s*<[^>]+>\s*", "|", row)).strip("|").split("|") for row in found]


def sheet_of(client, what, query=""):
    response = client.get(f"/insight/{what}.csv{query}")
    assert response.status_code == 200 and response["Content-Type"].startswith("text/csv")
    assert "attachment" in response["Content-Disposition"]
    return list(csv.DictReader(StringIO(response.content.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("path", ["/insight/", *(f"/insight/{what}.csv" for what in SHEETS)])
def test_for_everybody_but_staff_nothing_is_there(client, alice, bob, charlie, dana, path):
    assert client.get(path)["Location"] == f"/accounts/login/?next={path}"
    for person in (alice, bob, charlie):
        client.force_login(person)
        assert client.get(path).status_code == 404
        assert 'href="/insight/"' not in client.get("/").text
    client.force_login(dana)
    assert client.get(path).status_code == 200
    assert 'href="/insight/"' in client.get("/").text
    assert client.post(path).status_code == 405


def test_what_is_not_there_is_not_found(her):
    assert her.get("/insight/passwords.csv").status_code == 404


def test_an_empty_page_says_what_to_do(her):
    page = her.get("/insight/")
    assert "Nobody has asked anything in these days" in page.text and '<svg class="chart"' not in page.text
    assert "has not answered in these days" in her.get("/insight/?model=a:one").text
    for what in SHEETS:
        assert sheet_of(her, what) == []


def test_the_page_says_what_was_counted(her, alice):
    answered(alice)
    failed = store.open_conversation(alice, "canary-question", tools=[], asked=AskedFor(model="a:one"))
    claim = store.claim_turn(failed.answer, runner="here", seen=0)
    nothing = store.Seen(1, Draft(), 0)
    store.give_up(claim, "failed", nothing, Measured(), {"reason": "busy", "sentence": "canary-sentence"})
    page = her.get("/insight/")
    (row,) = rows_of(page, "by-model")
    name, answers, p50, p95, spread, each, first, ended, stopped, tokens, cost, back, left = row
    assert (name, answers, each, stopped, tokens, cost) == ("a:one", "2", "0.5", "0", "1,200", "–")
    assert (p50, p95, spread) == ("24 s", "24 s", "24 s to 24 s"), "within five in a hundred"
    assert (first, ended, back, left) == ("1.0 s", "50.0 %", "3", "2")
    assert rows_of(page, "endings") == [["The provider was busy", "1", "50.0 %"]]
    assert rows_of(page, "left-out") == [["Another model had made them", "2", "40.0 %"]]
    assert rows_of(page, "by-person") == [["alice", "2", "2", "1,000", "200", "–"]]


def test_every_picture_has_its_name_and_a_table_that_says_the_same(her):
    for back, ms in ((1, 4000), (0, 8000)):
        times = {f"thought:{bucket(ms)}": 3, f"first:{bucket(500)}": 1}
        kept(back=back, turns=1, answers=1, output=5, **times)
    page = her.get("/insight/")
    pictures = re.findall(r"<svg class=\"chart\"[^>]*role=\"img\"[^>]*>", page.text)
    assert len(pictures) == 4 and all('aria-label="' in picture for picture in pictures)
    figure = next(
        it for it in re.findall(r"<figure>.*?</figure>", page.text, re.DOTALL) if "Thinking time" in it
    )
    cells = re.findall(r"<td class=\"end\">(.*?)</td>", figure)
    assert cells == ["3", "4.1 s", "4.1 s", "4.1 s to 4.1 s", "3", "8.2 s", "8.2 s", "8.2 s to 8.2 s"]
    assert "p50 8.2 s, p95 8.2 s today" in figure


def test_nothing_is_drawn_of_tokens_that_nobody_told(her):
    kept(turns=1, answers=1)
    page = her.get("/insight/").text
    assert "No answer of these days says how many tokens it took." in page
    assert "<b>Turns</b>" in page and "<b>Tokens</b>" not in page and "tokens written" not in page
    kept("b:two", turns=1, answers=1, output=5)
    page = her.get("/insight/").text
    assert "<b>Tokens</b>" in page and "tokens written" in page
    assert "how many tokens it took" not in page


def test_a_model_is_called_as_everywhere_and_keeps_its_full_name_beside(her):
    for model in ("demo:thinker", "a:one", "b:one"):
        kept(model, turns=1, answers=1, **{f"thought:{bucket(4000)}": 1})
    page = her.get("/insight/")
    called = [["a:one"], ["b:one"], ["demo:thinker", "Demo (not a real model)"]]
    assert sorted(row[: len(called[n])] for n, row in enumerate(sorted(rows_of(page, "by-model")))) == called
    pictures = re.findall(r"aria-label=\"Thinking time of ([^\"]*?) from ", page.text)
    assert sorted(pictures) == ["Demo (not a real model)", "a:one", "b:one"]


def test_the_span_and_the_model_are_chosen(her, alice, bob):
    kept(turns=1, answers=1, input=5, output=1, user=alice)
    kept(back=13, turns=1, answers=2, input=5, output=1, user=alice)
    kept(back=14, turns=1, answers=4, input=5, output=1, user=alice)
    kept("b:two", back=89, turns=1, answers=8, input=5, output=1, user=bob)
    kept("b:two", back=364, turns=1, answers=16, input=5, output=1, user=bob)
    kept("b:two", back=365, turns=1, answers=32, input=5, output=1, user=bob)

    def answers(query):
        page = her.get(f"/insight/{query}")
        models = {row[0]: row[1] for row in rows_of(page, "by-model")}
        people = {row[0]: row[1] for row in rows_of(page, "by-person")}
        files = {row["model"]: row["answers"] for row in sheet_of(her, "models", query)}
        assert files == models
        assert sum(map(int, people.values())) == sum(map(int, models.values()))
        return models

    assert answers("") == {"a:one": "3"}
    assert answers("?days=90") == {"a:one": "7", "b:two": "8"}
    assert answers("?days=365") == {"a:one": "7", "b:two": "24"}
    assert answers("?days=365&model=b:two") == {"b:two": "24"}
    assert her.get("/insight/?days=365").text.count("Week of") == 1


@pytest.mark.parametrize(
    "query",
    ["?days=1", "?days=x", "?days=-14", "?days=٣", "?days=99999999999", "?model=%00", "?days=&model="],
)
def test_what_makes_no_sense_counts_as_not_chosen(her, query):
    kept(turns=1, answers=1)
    page = her.get(f"/insight/{query}")
    assert (page.status_code == 200 and "By model" in page.text) or "has not answered" in page.text
    assert re.search(r'value="14" checked', page.text)


def test_files_hold_the_numbers(her, alice):
    answered(alice)
    (row,) = sheet_of(her, "days")
    assert (row["day"], row["model"]) == (str(day_of(timezone.now())), "a:one")
    wanted = {"answers": "1", "turns": "1", "thoughts": "1", "input": "1000", "output": "200"}
    assert {name: row[name] for name in wanted} == wanted
    assert (row["cost in dollars"], row["turns without a price"]) == ("", "1")
    assert abs(int(row["thinking p50 ms"]) - 23_000) < 1200
    assert (row["thoughts sent back"], row["thoughts left out"]) == ("3", "2")
    assert sheet_of(her, "thoughts-left-out") == [{"why": "Another model had made them", "thoughts": "2"}]
    assert [*sheet_of(her, "people")[0].values()][:3] == ["alice", "a:one", "1"]


def test_costs_are_said_as_far_as_they_are_known(her):
    kept(turns=2, answers=2, cost=1_234_560_000, unpriced=0)
    kept("b:two", turns=2, answers=1, cost=500, unpriced=1)
    page = her.get("/insight/")
    costs = {row[0]: row[10] for row in rows_of(page, "by-model")}
    assert costs == {"a:one": "$ 1,234.56", "b:two": "at least under $ 0.01"}
    assert {row["cost in dollars"] for row in sheet_of(her, "models")} == {"1234.56", "0.0005"}


def test_names_are_words_and_nothing_else_on_the_page_and_in_the_files(her):
    evil = User.objects.create_user("=cmd|'/C calc'!A0")
    other = User.objects.create_user("<b>bob\u202e")
    kept("a:<script>alert(1)</script>", turns=1, answers=1, output=2, user=evil)
    kept("=a:one", turns=1, answers=1, output=1, user=other)
    page = her.get("/insight/")
    assert "<script>alert" not in page.text and "<b>bob" not in page.text and "\u202e" not in page.text
    people, models = sheet_of(her, "people"), sheet_of(her, "models")
    assert [row["person"] for row in people] == ["'=cmd|'/C calc'!A0", "<b>bob⟨U+202E⟩"]
    assert {row["model"] for row in models} == {"a:<script>alert(1)</script>", "'=a:one"}


def test_no_word_of_a_chat_is_on_the_page_or_in_a_file(her, alice, settings):
    settings.ADMIN_CAN_READ_CHATS = False
    answered(alice)
    for path in ("/insight/", *(f"/insight/{what}.csv" for what in SHEETS)):
        page = her.get(path)
        assert page.status_code == 200 and "canary" not in page.text


def test_those_who_left_are_one_row_without_a_name(her, alice):
    kept(turns=1, answers=1)
    kept("b:two", turns=1, answers=2)
    kept("b:two", back=1, turns=1, answers=4, user=alice)
    alice.delete()
    assert rows_of(her.get("/insight/"), "by-person")[0][:2] == ["People who left", "7"]


def test_many_models_and_people_stay_a_page(her):
    people = [User.objects.create_user(f"person{n}") for n in range(60)]
    for n, person in enumerate(people):
        kept(f"a:{n}", turns=1, answers=100 - n, output=100 - n, user=person, **{"thought:90": 1})
    page = her.get("/insight/")
    assert page.text.count("Thinking time of") == 2 * 6
    assert "54 more models: in the table below, or chosen above." in page.text
    assert len(rows_of(page, "by-model")) == 60 and len(rows_of(page, "by-person")) == 50
    assert "These are the 50 who had most written" in page.text
    assert len(sheet_of(her, "people")) == 60


def test_the_page_costs_as_many_queries_for_many_days_as_for_one(her, alice):
    kept(turns=1, answers=1, user=alice)
    counts = Counter()
    her.get("/insight/")
    for back in (0, 80):
        for n in range(1, back):
            kept(back=n, turns=1, answers=1, user=alice)
        with CaptureQueriesContext(connection) as asked:
            her.get("/insight/?days=90")
        counts[len(asked)] += 1
    assert list(counts.values()) == [2]


def test_the_page_needs_no_inline_script_and_no_inline_style(her, alice):
    answered(alice)
    page = her.get("/insight/")
    assert not re.search(r"\sstyle=|<style|\son\w+=", page.text)


def test_what_became_of_reviews_is_told_without_a_word_of_them(her, alice, bob):
    set_roles(bob, active=True, staff=False, reviewer=True)
    made = [submit(leaf_of(answered(alice)), by=alice, question="canary") for _ in range(4)]
    for each in made[:2]:
        reviewing.claim(each, by=bob)
    reviewing.give_verdict(made[0], by=bob, verdict=Verdict.APPROVED)
    withdraw(made[3])
    page = her.get("/insight/").text
    assert {row[0]: row[1] for row in rows_of(her.get("/insight/"), "reviews")} == {
        "Approved": "1",
        "Is being reviewed": "1",
        "Waits for a reviewer": "1",
        "Withdrawn": "1",
    }
    assert "canary" not in page
    assert len(sheet_of(her, "reviews")) == 4
    assert sheet_of(her, "reviews", "?model=b:other") == []


def leaf_of(started):
    return Message.objects.get(pk=started.answer)


# Days of one's own, and what is behind the figures


def test_days_of_ones_own_are_those_and_no_others(her):
    today = day_of(timezone.now())
    for back in (0, 3, 5, 9):
        kept(back=back, turns=1, answers=10**back if back < 9 else 7)
    since, until = today - timedelta(days=5), today - timedelta(days=3)
    page = her.get(f"/insight/?since={since}&until={until}")
    assert "101,000" in page.text and "today" not in words(Page(page).one("h2", id="by-day"))
    lines = her.get(f"/insight/days.csv?since={since}&until={until}").content.decode("utf-8-sig").splitlines()
    assert len(lines) == 3


@pytest.mark.parametrize(
    "query", ["since=x&until=y", "since=2026-01-05&until=2026-01-01", "since=0001-01-01"]
)
def test_days_that_make_no_sense_are_the_usual_ones(her, query):
    kept(turns=1)
    page = her.get(f"/insight/?{query}").text
    assert re.search(r'value="14"\s+checked', page)


def test_figures_lead_to_the_conversations_behind_them(her, alice):
    kept(model="a:one", user=alice, turns=1, **{"ended:failed:busy": 1})
    page = her.get("/insight/").text
    today = day_of(timezone.now())
    since = today - timedelta(days=13)
    span = f"since={since}&amp;until={today}&amp;archived=1"
    assert f'href="/admin/chatapp/conversation/?model=a%3Aone&amp;{span}"' in page
    assert f'href="/admin/chatapp/conversation/?model=a%3Aone&amp;failed=1&amp;{span}"' in page
    assert f'href="/admin/chatapp/conversation/?owner={alice.pk}&amp;{span}"' in page


def test_thinking_is_told_by_length_and_by_effort(her):
    steps = {
        f"length:1:{bucket(4000)}": 3,
        f"length:4:{bucket(60_000)}": 1,
        f"effort:high:{bucket(30_000)}": 2,
    }
    kept(turns=6, answers=6, **steps)
    page = her.get("/insight/")
    assert [row[:3] for row in rows_of(page, "by-length")] == [
        ["100 to 300 tokens", "3", "4.1 s"],
        ["3,000 tokens and more", "1", "1 min 1 s"],
    ]
    assert [row[:2] for row in rows_of(page, "by-effort")] == [["high", "2"]]


def test_tools_are_told_with_calls_failures_and_time(her):
    kept(
        turns=1,
        answers=1,
        **{"tool:read_page:calls": 4, "tool:read_page:failed": 1, "tool:read_page:ms": 8000},
    )
    assert rows_of(her.get("/insight/"), "tools") == [["read_page", "4", "1", "25.0 %", "2.0 s", "8.0 s"]]


def test_of_how_many_the_price_is_known_is_said(her):
    kept(turns=412, answers=412, cost=14_370_000, unpriced=27)
    assert "385 of 412 have a price" in her.get("/insight/").text
