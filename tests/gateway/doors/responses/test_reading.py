"""What a request says is what is asked."""

from __future__ import annotations

import pytest

from chatapp.core.attached import Attached, AttachedKind
from chatapp.gateway.doors.asked import (
    Said,
    SaidBy,
    ToldAnswer,
    ToldCall,
    ToldOther,
    ToldResult,
    ToldThought,
    ToldWords,
)
from chatapp.gateway.doors.handed import Handed
from chatapp.gateway.doors.responses import DOOR
from chatapp.gateway.doors.responses.reading import generates
from chatapp.providers.base import OFF, Form

from .said import read, read_items, refusal

PICTURE = {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low"}


def part_of(item):
    [answer] = read_items(item)
    [part] = answer.parts
    return part


def attached(part):
    [said] = read_items({"role": "user", "content": [part]})
    [found] = said.parts
    return found


def test_a_string_is_a_message_of_the_user():
    [said] = read(input="Hello").history
    assert (said.role, said.text) == (SaidBy.USER, "Hello")
    assert said.wire["role"] == "user"


@pytest.mark.parametrize("role", ["user", "system", "developer"])
def test_a_message_may_do_without_a_type_and_parts(role):
    easy, whole = (
        read_items({"role": role, "content": "Hello"}),
        read_items({"type": "message", "role": role, "content": [{"type": "input_text", "text": "Hello"}]}),
    )
    assert easy[0].parts == whole[0].parts == ("Hello",)
    assert easy[0].role == whole[0].role == SaidBy(role)
    assert easy[0].wire == {"type": "message", "role": role, "content": "Hello"}


def test_instructions_come_first_and_are_no_item():
    first, second = read(instructions="Be brief.", input="Hello").history
    assert (first.role, first.text, first.wire) == (SaidBy.SYSTEM, "Be brief.", None)
    assert second.text == "Hello"


def test_what_a_model_said_stands_together_until_a_result_or_a_message_comes():
    history = read_items(
        {"role": "user", "content": "Weather?"},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "d", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "1"},
        {"type": "function_call_output", "call_id": "d", "output": "2"},
        {"role": "assistant", "content": "Warm."},
        {"role": "user", "content": "Thanks."},
    )
    assert [type(each) for each in history] == [Said, ToldAnswer, ToldResult, ToldResult, ToldAnswer, Said]
    assert [type(part) for part in history[1].parts] == [ToldThought, ToldCall, ToldCall]


def test_a_thought_is_its_summary_or_else_its_content():
    summary = [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]
    content = [{"type": "reasoning_text", "text": "c"}]
    item = {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "gAAA"}
    thought = part_of(item)
    assert (thought.text, thought.id, thought.seal, thought.wire) == ("a\n\nb", "rs_1", "gAAA", item)
    assert part_of({"type": "reasoning", "summary": [], "content": content}).text == "c"


def test_what_a_client_writes_down_as_null_was_not_said():
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "content": None, "status": None}
    assert part_of(item).wire == {"type": "reasoning", "id": "rs_1", "summary": []}


def test_an_assistant_s_words_keep_their_phase_for_a_model_that_knows_it():
    words = part_of({"role": "assistant", "content": "Hm.", "phase": "commentary", "id": "msg_1"})
    assert (words.text, words.id, words.wire["phase"]) == ("Hm.", "msg_1", "commentary")


def test_a_refusal_is_the_model_s_words():
    content = [{"type": "output_text", "text": "a"}, {"type": "refusal", "refusal": "b"}]
    assert part_of({"role": "assistant", "content": content}) == ToldWords(
        text="ab", wire={"type": "message", "role": "assistant", "content": content}
    )


def test_a_call_keeps_both_its_ids_and_its_arguments_to_the_letter():
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": '{ "a":1}'}
    call = part_of(item)
    assert (call.id, call.item_id, call.name, call.arguments) == ("call_1", "fc_1", "f", '{ "a":1}')
    assert call.wire == item


def test_a_result_is_words_or_parts():
    called = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    output = {
        "type": "function_call_output",
        "call_id": "c",
        "output": [{"type": "input_text", "text": "a"}, PICTURE],
    }
    _, result = read_items(called, output)
    assert (result.call_id, result.text, result.parts[1].data) == ("c", "a", "AAAA")


