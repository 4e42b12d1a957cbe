"""A fork: everything goes along but what belongs to others, and the source stays as it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.utils import timezone

from chatapp import store
from chatapp.accounts.store import leaving
from chatapp.branches.models import Origin
from chatapp.branches.store import forking
from chatapp.branches.store.copying import BATCH, NOT_SHARED, Parts
from chatapp.branches.store.forking import Extent, fork, load_origins
from chatapp.core.decision import Decided, Decision, decision_item
from chatapp.store import Measured, Refused, deleting, places
from chatapp.store.changes import changed
from chatapp.store.models import (
    LIVE,
    Conversation,
    Draft,
    Grant,
    Item,
    Message,
    Place,
    Status,
    TitledBy,
    ToolRun,
)
from chatapp.store.titles import load_untitled
from tests.store.test_branches import long_branch
from tests.store.test_verify import overwrite
from tests.support.make import call, result, text, thought
from tests.support.patience import PATIENCE
from tests.support.threads import InThread

pytestmark = pytest.mark.both

# Other spaces, another order of names and escapes than ours, U+0000 and half of a pair.
ODD = '{ "z":1,  "a":[1.0, 1e2],\n"id": "rs\\u005f1", "\\u0000": "\\ud800", "é": "\\u00e9" }'


def message(pk) -> Message:
    return Message.objects.get(pk=pk)


def rows_of_all_tables() -> dict[str, dict[object, tuple]]:
    """By table and first column, as the database has them."""
    found = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            found[table] = {row[0]: row for row in cursor.fetchall()}
    return found


def untouched(before: Mapping[str, Mapping[object, tuple]]) -> bool:
    """Every row that there was is there, as it was."""
    after = rows_of_all_tables()
    return all(after[table] | rows == after[table] for table, rows in before.items())


def texts_of(conversation: Conversation) -> list[str]:
    rows = Item.objects.filter(message__conversation=conversation, kind__endswith="_message")
    return list(rows.order_by("message__order", "seq").values_list("text", flat=True))


def raw(table: str, columns: str, where: str, value: UUID) -> list[tuple]:
    value = value.hex if connection.vendor == "sqlite" else value
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT {columns} FROM "{table}" WHERE "{where}" = %s ORDER BY 1', [value])
        return list(cursor.fetchall())


@pytest.fixture
def turn(ask):
    """A question below an answer, and its own answer, which says the same."""

    def turn(words="Why?", below=None):
        started = ask(words, below)
        claim = store.claim_turn(started.answer, runner="here", seen=0)
        store.finish(claim, [text(text=f"To {words}")], Measured())
        return started

    return turn


@pytest.fixture
def called(ask):
    """An answer that thought, called a tool that somebody allowed, and wrote."""
    claim = store.claim_turn(ask("Which?").answer, runner="here", seen=0)
    timings = {"rs_1": {"start": 10, "end": 2010}, "msg_1": {"start": 2100, "end": 2200}}
    facts = {"round": 0, "model": "demo:thinker", "replayed": 1, "repaired": ["stale"]}
    asked = call(text='{"key": "secret argument"}')
    decided = Decided(
        call=asked.key, decision=Decision.ONCE, by="1", name="alice", at="2026", arguments_hash="f00d"
    )
    items = [thought(text="A secret thought."), asked, decision_item("part-2", asked, decided)]
    measured = Measured(durations={"rs_1": 2000}, timings=timings | {"msg_1": timings["rs_1"]}, round=facts)
    store.append_round(claim, items, measured)
    store.begin_call(claim, asked)
    store.append_result(claim, result("part-3", text="A secret result."), Measured(elapsed=2100))
    store.finish(claim, [text(round=1)], Measured(timings=timings, elapsed=2200))
    return message(claim.message)


def test_a_branch_is_copied_down_to_the_message_and_no_further(turn, bob):
    first = turn("One")
    turn("Beside", first.answer)
    second = turn("Two", first.answer)
    turn("Three", second.answer)
    made = fork(message(second.answer), by=bob)
    assert texts_of(made.conversation) == ["One", "To One", "Two", "To Two"]
    assert (made.messages, made.left_out) == (4, 0)
    assert made.conversation.owner == bob
    assert list(store.verify_log()) == []


def test_with_its_side_branches_everything_below_its_first_question_goes_along(turn, bob):
    turn("Other root")
    first = turn("One")
    turn("Beside", first.answer)
    second = turn("Two", first.answer)
    turn("Three", second.answer)
    turn("Newest", first.answer)
    made = fork(message(second.answer), by=bob, extent=Extent.WITH_SIDES)
    assert texts_of(made.conversation)[::2] == ["One", "Beside", "Two", "Three", "Newest"]
    branch = store.load_branch(made.conversation.head_id)
    assert [row.order for row in branch.messages] == [0, 1, 4, 5, 6, 7]
    everything = fork(message(first.answer), by=bob, extent=Extent.EVERYTHING).conversation
    assert texts_of(everything)[::2] == ["Other root", "One", "Beside", "Two", "Three", "Newest"]
    assert texts_of(everything)[-1] == store.load_items(everything.head_id)[-1].text
    assert everything.forked_from_id == first.answer
    assert list(store.verify_log()) == []


def test_a_fork_can_end_with_a_question(turn, bob):
    second = turn("Two", turn("One").answer)
    made = fork(message(second.question), by=bob).conversation
    assert texts_of(made) == ["One", "To One", "Two"]
    asked = store.AskedFor(model="demo:thinker")
    assert store.start_answer(made.head_id, author=bob, asked=asked).conversation == made.pk


def test_one_goes_on_below_a_fork_and_looks_around_in_it(turn, alice, bob):
    first = turn("One")
    turn("Beside", first.answer)
    second = turn("Two", first.answer)
    made = fork(message(second.answer), by=bob, extent=Extent.EVERYTHING).conversation
    head = made.head_id
    assert places.load_head(bob, made) == head
    asked = store.AskedFor(model="openai:gpt-5")
    started = store.start_turn(made.pk, "And?", parent=head, author=bob, asked=asked)
    assert message(started.question).order == made.next_order == 6
    branch = store.load_branch(head).messages
    (beside,) = Message.objects.filter(parent=branch[1]).exclude(pk=branch[2].pk)
    assert message(places.go_to(bob, beside)).parent_id == beside.pk
    assert places.go_to(bob, branch[2]) == started.answer
    assert list(store.verify_log()) == []


@pytest.mark.parametrize("extent", Extent)
def test_the_source_stays_as_it_was_byte_for_byte_in_every_table(turn, called, bob, extent):
    turn("Two", called.pk)
    Place.objects.create(viewer=bob, conversation=called.conversation, head=called)
    before = rows_of_all_tables()
    fork(called, by=bob, extent=extent)
    assert untouched(before)
    assert any(len(rows) > len(before[table]) for table, rows in rows_of_all_tables().items())


def test_what_was_stored_is_copied_byte_for_byte(called, bob, conversation):
    overwrite("chatapp_item", "wire", ODD, "id", called.items.get(key="rs_1").pk)
    overwrite("chatapp_message", "metadata", json.dumps(called.metadata, indent=3), "id", called.pk)
    overwrite("chatapp_conversation", "tools", '[ {"name":"clock",  "z":1,"a":2} ]', "id", conversation.pk)
    made = fork(called, by=bob).conversation
    columns = ", ".join(f'"{field.column}"' for field in Item._meta.concrete_fields[2:])
    mine, theirs = (raw("chatapp_item", columns, "message_id", pk) for pk in (made.head_id, called.pk))
    assert mine == theirs and ODD in {value for row in mine for value in row}
    for column in ("metadata", "created_at", "model", "effort", "status", "next_seq"):
        assert raw("chatapp_message", column, "id", made.head_id) == raw(
            "chatapp_message", column, "id", called.pk
        )
    for pk in (made.pk, conversation.pk):
        assert raw("chatapp_conversation", "tools", "id", pk) == [('[ {"name":"clock",  "z":1,"a":2} ]',)]


def test_what_cannot_be_read_is_copied_as_it_is(called, bob, conversation):
    overwrite("chatapp_item", "wire", "{oops", "id", called.items.get(key="rs_1").pk)
    overwrite("chatapp_conversation", "tools", "{oops", "id", conversation.pk)
    made = fork(called, by=bob).conversation
    assert raw("chatapp_conversation", "tools", "id", made.pk) == [("{oops",)]
    assert "{oops" in [row[0] for row in raw("chatapp_item", "wire", "message_id", made.head_id)]


COPIED = {"role", "model", "effort", "status", "next_seq", "metadata", "created_at"}
OF_ITS_OWN = {"id", "conversation", "parent", "order", "sent_from", "author"}
ANEW = {"attempt", "tries", "job_id", "runner", "touched_at", "submission", "deletion", "deleted_at"}


def test_every_field_of_a_message_is_copied_or_begins_anew(called, bob):
    assert {field.name for field in Message._meta.concrete_fields} == COPIED | OF_ITS_OWN | ANEW
    Message.objects.filter(pk=called.pk).update(job_id=7, submission=uuid4(), effort="high", tries=3)
    copy = message(fork(called, by=bob).conversation.head_id)
    source = message(called.pk)
    assert {name: getattr(copy, name) for name in COPIED} == {name: getattr(source, name) for name in COPIED}
    fresh = Message()
    for name in ANEW:
        assert getattr(copy, name) == getattr(fresh, name), name


def test_the_conversation_goes_along_with_its_instructions_and_tools_and_without_what_was_allowed(
    called, alice, bob
):
    Conversation.objects.update(instructions="Be brief.", pinned_at=timezone.now())
    Grant.objects.create(conversation=called.conversation, tool="clock", fingerprint="f", by=alice)
    assert ToolRun.objects.count() == 1
    made = fork(called, by=alice).conversation
    assert (made.instructions, made.tools, made.pinned_at) == ("Be brief.", ["clock"], None)
    assert made.grants.count() == 0 and ToolRun.objects.filter(message__conversation=made).count() == 0


def test_what_one_wrote_oneself_stays_ones_own_and_nobody_elses_name_goes_along(called, alice, bob):
    assert {row.author for row in fork(called, by=alice).conversation.messages.all()} == {alice}
    assert {row.author for row in fork(called, by=bob).conversation.messages.all()} == {None}


@pytest.mark.parametrize("status", LIVE)
def test_an_answer_that_is_being_written_stays_behind_with_its_question(turn, ask, bob, status):
    first = turn("One")
    live = ask("Two", first.answer)
    Message.objects.filter(pk=live.answer).update(status=status)
    Draft.objects.create(message_id=live.answer, attempt=0, n=1, saved={"n": 1, "at": 2, "pieces": []})
    made = fork(message(live.answer), by=bob)
    assert texts_of(made.conversation) == ["One", "To One"]
    assert (made.messages, made.left_out) == (2, 1)
    assert message(made.conversation.head_id).parent.parent is None
    assert list(store.verify_log()) == []


def test_a_question_stays_for_its_other_answers_or_where_it_was_forked_at(turn, bob):
    first = turn("One")
    asked = store.AskedFor(model="demo:thinker")
    live = store.start_answer(first.question, author=None, asked=asked)
    made = fork(message(live.answer), by=bob, extent=Extent.WITH_SIDES)
    assert (texts_of(made.conversation), made.left_out) == (["One", "To One"], 1)
    second = store.start_turn(
        first.conversation, "Two", parent=first.answer, author=None, asked=asked
    ).question
    there = fork(message(second), by=bob, extent=Extent.EVERYTHING)
    assert (texts_of(there.conversation), there.left_out) == (["One", "To One", "Two"], 2)
    assert store.load_items(there.conversation.head_id)[0].text == "Two"


def refused(words: str, source: Message, **how) -> None:
    before = rows_of_all_tables()
    with pytest.raises(Refused, match=words):
        fork(source, **how)
    assert rows_of_all_tables() == before


def test_where_every_answer_is_being_written_there_is_nothing_to_fork(ask, bob):
    refused("still being written", message(ask("One").answer), by=bob)


MEANWHILE = {
    "goes on": lambda row: store.requeue(row.pk),
    "is deleted": deleting.delete_below,
    "has something asked below it": lambda row: store.start_turn(
        row.conversation_id,
        "And?",
        parent=row.pk,
        author=None,
        asked=store.AskedFor(model="demo:thinker"),
    ),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("case", MEANWHILE)
def test_while_it_is_forked_nothing_happens_to_the_source(turn, ask, bob, case):
    stopped = ask("Two", turn("One").answer)
    store.stop(stopped.answer, None)
    source = message(stopped.answer)
    forker = InThread(lambda: fork(source, by=bob), at="WITH copies")
    assert forker.frozen.wait(PATIENCE)
    other = InThread(lambda: MEANWHILE[case](source))
    assert not other.finished(0.2)
    forker.thaw.set()
    assert forker.finished(PATIENCE) and other.finished(PATIENCE)
    assert (forker.problem, other.problem) == (None, None)
    made = Conversation.objects.get(owner=bob)
    assert texts_of(made) == ["One", "To One", "Two"]
    assert message(made.head_id).status == Status.STOPPED
    assert list(store.verify_log()) == []


def test_deleted_messages_stay_behind(turn, bob):
    first = turn("One")
    gone = turn("Gone", first.answer)
    deleting.delete_below(message(gone.question))
    made = fork(message(first.answer), by=bob, extent=Extent.EVERYTHING).conversation
    assert texts_of(made) == ["One", "To One"]
    refused("not there any more", message(gone.answer), by=bob)


def test_of_a_deleted_conversation_nothing_is_forked(called, bob):
    deleting.delete_conversation(called.conversation_id)
    refused("not there any more", called, by=bob)


def test_what_is_not_allowed_does_not_exist(turn, bob):
    first = turn("One")
    hidden, second = turn("Hidden", first.answer), turn("Two", first.answer)
    below = turn("Below", second.answer)
    allowed = {first.question, first.answer, second.question, second.answer}
    for extent in (Extent.WITH_SIDES, Extent.EVERYTHING):
        made = fork(message(second.answer), by=bob, extent=extent, allowed=allowed).conversation
        assert texts_of(made)[::2] == ["One", "Two"]
    for pk in (hidden.answer, below.answer):
        refused("not there any more", message(pk), by=bob, allowed=allowed)
    upper = {second.question, second.answer}
    made = fork(message(second.answer), by=bob, allowed=upper).conversation
    assert texts_of(made) == ["Two", "To Two"] and list(store.verify_log()) == []


def test_too_many_messages_are_refused_in_words(turn, bob, monkeypatch):
    monkeypatch.setattr(forking, "MOST", 3)
    second = turn("Two", turn("One").answer)
    refused("at most 3 messages, and these are 4", message(second.answer), by=bob)
    assert fork(message(second.question), by=bob).messages == 3


@pytest.mark.parametrize("extent", Extent)
def test_a_line_longer_than_any_stack_is_forked(conversation, bob, extent):
    leaf = long_branch(conversation, 2 * BATCH + 1_001)
    made = fork(leaf, by=bob, extent=extent)
    assert made.messages == made.conversation.next_order == 2 * BATCH + 1_001
    branch = store.load_branch(made.conversation.head_id)
    assert [row.order for row in branch.messages] == list(range(made.messages))
    assert (
        sum(map(len, branch.items.values()))
        == Item.objects.filter(message__conversation=conversation).count()
    )


@pytest.mark.parametrize("extent", Extent)
def test_damaged_rows_are_mended_on_the_way(turn, called, bob, extent):
    elsewhere = store.open_conversation(bob, "Foreign", tools=[], asked=store.AskedFor(model="demo:thinker"))
    Message.objects.filter(pk=called.parent_id).update(parent=called)
    orphan = turn("Orphan")
    Message.objects.filter(pk=orphan.question).update(parent=elsewhere.answer)
    Message.objects.filter(pk=orphan.answer).update(sent_from=elsewhere.question)
    for source in (called.pk, orphan.answer):
        made = fork(message(source), by=bob, extent=extent).conversation
        assert "Foreign" not in texts_of(made)
        told = [line for line in store.verify_log() if str(made.pk) in line]
        assert told == []
        assert store.load_branch(made.head_id).messages[0].parent_id is None


def test_where_older_turns_are_left_out_they_stay_left_out(turn, conversation, alice, bob):
    first = turn("One")
    second = turn("Two", first.answer)
    asked = store.AskedFor(model="demo:thinker", sent_from=second.question)
    third = store.start_turn(conversation.pk, "Three", parent=second.answer, author=alice, asked=asked)
    store.stop(third.answer, None)
    made = fork(message(third.answer), by=bob).conversation
    sent = store.load_branch(made.head_id).sent
    assert [row.order for row in sent] == [2, 3, 4, 5]
    assert {row.conversation_id for row in sent} == {made.pk}
    upper = fork(message(third.answer), by=bob, allowed={third.question, third.answer}).conversation
    assert message(upper.head_id).sent_from_id is None


def test_a_fork_says_where_it_came_from_and_the_source_knows_its_forks(called, alice, bob):
    made = fork(called, by=bob).conversation
    origin = load_origins(made.pk).own
    assert (origin.source, origin.message, origin.owner, origin.by) == (
        called.conversation,
        called,
        alice,
        bob,
    )
    assert (origin.owner_name, origin.title) == ("alice", "Which?")
    assert made.forked_from == called
    (listed,) = load_origins(called.conversation_id).forks
    assert (listed.conversation, listed.by, listed.message) == (made, bob, called)
    assert load_origins(called.conversation_id).own is None and load_origins(made.pk).forks == []
    deleting.delete_conversation(made.pk)
    assert load_origins(called.conversation_id).forks == []


def test_a_fork_outlives_its_source_and_remembers_its_name(called, alice, bob):
    made = fork(called, by=bob).conversation
    leaving.leave(alice)
    origin = load_origins(made.pk).own
    assert (origin.source, origin.message, origin.owner) == (None, None, None)
    assert (origin.owner_name, origin.title) == ("alice", "Which?")
    assert texts_of(Conversation.objects.get()) == ["Which?", "Because."]
    assert list(store.verify_log()) == []


def test_a_source_can_be_purged_and_a_fork_too(called, alice, bob):
    made = fork(called, by=bob).conversation
    long_ago = timezone.now() - deleting.KEPT * 2
    Conversation.objects.filter(pk=called.conversation_id).update(deleted_at=long_ago)
    assert deleting.purge() == 2
    assert load_origins(made.pk).own.message is None and list(store.verify_log()) == []
    again = fork(message(made.head_id), by=bob).conversation
    Conversation.objects.filter(pk=made.pk).update(deleted_at=long_ago)
    assert deleting.purge() == 2
    assert load_origins(again.pk).own.owner == bob and list(store.verify_log()) == []


def test_a_fork_is_called_like_one_and_no_model_is_asked_for_another_title(called, alice, bob):
    assert called.conversation.titled_by == TitledBy.WORDS
    made = fork(called, by=bob).conversation
    assert made.title == "Fork of Which?"
    assert fork(message(made.head_id), by=bob).conversation.title == "Fork of Which?"
    assert fork(called, by=bob, title=" My\n own ").conversation.title == "My own"
    assert made.pk not in load_untitled()
    Conversation.objects.filter(pk=called.conversation_id).update(title="x" * 200)
    assert fork(called, by=bob).conversation.title == f"Fork of {'x' * 192}"
    Conversation.objects.filter(pk=called.conversation_id).update(title="")
    assert fork(called, by=bob).conversation.title == ""


def test_only_whoever_forks_is_told(called, bob, django_capture_on_commit_callbacks):
    told = []

    def hear(**news):
        told.append((news["conversation"], news["owner"], news["what"]))

    changed.connect(hear)
    try:
        made = fork(called, by=bob).conversation
    finally:
        changed.disconnect(hear)
    assert told == [(made.pk, bob.pk, "listed")]


@pytest.mark.parametrize("thoughts", [True, False])
@pytest.mark.parametrize("tools", [True, False])
def test_what_was_not_shown_does_not_go_along(called, bob, thoughts, tools):
    for pk, said in called.items.values_list("pk", "text"):
        Item.objects.filter(pk=pk, kind__in=["reasoning", "tool_call", "tool_result"]).update(
            wire={"id": "x", "words": said}
        )
    Item.objects.filter(message=called, key="msg_1").update(wire={"reasoning_content": "A secret thought."})
    made = fork(called, by=bob, parts=Parts(thoughts=thoughts, tools=tools)).conversation
    copy = message(made.head_id)
    said = str([list(item.values()) for item in copy.items.values()])
    assert ("secret thought" in said) is thoughts
    for secret in ("secret argument", "secret result", "f00d"):
        assert (secret in said) is tools, secret
    assert copy.metadata == called.metadata
    assert list(copy.items.values_list("seq", "key", "kind", "round", "name")) == list(
        called.items.values_list("seq", "key", "kind", "round", "name")
    )
    assert made.tools == (["clock"] if tools else [])
    assert copy.items.get(key="msg_1").text == "Because."
    assert copy.items.get(key="part-3").text == ("A secret result." if tools else NOT_SHARED)
    assert list(store.verify_log()) == []


def test_instructions_can_stay_behind(called, bob):
    Conversation.objects.update(instructions="A secret rule.")
    made = fork(called, by=bob, parts=Parts(instructions=False)).conversation
    assert (made.instructions, made.tools) == ("", ["clock"])


BREACHES = {
    "another message": lambda made, other: Origin.objects.filter(pk=made.pk).update(message=other),
    "another conversation": lambda made, other: Origin.objects.filter(pk=made.pk).update(source=made),
}


@pytest.mark.parametrize("breach", BREACHES)
def test_an_origin_that_contradicts_the_fork_is_named(called, bob, breach):
    made = fork(called, by=bob).conversation
    assert list(store.verify_log()) == []
    BREACHES[breach](made, called.parent)
    assert [line for line in store.verify_log() if "origin" in line]
