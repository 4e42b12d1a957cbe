"""What the composer shows, and what comes of what it sends."""

from __future__ import annotations

import asyncio
import re
from uuid import UUID, uuid4

import pytest
from django.test import AsyncClient
from django.urls import reverse

from chatapp.pages.preferences import save_preference
from chatapp.store.models import Conversation, Item, Message, Status
from chatapp.turns.engine import engine
from tests.support.listed import EFFORTS, listing
from tests.support.page import Page, attribute, words
from tests.support.turns import begun, end

pytestmark = pytest.mark.django_db

OPENAI = listing("openai", "gpt-5", "gpt-5-mini", efforts=EFFORTS)
PLAIN = listing("ollama", "tiny")


@pytest.fixture
def conversation(alice, client):
    """One of alice's, answered by this model; she is signed in."""
    client.force_login(alice)

    def make(model="openai:gpt-5", effort="", status=Status.COMPLETE):
        started = begun(alice, model=model, effort=effort)
        end(started.answer, status)
        return started

    return make


def page_of(client, started) -> Page:
    return Page(client.get(reverse("conversation", args=[started.conversation])))


def test_of_many_models_twenty_are_offered_and_all_can_be_found(client, alice, models_here):
    models_here(listing("openrouter", *(f"m{number}" for number in range(300))))
    client.force_login(alice)
    page = Page(client.get("/"))
    assert len(page.options("model")) == 20
    assert page.chosen("model") == "openrouter:m0"
    assert "All models" in page.buttons()


def test_what_was_used_lately_and_what_is_the_default_are_among_them(
    client, alice, conversation, models_here
):
    models_here(listing("openrouter", *(f"m{number}" for number in range(300))))
    conversation("openrouter:m250")
    save_preference(alice, default_model="openrouter:m280")
    page = Page(client.get("/"))
    assert page.chosen("model") == "openrouter:m280"
    assert {"openrouter:m250", "openrouter:m280"} <= set(page.options("model"))


def test_a_conversation_remembers_its_model_and_effort(client, conversation, models_here):
    models_here(PLAIN, OPENAI)
    page = page_of(client, conversation("openai:gpt-5-mini", "off"))
    assert (page.chosen("model"), page.chosen("effort")) == ("openai:gpt-5-mini", "off")
    assert page.options("effort") == ["off", "", "low", "high"]


def test_a_model_that_nobody_lists_stays_chosen(client, conversation, models_here):
    models_here(OPENAI)
    page = page_of(client, conversation("openai:a-secret-one"))
    assert page.chosen("model") == "openai:a-secret-one"
    assert page.options("model")[:3] == ["openai:gpt-5", "openai:gpt-5-mini", "openai:a-secret-one"]


def test_a_model_that_is_gone_is_named_and_another_one_is_chosen(client, conversation, models_here):
    models_here(OPENAI)
    started = conversation("closed:model")
    page = page_of(client, started)
    assert page.chosen("model") == "openai:gpt-5"
    assert "cannot be asked here any more" in client.get(f"/c/{started.conversation}/").text


def test_effort_is_hidden_for_a_model_that_has_none(client, alice, models_here):
    models_here(PLAIN)
    client.force_login(alice)
    page = Page(client.get("/"))
    assert "hidden" in dict(page.one("span", data_effort="").attributes)
    assert page.options("effort") == []


def test_every_page_gives_the_form_a_key_of_its_own(client, alice):
    client.force_login(alice)
    keys = {Page(client.get("/")).value("key") for _ in range(3)}
    assert len({UUID(key) for key in keys}) == 3


@pytest.mark.parametrize("status", [Status.QUEUED, Status.RUNNING, Status.WAITING])
def test_while_it_answers_stop_stands_in_place_of_send(client, conversation, models_here, status):
    models_here(OPENAI)
    started = conversation(status=status)
    page = page_of(client, started)
    (stop,) = page.all("button", formaction=reverse("stop", args=[started.answer]))
    assert words(stop) == "Stop"
    assert "Send" not in page.buttons()


