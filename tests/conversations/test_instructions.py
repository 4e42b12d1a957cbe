"""The instructions of a conversation: read and changed by its owner, never under a running answer."""

from __future__ import annotations

from uuid import uuid4

import pytest

from chatapp import store
from chatapp.store import AskedFor
from chatapp.store.models import Conversation, Status
from tests.support.page import Page, words
from tests.support.turns import end

SCRIPT = {"HX-Request": "true"}
pytestmark = pytest.mark.django_db


@pytest.fixture
def started(alice, client):
    client.force_login(alice)
    asked = AskedFor(model="demo:thinker")
    started = store.open_conversation(alice, "Why?", tools=[], asked=asked, instructions="Be brief.")
    end(started.answer)
    return started


def address(started) -> str:
    return f"/c/{started.conversation}/instructions/"


def kept(started) -> str:
    return Conversation.objects.get(pk=started.conversation).instructions


def test_they_are_shown_in_a_page_and_for_a_script_in_a_dialog(client, started):
    page, dialog = client.get(address(started)), client.get(address(started), headers=SCRIPT)
    for response in (page, dialog):
        assert words(Page(response).one("textarea", name="instructions")) == "Be brief."
        assert "begins anew" in response.text
    assert "<html" in page.text and dialog.text.startswith("<dialog")


@pytest.mark.both
def test_they_are_changed(client, started):
    response = client.post(address(started), {"instructions": "Metric.\r\nAlways."})
    assert response["Location"] == f"/c/{started.conversation}/"
    assert kept(started) == "Metric.\nAlways."
    assert client.post(address(started), {"instructions": ""}, headers=SCRIPT).text == "Saved."
    assert kept(started) == ""


def test_a_long_one_is_refused_with_its_text(client, started):
    response = client.post(address(started), {"instructions": "ü" * 16385})
    assert response.status_code == 400
    assert "at most 32 kB" in response.text and "ü" * 16385 in response.text
    assert kept(started) == "Be brief."


def test_while_an_answer_is_written_they_stay(client, started):
    end(started.answer, Status.RUNNING)
    response = client.post(address(started), {"instructions": "Metric."})
    assert response.status_code == 409
    assert "Change the instructions when it has ended." in response.text
    assert kept(started) == "Be brief."


@pytest.mark.parametrize("name", ["bob", "charlie", "dana"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_to_others_there_is_no_such_thing(client, started, request, name, method):
    client.force_login(request.getfixturevalue(name))
    foreign = getattr(client, method)(address(started), {"instructions": "Mine."})
    missing = getattr(client, method)(f"/c/{uuid4()}/instructions/", {"instructions": "Mine."})
    assert (foreign.status_code, foreign.content) == (missing.status_code, missing.content)
    assert foreign.status_code == 404
    assert kept(started) == "Be brief."