def test_items_of_other_kinds_stay_in_their_places_as_they_came():
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    [answer] = read_items(search, {"role": "assistant", "content": "Found."})
    assert answer.parts[0] == ToldOther(wire=search, id="ws_1")


def test_what_a_program_says_of_a_kind_of_its_own_is_no_part_of_what_a_model_said():
    called = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "x"}
    done = {"type": "custom_tool_call_output", "call_id": "c", "output": "done"}
    first, between, last = read_items(called, done, {"role": "assistant", "content": "Done."})
    assert [part.wire for part in between.parts] == [done]
    assert [type(part) for part in (*first.parts, *last.parts)] == [ToldOther, ToldWords]


def test_an_item_may_be_named_instead_of_told():
    assert part_of({"id": "msg_1"}) == part_of({"type": "item_reference", "id": "msg_1"})
    assert part_of({"id": "msg_1"}).wire == {"type": "item_reference", "id": "msg_1"}


@pytest.mark.parametrize(
    ("part", "found"),
    [
        (PICTURE, Attached(kind=AttachedKind.PICTURE, data="AAAA", media_type="image/png", detail="low")),
        (
            {"type": "input_image", "image_url": "https://a.example/a.png"},
            Attached(kind=AttachedKind.PICTURE, url="https://a.example/a.png"),
        ),
        ({"type": "input_image", "file_id": "f"}, Attached(kind=AttachedKind.PICTURE, file_id="f")),
        (
            {"type": "input_file", "file_data": "data:application/pdf;base64,AAAA", "filename": "a.pdf"},
            Attached(kind=AttachedKind.FILE, data="AAAA", media_type="application/pdf", name="a.pdf"),
        ),
        (
            {"type": "input_file", "file_data": "AAAA", "filename": "a.pdf"},
            Attached(kind=AttachedKind.FILE, data="AAAA", name="a.pdf"),
        ),
        (
            {"type": "input_file", "file_url": "https://a.example/a.pdf"},
            Attached(kind=AttachedKind.FILE, url="https://a.example/a.pdf"),
        ),
        ({"type": "input_file", "file_id": "f"}, Attached(kind=AttachedKind.FILE, file_id="f")),
        (
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            Attached(kind=AttachedKind.FILE, data="AAAA", media_type="audio/wav"),
        ),
        ({"type": "input_hologram"}, Attached(kind=AttachedKind.FILE, name="input_hologram")),
    ],
)
def test_pictures_and_files_are_where_the_request_says(part, found):
    assert attached(part) == found


def test_a_request_without_a_word_about_it_is_kept_and_not_streamed():
    asked = read()
    assert (asked.store, asked.stream, asked.previous, asked.effort) == (True, False, "", "")
    assert read(store=False, stream=True).store is False


@pytest.mark.parametrize(("said", "effort"), [("high", "high"), ("none", OFF), (None, "")])
def test_effort_is_the_program_s_word(said, effort):
    assert read(reasoning={"effort": said}).effort == effort


def test_wishes_that_all_have_words_for_are_read():
    wishes = read(temperature=1, top_p=0.5, max_output_tokens=16, parallel_tool_calls=False).wishes
    assert (wishes.temperature, wishes.top_p, wishes.most_output, wishes.parallel) == (1, 0.5, 16, False)


def test_the_form_of_an_answer_is_read():
    schema = {
        "type": "json_schema",
        "name": "a",
        "description": "b",
        "schema": {"type": "object"},
        "strict": True,
    }
    assert read(text={"format": schema}).wishes.form == Form(
        name="a", description="b", schema={"type": "object"}, strict=True
    )
    assert read(text={"format": {"type": "json_object"}}).wishes.form == Form()
    assert read(text={"format": {"type": "text"}}).wishes.form is None


