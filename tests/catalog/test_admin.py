"""Administrators add providers and say of models what they are called, cost, and whether they are offered; everybody meets it
at the front door."""

from __future__ import annotations

import asyncio
import re
from decimal import Decimal

import pytest
from django.apps import apps

from chatapp.catalog import store as model_providers
from chatapp.catalog.models import Installation, KnownModel, ModelProvider
from chatapp.catalog.part import endpoint_of
from chatapp.catalog.store import load_price
from chatapp.providers.configured import Choices
from chatapp.store import in_thread
from chatapp.store.models import Conversation, Message, Status
from chatapp.turns.engine import engine
from tests.support.front import HTMX, house, visitor
from tests.support.page import Page, attribute, words
from tests.support.stage import play, until
from tests.tools.test_checked_url import METADATA, OTHERS, RANGES, SPELLINGS, WITH_SIGNS_THAT_ARE_NOT_SEEN

pytestmark = pytest.mark.django_db(transaction=True)

PROVIDERS = "/admin/chatapp/modelprovider/"
MODELS = "/admin/chatapp/knownmodel/"
ADD, LOOK = f"{PROVIDERS}add/", f"{PROVIDERS}look/"
CANARY = "sk-org-canary-5d0f3b"
PLAIN = "acme:scenario:plain"


@pytest.fixture(autouse=True)
def a_key(monkeypatch):
    monkeypatch.setenv("ACME_API_KEY", CANARY)


def new(up, **more):
    """A form as it is filled in: the fake provider is on this machine."""
    sent = {
        "name": "acme",
        "label": "Acme",
        "dialect": "chat",
        "base_url": up.url,
        "key_variable": "ACME_API_KEY",
    }
    sent |= {"private_network": "on", "is_on": "on"} | more
    return {name: value for name, value in sent.items() if value is not None}


def model_at(name):
    return f"{MODELS}model/?name={name}"


def said(**more):
    """The form of a model, sent with these values."""
    return {"label": "", "effort": "", "input_price": "", "cached_price": "", "output_price": ""} | more


async def staff(person, up, **more):
    """An administrator who has just added the provider."""
    she = await visitor(person)
    response = await she.post(ADD, new(up, **more))
    assert response.status_code == 302, response.text
    return she


async def ask(she, model, **more):
    """A first question; the answer when it has ended, or the words that refused it."""
    sent = await she.post("/ask/", {"text": "Why?", "model": model, **more}, headers=HTMX)
    if "hx-redirect" not in sent.headers and sent.status_code >= 400:
        return sent
    answer = await in_thread(Message.objects.filter(role="assistant").latest)("created_at")
    await engine().runner.wait(answer.pk)
    return await in_thread(Message.objects.get)(pk=answer.pk)


def test_a_provider_is_added_its_models_are_picked_and_it_answers(up, alice, dana):
    async def story():
        async with house():
            she = await staff(dana, up)
            page = (await she.get(PROVIDERS)).text
            assert "Acme" in page and "It answers." in page
            he = await visitor(alice)
            home = Page(await he.get("/"))
            assert PLAIN in home.options("model")
            assert "acme:scenario:load" in (await he.get("/models/?q=acme")).text
            answer = await ask(he, PLAIN)
            assert (answer.status, answer.model) == (Status.COMPLETE, PLAIN)
            (sent,) = up.requests("plain")
            assert sent["org"] == "org"

    play(story())


@pytest.mark.parametrize(("dialect", "root"), [("responses", False), ("messages", True)])
def test_each_of_the_protocols_can_be_chosen(up, dana, dialect, root):
    async def story():
        async with house():
            she = await staff(dana, up, dialect=dialect, base_url=up.root if root else up.url)
            assert (await ask(she, "acme:scenario:one-reasoning")).status == Status.COMPLETE

    play(story())


