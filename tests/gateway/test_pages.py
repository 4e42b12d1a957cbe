"""The pages of keys: what is told of them, what is refused in words, and a secret that stands in one answer and nowhere else."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from chatapp.gateway.models import ApiKey, KeyDay, KeyRule, Who
from chatapp.gateway.store import keys
from chatapp.gateway.store.keys import KeyChoices
from chatapp.gateway.store.requests import begin_request
from chatapp.insight.store.sums import day_of
from chatapp.limits.models import DailyLimit
from chatapp.pages.staff.password_given import GIVEN_AT
from tests.conftest import PASSWORD
from tests.support.listed import listing
from tests.support.page import Page, attribute, words

pytestmark = pytest.mark.django_db

PAGE = "/settings/keys/"
SECRET = re.compile(r"tl_[\w-]{43}")
OPENAI = listing("openai", "gpt-5", "gpt-5-mini")
FORM = {"name": "Editor at work", "expires": "90"}


@pytest.fixture(autouse=True)
def here(models_here):
    DailyLimit.objects.all().delete()
    models_here(OPENAI)


@pytest.fixture
def hers(client, alice):
    client.force_login(alice)
    return client


def secret_in(response: Any) -> str:
    (secret,) = set(SECRET.findall(response.text))
    return str(secret)


def made(owner: User, name: str = "Editor", **said: Any) -> ApiKey:
    return keys.create_key(owner, KeyChoices(name=name, **said))[0]


def rows_of(response: Any) -> list[str]:
    """The words of each row, with a bar between its cells and their lines."""
    rows = re.findall(r"<tr.*?</tr>", response.text, re.DOTALL)[1:]
    return [
        re.sub(r"[|\s]*\|[|\s]*", "|", " ".join(unescape(re.sub(r"<[^>]+>", "|", row)).split()))
        for row in rows
    ]


def test_without_keys_the_page_says_so_and_offers_to_make_one(hers):
    page = hers.get(PAGE)
    assert "You have no keys yet." in page.text and "Make the key" in Page(page).buttons()
    assert "http://testserver/v1" in page.text
    assert f'href="{PAGE}"' in hers.get("/settings/").text


def test_a_new_key_is_shown_once_and_works(hers, alice):
    page = hers.post(PAGE, FORM | {"key": str(uuid4())})
    assert page.status_code == 200 and page.headers["Cache-Control"] == "no-store"
    secret = secret_in(page)
    found = keys.find_key(secret)
    assert found and found.owner == alice and found.name == "Editor at work"
    assert found.expires_at and timedelta(days=89) < found.expires_at - timezone.now() <= timedelta(days=90)
    assert not SECRET.search(hers.get(PAGE).text) and found.begins_with in hers.get(PAGE).text


def test_what_is_pasted_has_the_key_the_address_and_a_model_that_it_may_ask(hers):
    page = hers.post(PAGE, FORM | {"models": "openai:gpt-5-mini"})
    secret = secret_in(page)
    text = unescape(re.sub(r"<[^>]+>", "", page.text))
    for line in (
        f'-H "Authorization: Bearer {secret}" \\',
        """-d '{"model": "gpt-5-mini", "input": "Say hello."}'""",
        f'client = OpenAI(base_url="http://testserver/v1", api_key="{secret}")',
        'model = "gpt-5-mini"',
        'base_url = "http://testserver/v1"',
        f"export THOUGHTLINE_API_KEY={secret}",
        "export ANTHROPIC_BASE_URL=http://testserver\n",
        f"export ANTHROPIC_AUTH_TOKEN={secret}",
        f'"apiKey": "{secret}",',
    ):
        assert line in text, line


def test_a_model_with_a_name_that_would_break_out_is_quoted_where_it_is_pasted(hers, models_here):
    name = """x$(reboot)'";`reboot`</code>"""
    models_here(listing("evil", name))
    page = hers.post(PAGE, FORM | {"models": f"evil:{name}"})
    assert "</code>`" not in page.text and "`</code>" not in page.text.replace("</span></code>", "")
    text = unescape(re.sub(r"<[^>]+>", "", page.text))
    assert """export ANTHROPIC_MODEL='x$(reboot)'"'"'";`reboot`</code>'""" in text
    assert """"model": "x$(reboot)'\\";`reboot`</code>\"""" in text


