"""A file may hold anything. What cannot be read is told with its name and its place, nothing of it is stored, and nobody else waits."""

from __future__ import annotations

import io
import json
import stat
import tracemalloc
import zipfile

import pytest

from chatapp import store
from chatapp.exchange.formats import parts
from chatapp.exchange.formats.json_reader import Broken, JsonReader
from chatapp.exchange.models import ImportedConversation
from chatapp.exchange.store import imports, uploads
from chatapp.exchange.store.bringing import Work
from chatapp.store.models import Conversation, Item, Message

from .bringing import answer, brought, came, checked, ours, problems, question, remarks, said, worked

pytestmark = pytest.mark.both

PAIR = said(question(), answer())
MB = 1024 * 1024


def test_a_file_that_is_in_order_comes(alice):
    assert problems(checked(alice, ours(PAIR))) == []


def within(text: str) -> bytes:
    """In the words of a question."""
    return ours(said(question(text="HERE"), answer())).replace(
        b'"HERE"', text.encode("utf-8", "surrogatepass")
    )


BROKEN = {
    "nothing": (b"", None),
    "blanks": (b"  \n", "there is nothing in it"),
    "half a file": (ours(PAIR, PAIR)[:-100], "it ends in the middle, in conversation 2, at byte"),
    "no JSON": (b"Hello.", "in no format that is known here"),
    "another format": (b'{"a": 1}', "in no format that is known here"),
    "a list of numbers": (b"[1, 2]", "in no format that is known here"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "in no format that is known here"),
    "a wrong format under a right name": (
        b'{"format":"thoughtline","conversations":7}',
        "it is not a list, at byte 40",
    ),
    "a newer version": (ours(PAIR, version=2), "it is of version 2, and this server knows 1"),
    "not UTF-8": (ours(PAIR).replace(b"Why?", b"W\xffhy"), "it is not written in UTF-8, at byte"),
    "a lone surrogate as it is": (within('"\ud800"'), "it is not written in UTF-8"),
    "a name twice": (
        ours(PAIR).replace(b'"title"', b'"title":"x","title"'),
        "“title” stands there twice, at byte",
    ),
    "a name twice inside": (
        ours(PAIR).replace(b'"text"', b'"text":"x","text"', 1),
        "“text” stands there twice",
    ),
    "a number beyond all": (
        ours(said(question(), answer(recorded={"a": 1}))).replace(b'"a": 1', b'"a": 1e400'),
        "a number is too large",
    ),
    "a number of many digits": (within("1" * 5000), "a number is too large"),
    "no number": (within("NaN"), "NaN is no number of JSON"),
    "very deep": (b'{"conversations":[{"x":' + b"[" * 10_000, "it is nested too deeply, at byte"),
    "very deep in a message": (within("[" * 10_000 + "]" * 10_000), "it is nested too deeply"),
    "very deep in what is passed over": (
        b'{"format":"thoughtline","x":' + b'{"a":' * 10_000,
        "it is nested too deeply",
    ),
    "a comma too many": (ours(PAIR).replace(b'"T",', b'"T",,'), "a name is missing"),
    "one word without an end": (
        b'{"format":"thoughtline","conversations":[{"title":"' + b"x" * 17 * MB,
        "one value is longer than 16 megabytes",
    ),
    "no conversation": (ours(), "there is no conversation in it"),
    "more pieces than a message has": (
        ours(said(question(items=[{}] * 10_001))),
        "one message has more than 10,000 items, at byte",
    ),
    "more names than an object has": (
        json.dumps(dict.fromkeys(map(str, range(200_002))) | {"format": 1}).encode(),
        "in no format that is known here",
    ),
    "more nodes than a conversation has": (
        b'[{"chat_messages":[' + b"0," * 200_001 + b"0]}]",
        "one conversation has more than 200,000 messages, at byte",
    ),
}


@pytest.mark.parametrize("what", [name for name, (data, _) in BROKEN.items() if data])
def test_what_cannot_be_read_is_told_with_its_place(alice, what):
    data, words = BROKEN[what]
    row = checked(alice, data)
    (problem,) = problems(row)
    assert problem.startswith("Not read: ") and words in problem, problem
    assert not ImportedConversation.objects.exists() and not Conversation.objects.exists()


def test_an_empty_file_is_refused_by_its_name(alice):
    with pytest.raises(store.Refused, match="is empty"):
        uploads.add_file(alice, "a.json", 0)