def test_looking_now_says_what_happened(up, dana):
    async def story():
        async with house():
            she = await staff(dana, up)
            said = await she.post(LOOK, {"name": "acme"})
            page = (await she.get(said.headers["location"])).text
            assert re.search(r"Acme answered in [0-9.]+ s and lists \d+ models\.", page)
            row = await in_thread(ModelProvider.objects.get)()
            moved = new(up, name=None, base_url="http://127.0.0.1:1/v1", key_for="http://127.0.0.1:1")
            await she.post(f"{PROVIDERS}{row.pk}/change/", moved)
            await she.post(LOOK, {"name": "acme"})
            assert "Acme could not be reached." in (await she.get(PROVIDERS)).text
            assert (await she.post(LOOK, {"name": "nobody"})).status_code == 404
            assert (await she.get(LOOK)).status_code == 405

    play(story())


def test_a_wrong_key_is_told_in_words_and_never_repeated(up, dana, monkeypatch):
    monkeypatch.setenv("ACME_API_KEY", f"{CANARY}-bad")

    async def story():
        async with house():
            she = await staff(dana, up)
            page = (await she.get(PROVIDERS)).text
            assert "key" in page and CANARY not in page
            answer = await ask(she, PLAIN)
            assert answer.status == Status.FAILED
            assert CANARY not in str(answer.metadata)

    play(story())


def test_a_key_that_is_not_set_is_named(up, dana, monkeypatch):
    monkeypatch.delenv("ACME_API_KEY")

    async def story():
        async with house():
            she = await staff(dana, up)
            assert "Acme has no key: ACME_API_KEY is not set." in (await she.get(PROVIDERS)).text
            answer = await ask(she, PLAIN)
            assert answer.metadata["ended"]["sentence"] == "Acme has no key: ACME_API_KEY is not set."

    play(story())


def test_switched_off_it_is_refused_in_words_and_nothing_is_lost(up, dana):
    async def story():
        async with house():
            she = await staff(dana, up)
            await she.post(model_at(PLAIN), said(label="Plain one"))
            answer = await ask(she, PLAIN)
            row = await in_thread(ModelProvider.objects.get)()
            await she.post(f"{PROVIDERS}{row.pk}/change/", new(up, name=None, is_on=None))
            assert "Switched off." in (await she.get(PROVIDERS)).text
            page = await she.get(f"/c/{answer.conversation_id}/")
            assert "Plain one" in page.text and "cannot be asked here any more" in page.text
            assert PLAIN not in Page(page).options("model")
            refused = await ask(she, PLAIN)
            assert "Acme is switched off here. Choose another model." in refused.text
            again = await she.post(f"/m/{answer.pk}/again/", {"model": PLAIN})
            assert "Acme is switched off here." in again.text
            await she.post(f"{PROVIDERS}{row.pk}/change/", new(up, name=None))
            assert (await ask(she, PLAIN)).status == Status.COMPLETE
            assert (await she.post(f"{PROVIDERS}{row.pk}/delete/", {"post": "yes"})).status_code == 302
            assert "not configured" in (await ask(she, PLAIN)).text
            assert "Plain one" in (await she.get(f"/c/{answer.conversation_id}/")).text

    play(story())


def test_an_answer_that_is_being_written_goes_on_to_its_end(up, dana):
    """Also where it has to ask the model again after a tool."""
    up.add(
        "slow-tools",
        {
            "after_last": "stay",
            "turns": [
                {
                    "items": [{"tool": {"name": "clock", "args": {"zone": "Europe/Rome"}}}],
                    "speed": {"ttft": 0.5},
                },
                {"items": [{"text": "It is noon."}], "speed": {"ttft": 0.5}},
            ],
        },
    )

    async def asked() -> bool:
        return bool(up.requests("slow-tools"))

    async def story():
        async with house():
            she = await staff(dana, up)
            row = await in_thread(ModelProvider.objects.get)()
            sent = {"text": "Time?", "model": "acme:scenario:slow-tools"}
            await she.post("/ask/", sent, headers=HTMX)
            answer = await in_thread(Message.objects.filter(role="assistant").latest)("created_at")
            await until(asked)
            await she.post(f"{PROVIDERS}{row.pk}/delete/", {"post": "yes"})
            await she.post(f"{MODELS}", {"do": "hide", "model": sent["model"]})
            await engine().runner.wait(answer.pk)
            answer = await in_thread(Message.objects.get)(pk=answer.pk)
            assert answer.status == Status.COMPLETE, answer.metadata
            assert len(up.requests("slow-tools")) > 1

    play(story())