def test_all_that_is_said_of_a_key_is_kept_and_told(hers):
    form = FORM | {
        "is_recorded": "on",
        "keeps_responses": "on",
        "models": ["openai:gpt-5", "demo:thinker"],
        "default_model": "openai:gpt-5",
        "own_name": ["claude-sonnet-4-5", "", "fast"],
        "own_model": ["openai:gpt-5", "demo:thinker", "demo:thinker"],
        "turns": "200",
        "tokens": "1000000",
        "cost": "2.50",
        "expires": "",
    }
    page = hers.post(PAGE, form)
    told = words(Page(page).all("p")[0])
    row = ApiKey.objects.get()
    assert row.models == ["openai:gpt-5", "demo:thinker"] and row.default_model == "openai:gpt-5"
    assert row.names == {"claude-sonnet-4-5": "openai:gpt-5", "fast": "demo:thinker"}
    assert (row.turns, row.tokens, row.cost, row.expires_at) == (200, 1_000_000, Decimal("2.50"), None)
    assert row.is_recorded and row.keeps_responses and not row.is_management
    assert "200 turns a day, 1,000,000 tokens a day, $ 2.50 a day, recorded" in page.text, told


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": ""}, "Give it a name, so that you recognise it later."),
        ({"name": "a\u202eb"}, "It holds signs that nobody sees."),
        ({"name": "x" * 81}, "at most 80 characters"),
        ({"expires": "7"}, "Choose when it expires."),
        ({"models": "openai:"}, "names no model"),
        ({"models": "nobody:gpt-5"}, "is not configured"),
        ({"more_models": "openai:gpt-5, gpt-5"}, "names no model"),
        ({"default_model": "x"}, "names no model"),
        ({"models": "openai:gpt-5", "default_model": "demo:thinker"}, "It may not ask this model."),
        ({"own_name": "mine", "own_model": "x"}, "“mine”: 'x' names no model"),
        ({"own_name": "mine", "own_model": ""}, "“mine”: '' names no model"),
        ({"own_name": ["a", "a"], "own_model": ["demo:thinker"] * 2}, "“a” stands there twice."),
        ({"own_name": "a\u200bb", "own_model": "demo:thinker"}, "all of which are seen"),
        (
            {"models": "openai:gpt-5", "own_name": "mine", "own_model": "demo:thinker"},
            "“mine” is a model that it may not ask.",
        ),
        ({"turns": "0"}, "greater than or equal to 1"),
        ({"tokens": "many"}, "Enter a whole number."),
        ({"tokens": "9" * 5000}, "Enter a whole number."),
        ({"turns": str(10**16)}, "less than or equal to"),
        ({"cost": "0"}, "greater than or equal to"),
        ({"cost": "NaN"}, "Enter a number."),
    ],
)
def test_what_cannot_be_is_told_beside_what_was_written(hers, wrong, said):
    page = hers.post(PAGE, FORM | wrong)
    assert page.status_code == 400 and said in unescape(page.text)
    assert "No key was made yet" in page.text and not ApiKey.objects.exists()
    if "name" not in wrong:
        assert 'value="Editor at work"' in page.text


def test_what_was_written_stands_there_again(hers):
    form = FORM | {
        "models": "openai:gpt-5",
        "default_model": "openai:gpt-5",
        "is_recorded": "on",
        "own_name": ["sonnet"],
        "own_model": ["openai:gpt-5"],
        "turns": "0",
        "expires": "30",
    }
    page = Page(hers.post(PAGE, form))
    ticked = page.one("input", name="models", value="openai:gpt-5")
    assert "checked" in dict(ticked.attributes) and "checked" in dict(
        page.one("input", name="is_recorded").attributes
    )
    assert page.chosen("default_model") == "openai:gpt-5" and page.chosen("expires") == "30"
    assert [attribute(it, "value") for it in page.all("input", name="own_name")][:2] == ["sonnet", ""]


def test_a_form_that_is_sent_twice_makes_one_key(hers):
    form = FORM | {"key": str(uuid4())}
    hers.post(PAGE, form)
    again = hers.post(PAGE, form)
    assert again.status_code == 409 and "was made already" in again.text
    assert ApiKey.objects.count() == 1