def test_one_bad_file_keeps_no_good_one_from_coming(alice):
    row = checked(alice, ours(PAIR), ours(PAIR)[:100])
    assert len(problems(row)) == 1 and row.found.count() == 1
    imports.start(row, skips_known=True)
    worked(row)
    assert Conversation.objects.count() == 1


# Trees


TREES = {
    "an orphan": ([question(), answer(), question(3, 77)], {"orphan": 1}),
    "a loop": ([question(), answer(), question(3, 4), answer(4, 3)], {"loop": 1}),
    "its own parent": ([question(), answer(), question(3, 3)], {"loop": 1}),
    "the same message twice": ([question(), answer(), answer(text="Other.")], {"twice": 1}),
    "children before parents": ([answer(), question()], {"late parent": 1}),
    "several first questions": ([question(), answer(), question(3)], {"roots": 2}),
    "no parents at all": ([question(n) for n in range(1, 6)], {"roots": 5}),
}


@pytest.mark.parametrize("what", TREES)
def test_a_tree_is_mended_and_it_is_said(alice, what):
    messages, told = TREES[what]
    file = ours(said(*messages))
    assert remarks(checked(alice, file)) == told
    imports.cancel(uploads.open_import(alice))
    (copy,) = came(alice, file)
    assert list(store.verify_log()) == []
    assert copy.head_id and store.load_branch(copy.head_id).messages


@pytest.mark.parametrize("head", [77, "x", -1, 1.5, None])
def test_an_unknown_head_opens_the_newest(alice, head):
    (copy,) = came(alice, ours(said(question(), answer(), head=head)))
    assert copy.head.role == "assistant"


def test_a_head_in_the_middle_goes_on_to_its_leaf_and_nothing_is_lost(alice):
    chain = [question(), answer(), question(3, 2), answer(4, 3)]
    (copy,) = came(alice, ours(said(*chain, head=1)))
    assert copy.messages.count() == 4 and copy.head.order == 3


# What stands in messages


ODD = {
    "U+0000": ("a\u0000b", "a\ufffdb"),
    "half of a sign": ("a\ud800b", "a\ufffdb"),
    "a turned direction": ("a\u202eb", "a\u202eb"),
    "markup": ("<script>alert(1)</script>", "<script>alert(1)</script>"),
}


@pytest.mark.parametrize("what", ODD)
def test_odd_words_are_stored_as_any_database_can(alice, what):
    text, kept = ODD[what]
    (copy,) = came(alice, ours(said(question(text=text), answer(), title=text)))
    assert Item.objects.filter(message__conversation=copy, kind="user_message").get().text == kept
    assert "\x00" not in copy.title


def test_what_no_database_holds_may_stand_anywhere(alice):
    odd = "a\x00b\ud800"
    item = dict.fromkeys(("key", "text", "provider", "dialect", "model", "call_id", "name"), odd)
    messages = [
        question(author=odd, model=odd, effort=odd, status=odd, items=[item | {"kind": "user_message"}]),
        answer(
            model=odd,
            items=[item | {"kind": kind, "wire": {odd: odd}} for kind in ("reasoning", "tool_call")],
        ),
    ]
    recorded = {"rounds": [{"round": 0, "model": odd}], "ended": {odd: odd}, "program": {odd: odd}, odd: odd}
    messages[1]["recorded"] = recorded
    told = dict.fromkeys(("title", "titled_by", "instructions", "program", "head"), odd)
    (copy,) = came(alice, ours(said(*messages, **told | {"origin": {odd: odd}, "forks": {odd: 1}})))
    assert copy.messages.count() == 2 and list(store.verify_log()) == []


