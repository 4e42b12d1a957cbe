"""The front page of administrators: what runs, waits, failed and needs somebody, each figure with its list."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test.html import Element
from django.utils import timezone

from chatapp import store
from chatapp.core.counting import ENDED, FIRST
from chatapp.core.spread import bucket
from chatapp.insight.models import ModelDay, PersonDay
from chatapp.insight.store.sums import day_of
from chatapp.limits.models import DailyLimit
from chatapp.mcp_servers.models import McpServer, McpTool
from chatapp.oversight.models import Look
from chatapp.oversight.store import looks
from chatapp.pages.staff.password_given import GIVEN_AT
from chatapp.providers.base import Trouble
from chatapp.reviews.store.submitting import submit
from chatapp.store import AskedFor, Measured
from chatapp.store.models import Conversation, Message, Status
from tests.support.front import HTMX
from tests.support.make import call, seen, text, thought
from tests.support.page import Page, attribute

pytestmark = pytest.mark.django_db

LIST = "/admin/chatapp/conversation/"
CANARY = "canarybird"


@pytest.fixture
def her(client, dana):
    client.force_login(dana)
    return client


def asked(owner, said=f"Why {CANARY}?", model="demo:thinker"):
    return store.open_conversation(owner, said, tools=[], asked=AskedFor(model=model))


def answered(owner, *, ms=60_000):
    started = asked(owner)
    claim = store.claim_turn(started.answer, runner="here", seen=0)
    rounds = {
        "round": 0,
        "model": "demo:thinker",
        "usage": {"input": 900, "output": 120},
        "first_event_ms": 400,
    }
    store.finish(claim, [thought(), text()], Measured(durations={"rs_1": ms}, round=rounds, elapsed=2400))
    return started


def failed(owner, reason=Trouble.KEY):
    started = asked(owner)
    claim = store.claim_turn(started.answer, runner="here", seen=0)
    ended = {"reason": reason, "sentence": "The provider refused.", "raw": f"401 {CANARY}"}
    store.give_up(claim, Status.FAILED, seen(1), Measured(), ended)
    return started


def waiting(owner):
    started = asked(owner)
    made = call(name="send", text="{}")
    claim = store.claim_turn(started.answer, runner="here", seen=0)
    store.append_round(claim, [made], Measured())
    store.park(claim, [made], Measured())
    return started


def said(element) -> str:
    """With a blank between what stands apart."""
    return " ".join(re.sub(r"<[^>]+>", " ", str(element)).split())


def section(page, name) -> str:
    return said(Page(page).one("section", id=name))


def lead(page) -> str:
    (found,) = (each for each in Page(page).all("p") if attribute(each, "class") == "lead")
    return said(found).replace(" ,", ",").replace(" .", ".")


def test_a_quiet_day_says_so_in_every_section(her):
    page = her.get("/admin/")
    assert lead(page) == (
        "Nothing is running, nothing waits for anyone, nothing has been answered yet. Nothing needs you."
    )
    for name, told in {
        "decide": "No provider refuses its key",
        "runs": "Nothing is being answered",
        "waits": "Nobody is asked anything",
        "failed": "Nothing has been answered today",
        "use": "Nobody who has a limit",
        "looks": "Nobody has looked",
    }.items():
        assert told in section(page, name)


def test_what_runs_stands_there_with_whose_it_is_and_can_be_stopped(her, alice):
    started = asked(alice)
    store.claim_turn(started.answer, runner="here", seen=0)
    page = her.get("/admin/")
    assert "One answer is running" in lead(page)
    assert f"Why {CANARY}?" in section(page, "runs") and "alice, since" in section(page, "runs")
    assert f'action="{LIST}{started.conversation}/stop/"' in page.text


def test_what_waits_for_somebody_says_for_whom_and_why(her, alice):
    waiting(alice)
    page = her.get("/admin/")
    assert "one is waiting for someone" in lead(page)
    told = section(page, "waits")
    assert "send wants to run; only alice can answer" in told and "asks alice" in told


def test_failures_are_told_by_provider_and_reason_with_the_providers_words(her, alice):
    for _ in range(2):
        failed(alice)
    failed(alice, Trouble.BUSY)
    page = her.get("/admin/")
    assert "three of 3 failed" in lead(page)
    told = section(page, "failed")
    assert "the key was refused" in told and f"401 {CANARY}" in told and "2 answers" in told
    assert "the provider was busy" in told and "1 answer" in told
    assert f'href="{LIST}?provider=demo&amp;state=failed&amp;days=1"' in page.text


def test_a_refused_key_needs_somebody(her, alice):
    failed(alice)
    page = her.get("/admin/")
    told = section(page, "decide")
    assert "refuses the key" in told and "1 answer of alice failed on it today." in told
    assert 'href="/admin/providers/demo/"' in page.text
    assert "One thing needs you" in lead(page)


def test_what_was_submitted_and_is_nobodys_needs_somebody(her, alice):
    started = answered(alice)
    submit(Message.objects.get(pk=started.answer), by=alice, question="May I send it?")
    told = section(her.get("/admin/"), "decide")
    assert "has no reviewer" in told and "alice submitted it and asks: May I send it?" in told


def test_a_tool_that_changed_what_it_says_needs_somebody(her):
    server = McpServer.objects.create(name="docs", url="https://docs.example/")
    McpTool.objects.create(server=server, name="search", fingerprint="new", judged="old")
    page = her.get("/admin/")
    assert "docs.search describes itself differently now" in section(page, "decide")
    McpTool.objects.update(judged="new")
    assert "describes itself" not in section(her.get("/admin/"), "decide")


def test_providers_tell_their_last_answer_their_pace_and_their_failures(her, alice):
    answered(alice)
    failed(alice, Trouble.BUSY)
    page = her.get("/admin/")
    (row,) = (
        each
        for each in Page(page).all("tr")
        if any(attribute(a, "href") == "/admin/providers/demo/" for a in links(each))
    )
    told = said(row)
    assert "s ago 0.4 s 60 2 1" in told


def links(element) -> list[Element]:
    found = [element] if element.name == "a" else []
    for child in element.children:
        if isinstance(child, Element):
            found += links(child)
    return found


def test_use_is_told_with_how_much_of_it_has_a_price_and_who_is_near_a_limit(her, alice, bob):
    day = day_of(timezone.now())
    counts = {
        "turns": 412,
        "answers": 412,
        "input": 1_900_000,
        "output": 600_000,
        "cost": 14_370_000,
        "unpriced": 27,
    }
    ModelDay.objects.create(day=day, model="a:one", counts=counts)
    PersonDay.objects.create(day=day, model="a:one", user=alice, turns=3, input=90_000, output=8400)
    PersonDay.objects.create(day=day, model="a:one", user=bob, turns=88, cost=1_000_000)
    DailyLimit.objects.create(who="everybody", turns=200, tokens=100_000, cost=Decimal(5))
    told = section(her.get("/admin/"), "use")
    for words in ("412", "1.9 M", "600 k", "$ 14.37", "385 of 412 have a price"):
        assert words in told
    assert told.index("alice , tokens") < told.index("98,400 of 100,000") < told.index("bob , turns")


def test_new_people_and_looks_of_today_are_listed(her, alice, dana):
    started = answered(alice)
    looks.append_looks(dana, [started.conversation], Look.What.TRANSCRIPT, address="")
    page = her.get("/admin/")
    assert "alice" in section(page, "new")
    assert "of alice: dana opened the transcript" in section(page, "looks")


def test_the_day_is_drawn_by_quarter_of_an_hour(her, alice):
    answered(alice, ms=120_000)
    page = her.get("/admin/")
    (drawn,) = (each for each in Page(page).all("svg") if attribute(each, "class") == "day")
    assert "models thought most from" in attribute(drawn, "aria-label")
    assert "2 min so far" in page.text


def test_closed_the_page_has_figures_and_no_word_of_anybody(her, alice, settings):
    running = asked(alice)
    store.claim_turn(running.answer, runner="here", seen=0)
    waiting(alice)
    failed(alice)
    started = answered(alice)
    submit(Message.objects.get(pk=started.answer), by=alice, question=CANARY)
    settings.ADMIN_CAN_READ_CHATS = False
    page = her.get("/admin/")
    assert CANARY not in page.text and "/transcript/" not in page.text
    assert "One answer is running" in lead(page) and "A conversation" in section(page, "runs")


def test_it_keeps_itself_up_to_date(her, alice):
    asked(alice)
    told = json.loads(her.get("/admin/", headers=HTMX).content)
    assert [each[0] for each in told] == ["put"] * 9
    assert any("Why canarybird?" in html for _, html in told)


def test_a_page_that_was_left_open_asks_for_the_password(her):
    session = her.session
    session[GIVEN_AT] = 0
    session.save()
    assert her.get("/admin/", headers=HTMX).headers["HX-Refresh"] == "true"


def test_it_asks_as_much_for_many_as_for_one(her, alice, bob, charlie, django_assert_max_num_queries):
    for _ in range(2):
        asked(alice)
        waiting(alice)
        failed(alice)
    with django_assert_max_num_queries(45) as few:
        her.get("/admin/")
    for person in (bob, charlie):
        for _ in range(3):
            asked(person)
            waiting(person)
        for _ in range(6):
            failed(person)
            answered(person)
    with django_assert_max_num_queries(len(few) + 1):
        her.get("/admin/")


def test_yesterday_is_not_today(her, alice):
    failed(alice)
    before = timezone.now() - timedelta(days=1)
    Conversation.objects.update(updated_at=before)
    Message.objects.update(touched_at=before)
    ModelDay.objects.all().delete()
    assert "Nothing has been answered today" in section(her.get("/admin/"), "failed")


def test_counts_of_the_day_are_those_of_insight(her):
    counts = {"turns": 5, f"{ENDED}failed:busy": 2, f"{ENDED}complete": 3, f"{FIRST}{bucket(900)}": 5}
    ModelDay.objects.create(day=day_of(timezone.now()), model="demo:thinker", counts=counts)
    page = her.get("/admin/")
    assert "two of 5 failed" in lead(page) and "40.0 % of 5" in section(page, "failed")