def test_a_hidden_model_is_offered_nowhere_and_refused_in_words(up, alice, dana):
    async def story():
        async with house():
            she, he = await staff(dana, up), await visitor(alice)
            answer = await ask(he, PLAIN)
            await he.post(
                "/settings/", {"section": "conversations", "default_model": PLAIN, "instructions": ""}
            )
            assert Page(await he.get("/")).chosen("model") == PLAIN
            await she.post(MODELS, {"do": "hide", "model": PLAIN})
            home = Page(await he.get("/"))
            assert (
                PLAIN not in home.options("model") and home.chosen("model") == "acme:scenario:one-reasoning"
            )
            assert f'data-model="{PLAIN}"' not in (await he.get("/models/")).text
            assert "is not offered here any more" in (await he.get(f"/models/?q={PLAIN}")).text
            assert PLAIN not in Page(await he.get("/settings/")).options("default_model")[2:]
            for refused in (
                await ask(he, PLAIN),
                await he.post(f"/m/{answer.pk}/again/", {"model": PLAIN}),
                await he.post("/settings/", {"section": "conversations", "default_model": PLAIN}),
            ):
                assert "scenario:plain is not offered here any more. Choose another model." in refused.text
            page = await he.get(f"/c/{answer.conversation_id}/")
            assert "scenario:plain" in page.text and "cannot be asked here any more" in page.text
            await she.post(MODELS, {"do": "offer", "model": PLAIN})
            assert PLAIN in Page(await he.get("/")).options("model")

    play(story())


def test_a_stopped_answer_of_a_hidden_model_is_not_continued(up, dana):
    async def story():
        async with house():
            she = await staff(dana, up)
            answer = await ask(she, PLAIN)
            stopped = in_thread(Message.objects.filter(pk=answer.pk).update)
            await stopped(status=Status.STOPPED)
            await she.post(MODELS, {"do": "hide", "model": PLAIN})
            assert "is not offered here any more" in (await she.post(f"/m/{answer.pk}/continue/")).text
            assert (await in_thread(Message.objects.get)(pk=answer.pk)).status == Status.STOPPED

    play(story())


def test_a_new_name_stands_wherever_a_model_is_named(up, dana):
    async def story():
        async with house():
            she = await staff(dana, up)
            answer = await ask(she, PLAIN)
            await she.post(model_at(PLAIN), said(label="Quick <b> & good"))
            for path in (
                f"/c/{answer.conversation_id}/",
                f"/c/{answer.conversation_id}/map/",
                "/models/",
                "/",
            ):
                text = (await she.get(path)).text
                assert "Quick &lt;b&gt; &amp; good" in text and "Quick <b>" not in text, path
            assert engine().catalog.label(PLAIN) == "Quick <b> & good"

    play(story())


def test_a_name_that_looks_like_anothers_has_its_full_name_beside_it(up, dana):
    async def story():
        async with house():
            she = await staff(dana, up)
            await she.post(model_at(PLAIN), said(label="Scenari0:L0ad"))
            await she.post(model_at("acme:scenario:one-reasoning"), said(label="Thinker of Acme"))
            page = Page(await she.get("/"))
            options = {attribute(it, "value"): words(it) for it in page.all("option")}
            assert options[PLAIN].replace(" ", "") == f"Scenari0:L0ad{PLAIN}"
            assert options["acme:scenario:one-reasoning"] == "Thinker of Acme"
            await she.post(model_at(PLAIN), said(label="scenаrio"))  # a Cyrillic letter
            page = Page(await she.get("/"))
            assert any("scenаrio" in each and PLAIN in each for each in map(words, page.all("option")))

    play(story())