MESSAGES = {
    "an unknown role": ({"id": 3, "parent": 2, "role": "system", "items": []}, {"unknown": 1}),
    "no id": (question(None, 2), {"unknown": 1}),
    "an id of a row": (question("8c9d0f8e-0000-4000-8000-000000000000", 2), {"unknown": 1}),
    "no words": (question(3, 2, items=[]), {"empty": 1}),
    "an item of an unknown kind": (answer(3, 2, items=[{"key": "a", "kind": "image"}]), {"unknown": 1}),
    "an item of another role": (question(3, 2, items=answer()["items"]), {"unknown": 1, "empty": 1}),
    "a result of no call": (
        answer(3, 2, items=[{"key": "a", "kind": "tool_result", "call_id": "x"}]),
        {"unknown": 1},
    ),
    "a call without a result": (
        answer(3, 2, items=[{"key": "a", "kind": "tool_call", "call_id": "x"}]),
        {"no result": 1},
    ),
    "a year that is none": (question(3, 2, created_at="0000-01-01T00:00:00Z"), {"time": 1}),
    "a year far away": (question(3, 2, created_at="99999-01-01T00:00:00Z"), {"time": 1}),
    "a moment of another type": (question(3, 2, created_at=[1]), {"time": 1}),
    "a negative duration": (
        answer(
            3, 2, items=[{"key": "r", "kind": "reasoning"}], recorded={"reasoning_durations_ms": {"r": -5}}
        ),
        {"duration": 1},
    ),
    "a duration in words": (
        answer(
            3, 2, items=[{"key": "r", "kind": "reasoning"}], recorded={"reasoning_durations_ms": {"r": "5"}}
        ),
        {"duration": 1},
    ),
    "a duration of nothing": (answer(3, 2, recorded={"reasoning_durations_ms": {"r": 5}}), {"duration": 1}),
    "a reversed time": (
        answer(3, 2, recorded={"timings_ms": {"msg_1": {"start": 9, "end": 1}}}),
        {"time": 1},
    ),
    "wrong types everywhere": (
        answer(3, 2, model=7, status=[], recorded=[1], sent_from={}, effort=None, author=3),
        {},
    ),
    "wrong types in an item": (
        answer(3, 2, items=[{"key": 1, "kind": "assistant_message", "text": 7, "round": "x", "cut": 1}, 5]),
        {"unknown": 1},
    ),
    "wrong types in what was recorded": (
        answer(
            3,
            2,
            recorded={
                "rounds": [1, {"round": "x"}, {"round": 0, "model": "m", "repaired": ["y"]}],
                "gaps": {"1": 5},
                "ended": [],
                "elapsed_ms": 1.5,
                "told_rounds": -1,
                "by_program": "yes",
                "program": 3,
                "timings_ms": 4,
            },
        ),
        {},
    ),
}


@pytest.mark.parametrize("what", MESSAGES)
def test_what_a_message_says_wrongly_is_left_out_or_mended(alice, what):
    message, told = MESSAGES[what]
    file = ours(said(question(), answer(), message))
    assert remarks(checked(alice, file)) == told
    imports.cancel(uploads.open_import(alice))
    (copy,) = came(alice, file)
    assert list(store.verify_log()) == []
    assert copy.messages.count() in (2, 3)


def test_thoughts_of_which_some_have_a_time_verify(alice):
    items = [{"key": key, "kind": "reasoning", "text": "Hm.", "round": 3} for key in ("a", "b")]
    came(alice, ours(said(question(), answer(items=items, recorded={"reasoning_durations_ms": {"a": 5}}))))
    assert list(store.verify_log()) == []


def test_names_of_others_in_a_file_are_nobodys(alice, bob):
    theirs = Conversation.objects.create(owner=bob, tools=[])
    file = ours(said(question(author="bob"), answer(), id=str(theirs.pk), owner=bob.pk, head=str(theirs.pk)))
    (copy,) = came(alice, file)
    assert copy.owner == alice and copy.pk != theirs.pk
    assert not Message.objects.filter(author=bob).exists()


def test_an_item_larger_than_may_be_is_left_out_by_name(alice):
    file = ours(said(question(), answer(text="x" * (4 * MB + 1))))
    assert remarks(checked(alice, file)) == {"too large": 1}


# How much


@pytest.mark.whole
def test_a_chain_of_a_hundred_thousand_messages_comes(alice):
    chain = (make for n in range(1, 100_001, 2) for make in (question(n, n - 1 or None), answer(n + 1, n)))
    (copy,) = came(alice, ours(said(*chain)))
    assert copy.messages.count() == 100_000


def test_ten_thousand_first_questions_come(alice):
    row = checked(alice, ours(said(*[question(n) for n in range(1, 10_001)])))
    assert remarks(row) == {"roots": 10_000} and problems(row) == []


def test_memory_does_not_grow_with_the_file():
    def peak(conversations: int) -> int:
        one = json.dumps(said(*[question(n, text="x" * 1000) for n in range(1, 101)])).encode()
        begin, end = b'{"format":"thoughtline","version":1,"conversations":[', b"]}"
        text = begin + b",".join([one] * conversations) + end
        tracemalloc.start()
        json_reader = JsonReader(text[at : at + 65536] for at in range(0, len(text), 65536))
        from chatapp.exchange.formats.our_file import FILE_FORMAT

        for _, messages in FILE_FORMAT.read(json_reader):
            for _ in messages:
                pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few, many = peak(5), peak(50)
    assert many < few + 300_000