def test_what_one_dialect_alone_knows_goes_on_as_it_came():
    body = {
        "include": ["web_search_call.action.sources"],
        "metadata": {"a": "b"},
        "prompt_cache_key": "k",
        "reasoning": {"effort": "low", "summary": "auto", "context": "all_turns"},
        "text": {"format": {"type": "json_object"}, "verbosity": "low"},
        "client_metadata": {"x": "y"},
        "never_heard_of": [1, 2],
        "truncation": None,
    }
    wishes = read(**body, stream=True, stream_options={}, store=True).wishes
    assert wishes.dialect == "responses"
    assert wishes.extras == {
        "include": ["web_search_call.action.sources"],
        "metadata": {"a": "b"},
        "prompt_cache_key": "k",
        "reasoning": {"summary": "auto", "context": "all_turns"},
        "text": {"verbosity": "low"},
        "client_metadata": {"x": "y"},
        "never_heard_of": [1, 2],
    }


def test_a_form_of_an_unknown_kind_is_left_to_the_dialect():
    form = {"type": "grammar", "syntax": "lark"}
    asked = read(text={"format": form})
    assert asked.wishes.form is None
    assert asked.wishes.extras["text"] == {"format": form}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"background": True}, "background"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"model": 7}, "model"),
        ({"input": 7}, "input"),
        ({"input": None}, "input"),
        ({"input": []}, "input"),
        ({"input": [], "instructions": "Be brief."}, "input"),
        ({"input": ["a"]}, "input[0]"),
        ({"input": [{}]}, "input[0].type"),
        ({"input": [{"role": "critic", "content": "a"}]}, "input[0].role"),
        ({"input": [{"role": "user"}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": 7}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": [{"type": "input_text"}]}]}, "input[0].content[0].text"),
        ({"input": [{"role": "user", "content": [{"text": "a"}]}]}, "input[0].content[0].type"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
            "input[0].content[0].image_url",
        ),
        ({"input": [{"type": "function_call", "name": "f", "arguments": "{}"}]}, "input[0].call_id"),
        (
            {"input": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": {}}]},
            "input[0].arguments",
        ),
        ({"input": [{"type": "function_call_output", "call_id": "c", "output": 7}]}, "input[0].output"),
        ({"input": [{"type": "function_call_output", "call_id": "c", "output": "a"}]}, "input[0].call_id"),
        ({"instructions": ["a"]}, "instructions"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": 3}, "temperature"),
        ({"top_p": True}, "top_p"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"max_output_tokens": 1.5}, "max_output_tokens"),
        ({"stream": "yes"}, "stream"),
        ({"store": 1}, "store"),
        ({"metadata": {"a": 7}}, "metadata.a"),
        ({"include": "all"}, "include"),
        ({"truncation": "some"}, "truncation"),
        ({"reasoning": "high"}, "reasoning"),
        ({"reasoning": {"effort": 7}}, "reasoning.effort"),
        ({"text": {"format": {"type": "json_schema", "name": "a"}}}, "text.format.schema"),
        ({"previous_response_id": 7}, "previous_response_id"),
        ({"tools": {}}, "tools"),
        ({"tools": [{"name": "f"}]}, "tools[0].type"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"tools": [{"type": "function", "name": "f", "parameters": "{}"}]}, "tools[0].parameters"),
        ({"tool_choice": "sometimes"}, "tool_choice"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tool_choice": {"type": "function", "name": "f"}}, "tool_choice.name"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(body, param):
    wrong = refusal(**body)
    assert (wrong.status, wrong.param) == (400, param)
    assert wrong.sentence.endswith(".")


@pytest.mark.parametrize("body", [None, 7, "a", [], True])
def test_only_an_object_is_a_request(body):
    with pytest.raises(Exception, match=r"must be an object"):
        DOOR.read(body, {})


def test_a_request_in_the_background_is_refused_in_words():
    assert "while its program is connected" in refusal(background=True).sentence
    assert read(background=False)


def test_the_result_of_a_call_of_ours_may_come_alone():
    """It is found by its id."""
    [result] = read_items(
        {"type": "function_call_output", "call_id": Handed().item("call_", "a"), "output": "1"}
    )
    assert isinstance(result, ToldResult)


def test_a_request_that_goes_on_from_another_may_say_nothing_itself():
    assert read(input=None, previous_response_id="resp_1").previous == "resp_1"
    assert read(
        input=[{"type": "function_call_output", "call_id": "c", "output": "1"}], previous_response_id="resp_1"
    )


def test_a_connection_may_be_warmed_up_without_a_word():
    assert not generates(read(input=[], generate=False))
    assert generates(read())
