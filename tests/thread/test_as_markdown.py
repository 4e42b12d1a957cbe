"""A message is copied as the Markdown that was written; its thoughts come along only where they are asked for."""

from __future__ import annotations

from uuid import uuid4

import pytest

from chatapp import store
from chatapp.core.items import Item, Kind
from chatapp.store.models import Message
from chatapp.thread.as_markdown import as_markdown

from .answers import answer, call, result, text, thought

CODE = "# Title\n\n```py\nprint(1)\n```\n\n* one  \n* two\n"


def test_the_words_are_copied_as_they_were_written():
    assert as_markdown(answer(), [thought(text="Hm."), call(), result(), text(words=CODE)]) == CODE


def test_several_texts_are_paragraphs():
    assert as_markdown(answer(), [text(words="One."), text("msg_2", words="Two.")]) == "One.\n\nTwo."


def test_thoughts_are_quoted_under_their_time_and_calls_are_named():
    row = answer(metadata={"reasoning_durations_ms": {"rs": 22_001}})
    items = [thought(text="First.\n\nThen."), call(name="read_page"), result(text="secret"), text()]
    assert as_markdown(row, items, thoughts=True) == (
        "> **Thought for 23 seconds**\n>\n> First.\n>\n> Then.\n\n> **Called** `read_page`\n\nBecause."
    )


@pytest.mark.parametrize(
    ("status", "words"), [("stopped", "Thought, stopped"), ("interrupted", "Thought, interrupted")]
)
def test_a_cut_thought_says_so(status, words):
    copied = as_markdown(answer(status=status), [thought(text="Hm", cut=True)], thoughts=True)
    assert copied == f"> **{words}**\n>\n> Hm"


def test_a_thought_that_something_followed_had_come_to_its_own_end():
    copied = as_markdown(
        answer(status="stopped"), [thought(text="Hm", cut=True), text(cut=True)], thoughts=True
    )
    assert copied == "> **Thought**\n>\n> Hm\n\nBecause."


def test_a_thought_without_words_is_its_time_alone():
    row = answer(metadata={"reasoning_durations_ms": {"rs": 7_000}})
    assert as_markdown(row, [thought()], thoughts=True) == "> **Thought for 7 seconds**"


def test_the_name_of_a_tool_cannot_break_out_of_its_quote():
    copied = as_markdown(answer(), [call(name="a`b\n\n# c")], thoughts=True)
    assert copied == "> **Called** `` a`b # c ``"


@pytest.mark.parametrize(
    "metadata", [None, [], {"reasoning_durations_ms": [1]}, {"reasoning_durations_ms": {"rs": "x"}}]
)
def test_damaged_times_are_left_out(metadata):
    assert as_markdown(answer(metadata=metadata), [thought()], thoughts=True) == "> **Thought**"


@pytest.fixture
def said(alice):
    """Alice's question and its answer."""
    asked = store.AskedFor(model="demo:thinker")
    started = store.open_conversation(alice, "Why *so*?", tools=[], asked=asked)
    claimed = store.claim_turn(started.answer, runner="here", seen=0)
    items = [
        Item(key="rs", kind=Kind.REASONING, text="Canary."),
        Item(key="msg", kind=Kind.ASSISTANT_MESSAGE, text="<b>Because</b> é\n"),
    ]
    store.finish(claimed, items, store.Measured(durations={"rs": 3_000}))
    return started


def copied(client, message, query=""):
    return client.get(f"/m/{message}/copy/{query}")


def test_alice_copies_her_question_and_her_answer(client, alice, said):
    client.force_login(alice)
    response = copied(client, said.answer)
    assert response.content.decode() == "<b>Because</b> é\n"
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert "no-store" in response["Cache-Control"]
    assert copied(client, said.question).content.decode() == "Why *so*?"
    assert b"Canary" in copied(client, said.answer, "?thoughts=1").content
    assert b"Canary" not in copied(client, said.answer, "?thoughts=0").content


@pytest.mark.parametrize("person", ["bob", "charlie", "dana"])
def test_nobody_else_copies_it(client, said, person, request):
    client.force_login(request.getfixturevalue(person))
    foreign, missing = copied(client, said.answer), copied(client, uuid4())
    assert foreign.status_code == missing.status_code == 404
    assert foreign.content == missing.content


def test_strangers_are_asked_to_sign_in(client, said):
    assert copied(client, said.answer)["Location"].startswith("/accounts/login/")


def test_what_is_deleted_is_not_copied(client, alice, said):
    client.force_login(alice)
    Message.objects.filter(pk=said.answer).update(deletion=uuid4())
    assert copied(client, said.answer).status_code == 404


@pytest.mark.parametrize("thoughts", ["2", "yes", "", "%00"])
def test_an_odd_wish_is_refused(client, alice, said, thoughts):
    client.force_login(alice)
    assert copied(client, said.answer, f"?thoughts={thoughts}").status_code == 400


def test_copying_changes_nothing(client, alice, said):
    client.force_login(alice)
    assert client.post(f"/m/{said.answer}/copy/").status_code == 405