def test_the_default_of_staff_counts_until_a_person_has_their_own(up, alice, dana):
    load = "acme:scenario:load"

    async def story():
        async with house():
            she, he = await staff(dana, up), await visitor(alice)
            assert Page(await he.get("/")).chosen("model") == PLAIN
            await she.post(model_at(load), said(is_default="on"))
            assert Page(await he.get("/")).chosen("model") == load
            page = (await she.post(model_at(load), said(is_default="on", is_hidden="on"))).text
            assert "It is asked when nobody chose, so it cannot be hidden." in page
            await she.post(MODELS, {"do": "hide", "model": load})
            assert Page(await he.get("/")).chosen("model") == load
            await he.post("/settings/", {"section": "conversations", "default_model": "demo:thinker"})
            assert Page(await he.get("/")).chosen("model") == "demo:thinker"
            assert Page(await she.get("/")).chosen("model") == load
            await she.post(model_at(load), said())
            assert Page(await she.get("/")).chosen("model") == PLAIN

    play(story())


def test_what_default_model_says_comes_before_what_staff_say(up, alice, dana, settings):
    settings.DEFAULT_MODEL = "demo:thinker"

    async def story():
        async with house():
            she, he = await staff(dana, up), await visitor(alice)
            await she.post(model_at(PLAIN), said(is_default="on"))
            assert Page(await he.get("/")).chosen("model") == "demo:thinker"
            page = (await she.post(model_at("demo:thinker"), said(is_hidden="on"))).text
            assert "DEFAULT_MODEL names this model" in page
            assert "as DEFAULT_MODEL says" in (await she.get(MODELS)).text

    play(story())


def test_with_every_model_hidden_the_page_stands_and_says_so(up, dana):
    async def story():
        async with house():
            she = await visitor(dana)
            for model in ("demo:thinker", "demo:talker"):
                await she.post(MODELS, {"do": "hide", "model": model})
            home = await she.get("/")
            assert home.status_code == 200 and "What can Thoughtline do?" not in home.text
            assert "is not offered here any more" in (await ask(she, "")).text

    play(story())


def test_a_proposed_effort_is_chosen_until_a_person_chooses(up, dana):
    model = "acme:scenario:one-reasoning"

    async def story():
        async with house():
            she = await staff(dana, up, dialect="responses")
            assert (await she.post(model_at(model), said(effort="high"))).status_code == 302
            assert (await she.post(model_at(model), said(effort="nonsense"))).status_code == 200
            page = Page(await she.get(f"/?model={model}"))
            assert page.chosen("effort") == "high"
            assert attribute(page.one("option", value=model), "data-usual") == "high"
            answer = await ask(she, model, effort="low")
            assert Page(await she.get(f"/c/{answer.conversation_id}/")).chosen("effort") == "low"
            plainly = await ask(she, model, effort="")
            assert Page(await she.get(f"/c/{plainly.conversation_id}/")).chosen("effort") == ""

    play(story())


def test_prices_are_kept_for_the_costs(up, dana):
    async def story():
        async with house():
            she = await staff(dana, up)
            for wrong in ({"input_price": "-1"}, {"output_price": "much"}, {"cached_price": "1"}):
                assert "errorlist" in (await she.post(model_at(PLAIN), said(**wrong))).text
            prices = {"input_price": "1.25", "cached_price": "0.125", "output_price": "10"}
            assert (await she.post(model_at(PLAIN), said(**prices))).status_code == 302
            price = await in_thread(load_price)(PLAIN)
            assert (price.input, price.cached, price.output) == (
                Decimal("1.25"),
                Decimal("0.125"),
                Decimal(10),
            )
            assert "1.25 (0.125 cached) in, 10 out" in (await she.get(f"{MODELS}?provider=acme")).text

    play(story())


def test_many_models_are_found_and_paged_through(up, dana):
    async def story():
        async with house():
            she = await staff(dana, up)
            for number in range(250):
                await in_thread(KnownModel.objects.create)(
                    name=f"acme:old-{number:03}", label=f"Old {number}"
                )
            first, last = await she.get(f"{MODELS}?q=old"), await she.get(f"{MODELS}?q=old&page=3")
            assert first.text.count("<tr data-model") == 100 and "Page 1 of 3" in first.text
            assert last.text.count("<tr data-model") == 50 and "not listed" in last.text
            assert (await she.get(f"{MODELS}?q=old+249")).text.count("<tr data-model") == 1
            sent = await she.post(
                f"{MODELS}?q=old&page=3", {"do": "hide", "model": ["acme:old-249", "no:such"]}
            )
            assert sent.headers["location"].endswith("?q=old&page=3")
            hidden = in_thread(lambda: list(KnownModel.objects.filter(is_hidden=True)))
            assert [row.name for row in await hidden()] == ["acme:old-249"]

    play(story())