def test_each_key_is_told_with_what_it_may_ask_and_what_of_its_day_is_used(hers, alice, bob):
    now = timezone.now()
    made(bob, "Not hers")
    first = made(alice, "Codex", models=["openai:gpt-5"], turns=200, is_recorded=True)
    KeyDay.objects.create(
        key=first, day=day_of(now), turns=148, input=2_000_000, output=100_000, cost=3_120_000
    )
    ApiKey.objects.filter(pk=first.pk).update(
        last_used_at=now - timedelta(minutes=12),
        last_program="Codex CLI",
        expires_at=now + timedelta(days=41),
    )
    free = made(alice, "Zed")
    KeyDay.objects.create(key=free, day=day_of(now), turns=1, input=10)
    begin_request(free, model="demo:thinker", estimate=1, runner="here")
    made(alice, "Never", models=["openai:gpt-5", "demo:thinker"], default_model="demo:thinker")
    page = hers.get(PAGE)
    never, zed, codex = rows_of(page)
    assert codex.startswith("|Codex|recorded|gpt-5 only|") and "|12 minutes ago|Codex CLI|" in codex
    assert "|148 of 200 turns|2.1 M tokens, $ 3.12|" in codex and "|in 41 days|" in codex
    assert "|every model that you may use|" in zed and "|thinks now|" in zed
    assert "|1 turn|10 tokens, no limit of its own|never|Revoke|" in zed
    assert "|gpt-5 and Demo" in never and " if it names none|" in never and "|never used|made on " in never
    meter = Page(page).one("meter")
    assert (attribute(meter, "value"), attribute(meter, "aria-label")) == ("74", "Codex: turns used today")
    assert "Not hers" not in page.text


def test_the_persons_own_day_stands_below_with_all_that_runs(hers, alice):
    DailyLimit.objects.create(who="everybody", turns=300)
    begin_request(made(alice), model="demo:thinker", estimate=1, runner="here")
    assert "All your keys and the chat together: 1 of 300 turns today." in hers.get(PAGE).text
    assert "Used today: 1 of 300 turns." in hers.get("/settings/").text


def test_revoking_asks_first_and_the_key_is_told_among_those_revoked(hers, alice):
    row = made(alice, "Old laptop")
    address = f"{PAGE}{row.pk}/revoke/"
    for headers in ({}, {"HX-Request": "true"}):
        assert "Revoke “Old laptop”?" in hers.get(address, headers=headers).text
    assert ApiKey.objects.get().revoked_at is None
    gone = hers.post(address)
    assert (gone.status_code, gone.headers["Location"]) == (303, f"{PAGE}?revoked=1")
    page = hers.get(gone.headers["Location"])
    assert "From now on that key opens nothing" in page.text and "1 key that you revoked" in page.text
    assert hers.get(address).status_code == hers.post(address).status_code == 404


def test_the_page_of_a_new_key_hears_of_its_first_request_and_asks_no_more(hers, alice):
    row = made(alice)
    address = f"{PAGE}{row.pk}/used/"
    waits = hers.get(address)
    assert waits.status_code == 200 and "Waiting for its first request" in waits.text
    begin_request(row, model="demo:thinker", estimate=1, runner="here", program="Zed")
    came = hers.get(address)
    assert came.status_code == 286 and "by Zed. It works." in came.text


def test_whoever_may_have_no_keys_is_told_so_and_makes_none(hers, alice):
    made(alice)
    KeyRule.objects.create(who=Who.EVERYBODY, may_have_keys=False)
    page = hers.get(PAGE)
    assert "You may not have keys here, and those that you have open nothing." in page.text
    assert "Make the key" not in Page(page).buttons()
    refused = hers.post(PAGE, FORM)
    assert refused.status_code == 409 and "You may not have keys here." in refused.text
    assert ApiKey.objects.count() == 1


def test_a_key_that_manages_is_made_by_administrators_who_gave_their_password(client, alice, dana):
    form = FORM | {"is_management": "on"}
    client.force_login(alice)
    assert "Allow management" not in client.get(PAGE).text
    assert client.post(PAGE, form).status_code == 409 and not ApiKey.objects.exists()
    client.force_login(dana)
    assert "Allow management" in client.get(PAGE).text
    session = client.session
    session[GIVEN_AT] = 0
    session.save()
    asked = client.post(PAGE, form)
    assert asked.status_code == 403 and not ApiKey.objects.exists()
    assert attribute(Page(asked).one("input", name="is_management"), "value") == "on"
    assert client.post(PAGE, form | {"again-password": "wrong"}).status_code == 400
    page = client.post(PAGE, form | {"again-password": PASSWORD})
    found = keys.find_key(secret_in(page))
    assert found and keys.manages(found)


def test_of_many_models_some_are_ticked_and_the_others_typed(hers, models_here):
    models_here(listing("many", *(f"m{n}" for n in range(50))))
    page = hers.get(PAGE)
    assert len(Page(page).all("input", name="models")) == 20
    assert len(Page(page).one("datalist").children) == 52
    hers.post(
        PAGE, FORM | {"models": "many:m1", "more_models": "many:m40, many:m41", "default_model": "many:m40"}
    )
    assert ApiKey.objects.get().models == ["many:m1", "many:m40", "many:m41"]
