"""How a folded history is worded for each contract: golden messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from chatapp.core.contracts import IN_CONTENT, Contract, Filler, Repair, ReplayScope, taught
from chatapp.core.history import Logged, Target, fold
from chatapp.core.items import Item, Kind, Outcome
from chatapp.providers.base import OFF, Ask, ModelSpec
from chatapp.providers.chat.messages import NO_SIGNATURE, messages_of, thoughts_in

Message = dict[str, Any]
PLAIN = Contract(where="", dialect="chat", since="2026-01", source="a test")
MODEL = ModelSpec(provider="p", dialect="chat", name="m")
SIGNED = replace(PLAIN, scope=ReplayScope.NONE, signed=True)


def question(text: str = "Why?") -> Logged:
    return Logged("user", [Item(key="part-0", kind=Kind.USER_MESSAGE, text=text)])


def item(kind: Kind, text: str, wire: Any, *, model: str = "m", number: int = 0, **more: Any) -> Item:
    return Item(
        key=text,
        kind=kind,
        text=text,
        wire=wire,
        provider="p",
        dialect="chat",
        model=model,
        round=number,
        **more,
    )


def thought(text: str, field: str = "reasoning_content", **more: Any) -> Item:
    return item(Kind.REASONING, text, {field: text}, **more)


def words(text: str, **more: Any) -> Item:
    return item(Kind.ASSISTANT_MESSAGE, text, {"content": text}, **more)


def call(call_id: str = "c", *, extra: Message | None = None, **more: Any) -> Item:
    function = {"name": "tide", "arguments": '{"a": 1}'}
    wire = {"id": call_id, "type": "function", **(extra or {}), "function": function}
    return item(Kind.TOOL_CALL, '{"a": 1}', wire, call_id=call_id, name="tide", **more)


def result(call_id: str = "c", number: int = 0) -> Item:
    return Item(
        key=f"result of {call_id}",
        kind=Kind.TOOL_RESULT,
        text="high",
        call_id=call_id,
        round=number,
        outcome=Outcome.DONE,
    )


def worded(
    contract: Contract,
    *items: Item,
    effort: str = "",
    repairs: frozenset[Repair] = frozenset(),
    instructions: str = "",
) -> list[Message]:
    target = Target("p", "chat", "m", contract, effort != OFF)
    history = fold(
        [question(), Logged("assistant", items), question("And?"), Logged("assistant", [])], target
    )
    return messages_of(
        Ask(
            model=MODEL,
            contract=contract,
            history=history,
            effort=effort,
            repairs=repairs,
            instructions=instructions,
        )
    )


def answers(contract: Contract, *items: Item, **more: Any) -> list[Message]:
    return [message for message in worded(contract, *items, **more) if message["role"] == "assistant"]


def answer(contract: Contract, *items: Item, **more: Any) -> Message:
    (message,) = answers(contract, *items, **more)
    return message


def test_a_conversation_with_a_tool_loop() -> None:
    items = [
        thought("Look it up."),
        words("Let me look."),
        call(),
        result(),
        thought("High.", number=1),
        words("It is high.", number=1),
    ]
    function = {"name": "tide", "arguments": '{"a": 1}'}
    assert worded(PLAIN, *items, instructions="Be brief.") == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Why?"},
        {
            "role": "assistant",
            "content": "Let me look.",
            "reasoning_content": "Look it up.",
            "tool_calls": [{"type": "function", "id": "c", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "high"},
        {"role": "assistant", "content": "It is high.", "reasoning_content": "High."},
        {"role": "user", "content": "And?"},
    ]


def test_calls_alone_have_no_content() -> None:
    assert answer(PLAIN, call(), result())["content"] is None


def test_all_thoughts_and_texts_of_a_round_are_one_message_as_they_came() -> None:
    message = answer(PLAIN, thought("a"), words("b "), thought("c"), words("d"))
    assert (message["reasoning_content"], message["content"]) == ("ac", "b d")


def test_bytes_in_are_bytes_out() -> None:
    odd = " a\x00\ud83d\n"
    message = answer(
        PLAIN,
        item(Kind.REASONING, "shown", {"reasoning": odd}),
        item(Kind.ASSISTANT_MESSAGE, "shown too", {"content": odd}),
    )
    assert (message["reasoning"], message["content"]) == (odd, odd)


@pytest.mark.parametrize("came", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("field", ["", "reasoning", "reasoning_content", "reasoning_details"])
def test_thoughts_go_back_where_they_came_whatever_the_row_says(came: str, field: str) -> None:
    message = answer(replace(PLAIN, field=field), thought("a", came), words("b"))
    assert message == {"role": "assistant", "content": "b", came: "a"}


@pytest.mark.parametrize("scope", list(ReplayScope))
def test_thoughts_that_were_between_tags_go_back_as_they_came(scope: ReplayScope) -> None:
    tagged = item(Kind.REASONING, "a", {"content": "<think>\na</think>\n\n"})
    message = answer(replace(PLAIN, field="reasoning_content", scope=scope), tagged, words("b"))
    assert message == {"role": "assistant", "content": "<think>\na</think>\n\nb"}


def test_a_server_may_want_all_thoughts_in_the_content() -> None:
    inside = replace(PLAIN, field=IN_CONTENT)
    assert answer(inside, thought("a", "reasoning"), words("b"))["content"] == "<think>a</think>b"
    assert answer(replace(inside, tags=()), thought("a ", "reasoning"), words("b"))["content"] == "a b"
    assert answer(inside, thought("a", "reasoning"), call(), result())["content"] == "<think>a</think>"


PARTS = [{"type": "thinking", "thinking": [{"type": "text", "text": "a"}], "closed": True}]


def test_thoughts_that_were_parts_of_the_content_go_back_as_parts() -> None:
    mistral = replace(PLAIN, scope=ReplayScope.NONE)
    thinking = item(Kind.REASONING, "a", {"content": PARTS})
    assert answer(mistral, thinking, words("b")) == {
        "role": "assistant",
        "content": [*PARTS, {"type": "text", "text": "b"}],
    }
    assert answer(mistral, thinking, call(), result())["content"] == PARTS


def test_two_questions_in_a_row_are_one() -> None:
    logged = [question("One?"), Logged("assistant", []), question("Two?"), Logged("assistant", [])]
    history = fold(logged, Target("p", "chat", "m", PLAIN))
    assert messages_of(Ask(model=MODEL, contract=PLAIN, history=history)) == [
        {"role": "user", "content": "One?\n\nTwo?"}
    ]


def test_a_call_without_a_name_goes_back_with_one() -> None:
    nameless = replace(
        call(), name="", wire={"id": "c", "function": {"name": "", "arguments": "{}"}}, text="{}"
    )
    *_, answered, told, _ = worded(PLAIN, nameless, result())
    function = {"name": "unknown", "arguments": "{}"}
    assert answered["tool_calls"] == [{"id": "call00001", "type": "function", "function": function}]
    assert told["tool_call_id"] == "call00001"


def test_details_that_came_for_a_text_go_back_to_the_model_that_made_them() -> None:
    wire = {"content": "b", "reasoning_details": DETAILS}
    sealed = item(Kind.ASSISTANT_MESSAGE, "b", wire)
    assert answer(PLAIN, sealed) == {"role": "assistant", "content": "b", "reasoning_details": DETAILS}
    assert "reasoning_details" not in answer(PLAIN, replace(sealed, model="other"))
    assert "reasoning_details" not in answer(PLAIN, sealed, repairs=frozenset({Repair.STALE}))


def test_what_is_counted_is_in_the_messages() -> None:
    detailed = item(Kind.REASONING, "c", {"reasoning_details": DETAILS, "reasoning": "c"})
    for contract in (PLAIN, replace(PLAIN, field=IN_CONTENT)):
        target = Target("p", "chat", "m", contract)
        said = [thought("a"), thought("b", "reasoning"), detailed, words("d")]
        history = fold([question(), Logged("assistant", said), question(), Logged("assistant", [])], target)
        asked = Ask(model=MODEL, contract=contract, history=history)
        sent = messages_of(asked)
        assert thoughts_in(asked, sent) == history.replayed == 3
        bare = [{"role": message["role"], "content": "d"} for message in sent]
        assert thoughts_in(asked, bare) == 0


def test_forbidden_thoughts_are_absent() -> None:
    assert answer(replace(PLAIN, scope=ReplayScope.NONE), thought("a"), words("b")) == {
        "role": "assistant",
        "content": "b",
    }


DETAILS = [{"type": "reasoning.text", "text": "a", "signature": "s", "index": 0}]


@pytest.mark.parametrize("field", ["", "reasoning_details"])
def test_reasoning_details_go_back_unchanged(field: str) -> None:
    detailed = item(Kind.REASONING, "a", {"reasoning_details": DETAILS, "reasoning": "a"})
    message = answer(replace(PLAIN, field=field), detailed, words("b"))
    assert message == {"role": "assistant", "content": "b", "reasoning_details": DETAILS}


@pytest.mark.parametrize("field", ["", "reasoning_content"])
def test_words_in_a_field_of_their_own_go_back_there_beside_their_details(field: str) -> None:
    """Whoever demands `reasoning_content` back does not look for it in the details."""
    wire = {"reasoning_details": DETAILS, "reasoning_content": "a"}
    contract = replace(PLAIN, field=field)
    message = answer(contract, item(Kind.REASONING, "a", wire), words("b"))
    assert message == {"role": "assistant", "content": "b", **wire}
    history = fold(
        [question(), Logged("assistant", [item(Kind.REASONING, "a", wire), words("b")]), question()],
        Target("p", "chat", "m", contract),
    )
    assert thoughts_in(Ask(model=MODEL, contract=contract, history=history), [message]) == 1


def test_without_details_the_words_go_back() -> None:
    message = answer(replace(PLAIN, field="reasoning_details"), thought("a", "reasoning"), words("b"))
    assert message == {"role": "assistant", "content": "b", "reasoning": "a"}


FILLERS = [
    (Filler.NEVER, False, False),
    (Filler.CALLS, False, True),
    (Filler.ALL, True, True),
]


@pytest.mark.parametrize(("filler", "words_filled", "call_filled"), FILLERS)
def test_messages_without_thoughts_are_filled_as_the_contract_says(
    filler: Filler, words_filled: bool, call_filled: bool
) -> None:
    contract = replace(PLAIN, field="reasoning_content", filler=filler)
    assert answer(contract, words("b")).get("reasoning_content") == ("" if words_filled else None)
    assert answer(contract, call(), result()).get("reasoning_content") == ("" if call_filled else None)


def test_an_answer_after_a_thought_is_filled_in_its_field() -> None:
    said = [words("a"), thought("b", "reasoning", number=1), words("c", number=1), words("d", number=2)]
    first, second, third = answers(replace(PLAIN, filler=Filler.SEEN), *said)
    assert [message.get("reasoning") for message in (first, second, third)] == [None, "b", ""]
    assert "reasoning_content" not in str([first, second, third])


def test_a_filler_never_takes_the_place_of_a_thought() -> None:
    contract = replace(PLAIN, field="reasoning_content", filler=Filler.ALL)
    assert answer(contract, thought("a"), words("b"))["reasoning_content"] == "a"


def test_with_thinking_off_neither_thoughts_nor_fillers_go_back() -> None:
    contract = replace(PLAIN, field="reasoning_content", filler=Filler.ALL)
    expected = {"role": "assistant", "content": "b"}
    assert answer(contract, thought("a"), words("b"), effort=OFF) == expected
    assert answer(contract, words("b"), effort=OFF) == expected


def test_a_model_s_refusal_goes_back_in_its_field() -> None:
    refusal = item(Kind.ASSISTANT_MESSAGE, "No.", {"refusal": "No."})
    assert answer(PLAIN, refusal) == {"role": "assistant", "content": None, "refusal": "No."}
    assert answer(PLAIN, words("b"), refusal) == {"role": "assistant", "content": "b", "refusal": "No."}
    elsewhere = replace(refusal, provider="another")
    assert answer(PLAIN, elsewhere) == {"role": "assistant", "content": "No."}


def test_what_a_refusal_taught_is_worded_for_every_row() -> None:
    learned = taught(replace(PLAIN, field="reasoning_details"), frozenset({Repair.REQUIRED}))
    assert answer(learned, words("b")) == {"role": "assistant", "content": "b", "reasoning": ""}


def test_another_models_answer_is_told_in_words() -> None:
    foreign = [thought("a", model="other"), words("b", model="other"), call(model="other"), result()]
    message = answer(PLAIN, *foreign)
    function = {"name": "tide", "arguments": '{"a": 1}'}
    assert message == {
        "role": "assistant",
        "content": "b",
        "tool_calls": [{"id": "call00001", "type": "function", "function": function}],
    }


def test_separate_messages_of_another_provider_are_paragraphs() -> None:
    foreign = [replace(words(text), provider="openai", dialect="responses") for text in ("I look.", "Found.")]
    assert answer(PLAIN, *foreign)["content"] == "I look.\n\nFound."


def test_a_foreign_call_without_arguments_has_empty_ones() -> None:
    foreign = replace(call(model="other"), text="")
    assert answer(PLAIN, foreign, result())["tool_calls"][0]["function"]["arguments"] == "{}"


def test_an_own_call_goes_back_as_it_came_even_where_it_is_no_json() -> None:
    own = replace(call(), wire={"id": "c", "x": 1, "function": {"name": "tide", "arguments": "{oops"}})
    assert answer(PLAIN, own, result())["tool_calls"] == [
        {"type": "function", "id": "c", "x": 1, "function": {"name": "tide", "arguments": "{oops"}}
    ]


def test_a_call_that_came_without_an_id_goes_back_with_ours() -> None:
    own = replace(call("call_0_0"), wire={"id": "", "type": "function", "function": {"name": "f"}})
    assert answer(PLAIN, own, result("call_0_0"))["tool_calls"][0]["id"] == "call_0_0"


def google(signature: str | None) -> Message:
    return {"extra_content": {"google": {"thought_signature": signature}}}


def signatures(items: Sequence[Item], **more: Any) -> list[Message | None]:
    calls = answer(SIGNED, *items, **more)["tool_calls"]
    return [one.get("extra_content") for one in calls]


def test_signatures_go_back_on_the_calls_that_had_them() -> None:
    items = [call("c", extra=google("s")), call("d"), result("c"), result("d")]
    assert signatures(items) == [google("s")["extra_content"], None]


SKIPPED = google(NO_SIGNATURE)["extra_content"]


def test_the_first_foreign_call_of_a_message_skips_the_check() -> None:
    items = [call("c", model="other"), call("d", model="other"), result("c"), result("d")]
    assert signatures(items) == [SKIPPED, None]


@pytest.mark.parametrize("lost", [google(None), google(""), {"extra_content": None}, {}])
def test_an_empty_signature_never_goes_back(lost: Message) -> None:
    items = [call("c", extra=lost), call("d", extra=google(None)), result("c"), result("d")]
    assert [extra for extra in signatures(items) if extra] == [SKIPPED]


def test_a_signature_that_came_after_a_repair_goes_back() -> None:
    """Which are refused for being older than the repair, the fold says."""
    items = [call("c", extra=google("fresh")), result("c")]
    assert signatures(items, repairs=frozenset({Repair.STALE})) == [google("fresh")["extra_content"]]


def test_signatures_stay_away_from_other_contracts() -> None:
    assert "extra_content" not in answer(PLAIN, call(), result())["tool_calls"][0]