def test_another_process_takes_it_in_within_seconds(up, dana):
    """The rows change behind this process's back, as another one writes them."""

    async def story():
        async with house() as mine:
            await mine.start()
            row = ModelProvider(name="acme", base_url=up.url, private_network=True)
            await in_thread(model_providers.save_provider)(row)
            began = asyncio.get_running_loop().time()

            async def here():
                return "acme" in mine.catalog.names

            await until(here)
            assert asyncio.get_running_loop().time() - began < 7
            provider = mine.catalog.provider("acme")
            await in_thread(model_providers.save_said)(PLAIN, is_default=False, label="Other")

            async def renamed():
                return mine.catalog.label(PLAIN) == "Other"

            await until(renamed)
            assert mine.catalog.provider("acme") is provider
            await in_thread(model_providers.delete_provider)(row)

            async def gone():
                return "acme" not in mine.catalog.names

            await until(gone)

    play(story())


def test_the_key_of_a_provider_goes_to_no_server_of_tools_nor_the_other_way(client, dana):
    client.force_login(dana)
    ModelProvider.objects.create(
        name="acme", base_url="https://api.example.org/v1", key_variable="ACME_API_KEY"
    )
    sent = {"name": "docs", "url": "https://docs.example.org/mcp", "is_on": "on"}
    page = client.post("/admin/chatapp/mcpserver/add/", sent | {"key_variable": "ACME_API_KEY"})
    assert "This is the key of a provider of models" in page.text
    client.post("/admin/chatapp/mcpserver/add/", sent | {"key_variable": "DOCS_API_KEY"})
    sent = {"name": "other", "dialect": "chat", "base_url": "https://api.example.org/v1", "is_on": "on"}
    page = client.post(ADD, sent | {"key_variable": "DOCS_API_KEY"})
    assert "This is the key of a server of tools" in page.text
    assert ModelProvider.objects.count() == 1


def test_the_key_of_a_provider_goes_to_no_other_host(client, dana):
    client.force_login(dana)
    sent = {"dialect": "chat", "is_on": "on", "key_variable": "ACME_API_KEY"}
    here = {"base_url": "https://api.example.org/v1"}
    client.post(ADD, sent | here | {"name": "acme"})
    page = client.post(ADD, sent | {"name": "other", "base_url": "https://api.example.net/v1"})
    assert "This is the key of another provider" in page.text
    client.post(ADD, sent | {"name": "same", "base_url": "https://API.example.org", "dialect": "messages"})
    assert set(ModelProvider.objects.values_list("name", flat=True)) == {"acme", "same"}
    client.post(f"/admin/chatapp/modelprovider/{_row('acme').pk}/change/", sent | here | {"label": "A"})
    assert _row("acme").label == "A", "what shares its host can still be changed"


def _row(name):
    return ModelProvider.objects.get(name=name)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("name", "Acme", "Enter a valid value"),
        ("name", "ac_me", "Enter a valid value"),
        ("name", "openai", "This name is kept for a provider of the environment."),
        ("name", "demo", "This name is kept for a provider of the environment."),
        ("label", "Ac\u202eme", "It holds signs that nobody sees."),
        ("label", "Dem0 (not a real modeI)", "Another provider is called so, or looks as if it were."),
        ("dialect", "telepathy", "Select a valid choice"),
        ("base_url", "", "This field is required"),
        ("base_url", "file:///etc/passwd", "It must begin with https://"),
        ("base_url", "https://dana:secret@api.example.org/v1", "It must begin with https://"),
        ("base_url", "https://api.example.org/v1?key=canary", "It must begin with https://"),
        ("base_url", "http://api.example.org/v1", "A key goes only over https"),
        ("key_variable", "SECRET_KEY", "ends with _API_KEY"),
        ("key_variable", "sk-org-pasted-by-mistake", "ends with _API_KEY"),
        ("key_variable", "OPENAI_API_KEY", "This is the key of a provider of the environment"),
    ],
)
def test_what_cannot_be_is_refused_in_words(client, dana, field, value, told):
    client.force_login(dana)
    good = {"name": "acme", "label": "", "dialect": "chat", "base_url": "https://api.example.org/v1"}
    good |= {"key_variable": "ACME_API_KEY", "is_on": "on"}
    page = client.post(ADD, good | {field: value})
    assert page.status_code == 200 and told in page.text
    assert not ModelProvider.objects.exists()