@pytest.mark.parametrize("size", [1, 7, 64, 65536])
def test_what_is_read_is_the_same_however_it_comes(size):
    text = json.dumps(
        {"a": ['é"\\', {"b": [1, -2.5e3, None, True]}, []], "c": {}}, ensure_ascii=False
    ).encode()
    read = JsonReader(text[at : at + size] for at in range(0, len(text), size))
    assert {name: read.value() for name in read.members()} == json.loads(text)
    read = JsonReader(text[at : at + size] for at in range(0, len(text), size))
    read.skip()
    assert read.sign() == ""
    for length in range(len(text)):
        with pytest.raises(Broken):
            JsonReader(iter([text[:length]])).value()
        with pytest.raises(Broken):
            JsonReader(iter([text[:length]])).skip()


# Zips


def packed(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries:
            file.writestr(name, data)
    return out.getvalue()


def link(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


def encrypted() -> bytes:
    data = bytearray(packed(("conversations.json", ours(PAIR))))
    for sign, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(sign) + offset] |= 1
    return bytes(data)


def test_a_zip_is_read_as_the_files_in_it(alice):
    file = packed(
        ("a/conversations-002.json", ours(said(question(text="Two?"), answer()))),
        ("a/conversations-001.json", ours(PAIR)),
        ("a/user.json", b"{}"),
        ("a/chat.html", b"<html>"),
    )
    first, _ = came(alice, file)
    assert first.messages.order_by("order").first().items.get().text == "Why?"


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: packed(("../conversations.json", ours(PAIR))), "“../conversations.json” leads out of it"),
        (lambda: packed(("/etc/conversations.json", ours(PAIR))), "leads out of it"),
        (lambda: packed(("a\\..\\conversations.json", ours(PAIR))), "leads out of it"),
        (lambda: packed(("C:conversations.json", ours(PAIR))), "leads out of it"),
        (lambda: packed((link("conversations.json"), b"/etc/passwd")), "is a link to another file"),
        (lambda: packed(*[("conversations.json", ours(PAIR))] * 2), "is in it twice"),
        (encrypted, "is encrypted"),
        (lambda: packed(("conversations.json", ours(PAIR)))[:-30], "damaged, or ends in the middle"),
        (lambda: packed(("notes.txt", b"x")), "there is no conversation in it"),
        (lambda: packed(("conversations.json", ours(PAIR)[:50])), "it ends in the middle"),
    ],
    ids=["climbs", "absolute", "backslash", "drive", "link", "twice", "encrypted", "cut", "nothing", "half"],
)
def test_a_zip_that_nobody_should_open_is_refused_in_words(alice, make, words):
    (problem,) = problems(checked(alice, make()))
    assert words in problem
    assert not Conversation.objects.exists()


def test_a_damaged_entry_is_told(alice):
    data = bytearray(packed(("conversations.json", ours(PAIR) * 50)))
    data[60:70] = b"\xff" * 10
    (problem,) = problems(checked(alice, bytes(data)))
    assert "damaged" in problem or "not JSON" in problem or "UTF-8" in problem


def test_a_zip_that_unpacks_to_more_than_may_be_is_not_unpacked(alice, monkeypatch):
    monkeypatch.setattr(parts, "MOST_UNPACKED", 3 * MB)
    bomb = packed(("conversations.json", b'{"format":"thoughtline","x":[' + b"0," * 5 * MB))
    assert len(bomb) < 100_000
    (problem,) = problems(checked(alice, bomb))
    assert "unpacks to more than" in problem


def test_a_zip_with_a_list_of_names_beyond_measure_is_not_read(alice, monkeypatch):
    monkeypatch.setattr(parts, "MOST_NAMES", 10)
    (problem,) = problems(checked(alice, packed(*[(f"{n}.txt", b"") for n in range(11)])))
    assert "more than 10 files" in problem
    monkeypatch.setattr(uploads, "_AT_ONCE", 500)
    imports.cancel(uploads.open_import(alice))
    (problem,) = problems(checked(alice, packed(*[(f"{n}.txt", b"") for n in range(50)])))
    assert "too many files" in problem


def test_whatever_is_strange_about_it_others_are_not_kept_waiting(alice, monkeypatch):
    row = brought(alice, ours(PAIR))
    imports.check(row)
    taken = imports.take("here")
    imports.give_up(Work(taken, "here", tools=list))
    row.refresh_from_db()
    assert row.state == "checked" and problems(row) == [imports.STRANGE]