def test_the_next_question_follows_the_answer_on_screen(client, conversation, models_here):
    models_here(OPENAI)
    started = conversation()
    assert page_of(client, started).value("parent") == str(started.answer)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("text", "  \n ", "Write a question first."),
        ("model", "nobody:x", "is not configured"),
        ("model", "x\x00", "names no model|Null characters"),
        ("key", "no key", "too old"),
        ("parent", "no id", "too old"),
        ("instructions", "ü" * 16385, "at most 32 kB"),
    ],
)
@pytest.mark.parametrize("by_script", [True, False])
def test_what_cannot_be_asked_is_refused_in_words_and_nothing_is_written(
    client, alice, field, value, sentence, by_script
):
    client.force_login(alice)
    sent = {"text": "My question", "model": "demo:thinker", "key": str(uuid4())} | {field: value}
    response = client.post("/ask/", sent, headers={"HX-Request": "true"} if by_script else {})
    assert response.status_code == 400
    assert re.search(sentence, response.text)
    assert not Conversation.objects.exists()
    assert UUID(Page(response).value("key")) != sent["key"]
    assert ("<html" in response.text) is not by_script
    if not by_script:
        assert words(Page(response).one("textarea", id="message")) == sent["text"].strip()


def test_a_refused_first_question_keeps_its_model_effort_and_instructions(client, alice, models_here):
    models_here(PLAIN, OPENAI)
    client.force_login(alice)
    sent = {"text": "", "model": "openai:gpt-5", "effort": "high", "instructions": "Be brief."}
    page = Page(client.post("/ask/", sent))
    assert (page.chosen("model"), page.chosen("effort")) == ("openai:gpt-5", "high")
    assert words(page.one("textarea", name="instructions")) == "Be brief."


def test_a_refusal_is_text(client, alice):
    client.force_login(alice)
    response = client.post(
        "/ask/", {"text": "x", "model": "<script>alert(1)</script>:x"}, headers={"HX-Request": "true"}
    )
    assert "<script>" not in response.text
    assert attribute(Page(response).one("div", id="asking"), "hx-swap-oob") == "true"


async def _ask(person, sent):
    client = AsyncClient()
    await client.aforce_login(person)
    try:
        response = await client.post("/ask/", {"text": "Hello", "model": "demo:thinker"} | sent)
        assert response.status_code == 302, response.text
        answer = await Message.objects.order_by("created_at").alast()
        await engine().stop(answer.pk)
    finally:
        await engine().close()
        engine.cache_clear()


@pytest.fixture
def ask(transactional_db, alice):
    """Asks a first question, and gives the answer as it was stopped."""

    def asked(**sent) -> Message:
        asyncio.run(_ask(alice, sent))
        return Message.objects.filter(role="assistant").latest("created_at")

    return asked


def test_an_effort_of_another_model_becomes_the_models_own(ask):
    assert ask(effort="xhigh").effort == ""


def test_an_effort_that_it_has_is_kept(ask):
    assert ask(effort="off").effort == "off"


def test_without_a_model_the_usual_one_answers(ask):
    assert ask(model="").model == "demo:thinker"


def test_an_example_counts_before_what_stands_in_the_box(ask):
    ask(text="A draft", example="An example")
    assert Item.objects.get(kind="user_message").text == "An example"


def test_lines_break_as_they_did_in_the_box(ask):
    ask(text="a\r\nb\x00")
    assert Item.objects.get(kind="user_message").text == "a\nb\ufffd"


def test_a_new_conversation_takes_the_instructions_of_the_settings_or_its_own(ask, alice):
    save_preference(alice, instructions="Be brief.")
    assert ask().conversation.instructions == "Be brief."
    assert ask(instructions="").conversation.instructions == ""