def inside():
    hosts = [*SPELLINGS.split(), *WITH_SIGNS_THAT_ARE_NOT_SEEN]
    numbers = [f"[{each}]" if ":" in each else each for each in f"{RANGES} {METADATA}".split()]
    return [f"https://{host}/v1" for host in hosts + numbers] + OTHERS.split()


def test_no_spelling_of_an_address_inside_is_taken_for_the_public_web(client, dana):
    client.force_login(dana)
    assert len(inside()) > 180
    for url in inside():
        sent = {"name": "acme", "dialect": "chat", "base_url": url, "is_on": "on"}
        page = client.post(ADD, sent)
        assert page.status_code == 200 and "errorlist" in page.text, ascii(url)
    assert not ModelProvider.objects.exists()


def test_a_name_and_what_is_not_on_the_page_cannot_be_written(client, dana):
    client.force_login(dana)
    row = ModelProvider.objects.create(name="acme", base_url="https://api.example.org/v1")
    sent = {
        "name": "other",
        "label": "A",
        "dialect": "chat",
        "base_url": row.base_url,
        "is_on": "on",
        "id": 9,
    }
    assert client.post(f"{PROVIDERS}{row.pk}/change/", sent).status_code == 302
    assert [(each.pk, each.name, each.label) for each in ModelProvider.objects.all()] == [
        (row.pk, "acme", "A")
    ]


PAGES = [
    PROVIDERS,
    ADD,
    f"{PROVIDERS}1/change/",
    f"{PROVIDERS}1/delete/",
    f"{PROVIDERS}1/history/",
    LOOK,
    MODELS,
]
PAGES += [model_at("demo:thinker")]


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("method", ["get", "post"])
def test_for_everybody_but_staff_nothing_is_there(client, alice, bob, charlie, path, method):
    ModelProvider.objects.create(pk=1, name="acme", base_url="https://api.example.org/v1")
    stranger = getattr(client, method)(path)
    assert stranger.status_code in (302, 403)
    if stranger.status_code == 302:
        assert stranger.headers["location"].startswith("/accounts/login/")
    for person in (alice, bob, charlie):
        client.force_login(person)
        assert (
            getattr(client, method)(path, {"do": "hide", "model": "demo:thinker", "post": "yes"}).status_code
            == 404
        )
    assert ModelProvider.objects.count() == 1 and not KnownModel.objects.exists()


@pytest.mark.parametrize("path", [PROVIDERS, ADD, f"{PROVIDERS}1/change/", MODELS, model_at("demo:thinker")])
def test_pages_need_no_inline_script_and_no_inline_style(client, dana, path):
    ModelProvider.objects.create(pk=1, name="acme", base_url="https://api.example.org/v1")
    client.force_login(dana)
    page = client.get(path)
    assert page.status_code == 200
    assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)", page.text)


def test_what_hides_or_does_not_exist_has_no_page(client, dana):
    client.force_login(dana)
    for name in ("", "nobody:x", "x" * 5000, "demo:other", "a:\u202e"):
        assert client.get(f"{MODELS}model/", {"name": name}).status_code == 404
    for path in (f"{MODELS}add/", f"{MODELS}1/change/", f"{MODELS}1/delete/"):
        assert client.get(path).status_code == 404


def test_texts_of_providers_are_text_and_hide_nothing(up, dana):
    evil = "<script>alert(1)</script>\u202eevil"

    async def story():
        async with house():
            she = await staff(dana, up)
            await in_thread(KnownModel.objects.create)(name=f"acme:{evil}", label=evil)
            page = (await she.get(f"{MODELS}?q=evil")).text
            assert "<script>alert" not in page and "\u202e" not in re.sub("<[^>]*>", "", page)
            assert "⟨U+202E⟩evil" in page

    play(story())


def test_no_key_is_in_any_page_row_or_line(up, dana, caplog):
    async def story():
        async with house():
            she = await staff(dana, up)
            await she.post(LOOK, {"name": "acme"})
            answers = [await ask(she, PLAIN), await ask(she, "acme:scenario:http-401")]
            row = await in_thread(ModelProvider.objects.get)()
            seen = [
                PROVIDERS,
                f"{PROVIDERS}{row.pk}/change/",
                f"{PROVIDERS}{row.pk}/history/",
                MODELS,
                "/",
                "/models/",
            ]
            seen += [model_at(PLAIN), "/admin/", *(f"/c/{answer.conversation_id}/" for answer in answers)]
            for path in seen:
                page = await she.get(path)
                assert page.status_code == 200 and CANARY not in page.text, path
            assert CANARY not in await in_thread(_everything)()
            assert CANARY not in repr(engine().catalog.provider("acme").endpoint)

    play(story())
    assert CANARY not in caplog.text


def _everything() -> str:
    return "\n".join(repr(list(model.objects.values_list())) for model in apps.get_models())


def test_a_provider_of_the_environment_stays_what_it_is(db):
    """Its name may come after the row: then the environment counts."""
    own = engine().catalog
    row = ModelProvider(name="demo", base_url="https://api.example.org/v1")
    before = own.provider("demo")
    own.take(Choices(endpoints=(endpoint_of(row),)))
    assert own.provider("demo") is before
    own.take(Choices())


def test_nothing_said_is_nothing_stored(db):
    assert model_providers.load_revision() == 0
    assert not Installation.objects.exists() and not Conversation.objects.exists()


def edited(row, **more):
    return (
        {name: getattr(row, name) for name in ("label", "dialect", "base_url", "key_variable")}
        | {"is_on": "on"}
        | more
    )


@pytest.fixture
def acme():
    return ModelProvider.objects.create(
        name="acme", base_url="https://api.example.org/v1", key_variable="ACME_API_KEY"
    )


def kept(row):
    row.refresh_from_db()
    return row.base_url, row.key_variable


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com/v1",
        "https://api.example.org:8443/v1",
        "https://api.example.org.evil.example/v1",
    ],
)
def test_a_changed_host_asks_for_its_keys_variable_anew(client, dana, acme, url):
    client.force_login(dana)
    place = f"{PROVIDERS}{acme.pk}/change/"
    # Whatever else is sent with it, and however often.
    for more in ({}, {}, {"key_for": "https://api.example.org:443"}, {"key_for": url}, {"label": "Other"}):
        refused = client.post(place, edited(acme, base_url=url, **more))
        assert refused.status_code == 200
        assert "Name the variable of the key that may go there." in refused.text
        assert kept(acme) == ("https://api.example.org/v1", "ACME_API_KEY")
    page = Page(refused)
    assert attribute(page.one("input", name="key_variable"), "value") == ""
    asked_for = attribute(page.one("input", name="key_for"), "value")
    assert client.post(place, edited(acme, base_url=url, key_for=asked_for)).status_code == 302
    assert kept(acme) == (url, "ACME_API_KEY")


def test_a_host_that_needs_no_key_or_another_one_is_changed_at_once(client, dana, acme, monkeypatch):
    monkeypatch.setenv("OTHER_API_KEY", "sk-other")
    client.force_login(dana)
    place = f"{PROVIDERS}{acme.pk}/change/"
    for url, name in (("https://api.example.com/v1", "OTHER_API_KEY"), ("https://api.example.net/v1", "")):
        assert client.post(place, edited(acme, base_url=url, key_variable=name)).status_code == 302
        assert kept(acme) == (url, name)


@pytest.mark.parametrize("url", ["https://API.example.org:443/v1", "https://api.example.org/v2"])
def test_another_spelling_or_path_of_the_same_server_keeps_its_key(client, dana, acme, url):
    client.force_login(dana)
    place = f"{PROVIDERS}{acme.pk}/change/"
    assert client.post(place, edited(acme, base_url=url)).status_code == 302
    assert kept(acme) == (url, "ACME_API_KEY")
