"""`POST /v1/responses`: right replays pass, and each wrong one gets its own error."""

from __future__ import annotations

import openai
import pytest

from .sdk import ALL, CLEAN, ENC, SUMMARY, TOOL, oai, out, raw_item, rs_stream, valid


def check_order(events):
    types = [e.type for e in events]
    assert types[:2] == ["response.created", "response.in_progress"]
    assert types[-1] in ("response.completed", "response.incomplete", "response.failed")
    assert [e.sequence_number for e in events] == list(range(len(events)))
    open_item, texts = None, {}
    for e in events[2:-1]:
        if e.type == "response.output_item.added":
            assert open_item is None
            open_item = (e.output_index, e.item.id)
        elif e.type == "response.output_item.done":
            assert (e.output_index, e.item.id) == open_item
            open_item = None
        else:
            assert (e.output_index, e.item_id) == open_item
            slot = (e.item_id, getattr(e, "summary_index", None), getattr(e, "content_index", None))
            if e.type.endswith(".delta"):
                texts[slot] = texts.get(slot, "") + e.delta
            elif e.type.endswith((".text.done", "_text.done")):
                assert texts.get(slot, "") == e.text
            elif e.type == "response.function_call_arguments.done":
                assert texts.get(slot, "") == e.arguments
    done = [raw_item(e.item) for e in events if e.type == "response.output_item.done"]
    final = [raw_item(i) for i in events[-1].response.output]
    strip = lambda items: [{k: v for k, v in i.items() if k != "encrypted_content"} for i in items]  # noqa: E731
    assert strip(done) == strip(final)


@pytest.mark.parametrize("name", CLEAN)
def test_a_stream_fits_the_client_and_its_events_are_in_order(up, name):
    events, _ = rs_stream(oai(up), model=f"scenario:{name}", input="hello", tools=TOOL)
    check_order(events)
    valid(events[-1].response)


@pytest.mark.parametrize("name", CLEAN)
def test_a_whole_answer_fits_the_client(up, name):
    r = valid(
        oai(up).responses.create(
            model=f"scenario:{name}", input="hello", reasoning=SUMMARY, include=ENC, store=False
        )
    )
    assert (
        r.output and r.usage is None
    ) or r.usage.total_tokens == r.usage.input_tokens + r.usage.output_tokens


def test_the_client_s_own_helper_reads_a_stream(up):
    with oai(up).responses.stream(model="scenario:one-reasoning", input="q", reasoning=SUMMARY) as s:
        for _ in s:
            pass
        assert s.get_final_response().output_text.endswith("forty-two.")


def test_what_is_shown_follows_the_request(up):
    c = oai(up)
    _, items = rs_stream(
        c, model="scenario:one-reasoning", input="q", include=[], reasoning={"effort": "low"}
    )
    assert items[0]["summary"] == [] and "encrypted_content" not in items[0]
    _, items = rs_stream(c, model="scenario:one-reasoning", input="q", reasoning={"effort": "none"})
    assert [i["type"] for i in items] == ["message"]
    ev, _ = rs_stream(
        c,
        model="scenario:one-reasoning",
        input="q",
        extra_body={"stream_options": {"include_obfuscation": False}},
    )
    assert not any((e.model_extra or {}).get("obfuscation") for e in ev)
    ev, _ = rs_stream(c, model="scenario:raw-reasoning", input="q")
    assert "response.reasoning_text.delta" in [e.type for e in ev]
    blobs = [
        i.encrypted_content
        for e in rs_stream(c, model="scenario:one-reasoning", input="q")[0]
        if e.type in ("response.output_item.added", "response.output_item.done")
        and e.item.type == "reasoning"
        for i in [e.item]
    ]
    assert len(set(blobs)) == 2 and all(b.startswith("gAAAA") for b in blobs)


def test_a_tool_s_turn_goes_back_and_goes_on(up):
    c = oai(up)
    for _ in range(2):  # two user turns, each with a tool call
        inp = [{"role": "user", "content": "weather?"}]
        for _step in range(2):
            _, items = rs_stream(c, model="scenario:tool-loop", input=inp)
            inp += items
            inp += [out(i) for i in items if i["type"] == "function_call"]
        assert items[-1]["content"][0]["text"] == "The tool says: 40 C."
        inp.append({"role": "user", "content": "again"})
        _, items = rs_stream(c, model="scenario:tool-loop", input=inp)
        assert items[-1]["type"] == "function_call"


def test_what_came_whole_goes_back_too(up):
    c = oai(up)
    r = c.responses.create(model="scenario:tool-loop", input="w", reasoning=SUMMARY, include=ENC, store=False)
    inp = [{"role": "user", "content": "w"}] + [raw_item(i) for i in r.output]
    r2 = c.responses.create(model="scenario:tool-loop", input=[*inp, out(inp[-1])], store=False)
    assert r2.output_text == "The tool says: 40 C."


def test_ids_tie_items_together(up):
    """With ids: all of the group, with ids. Without ids: order is enough, and reasoning may be left out."""
    c = oai(up)
    _, (rs, fc) = rs_stream(c, model="scenario:tool-loop", input="w")
    user = {"role": "user", "content": "w"}
    fc_no_id = {k: v for k, v in fc.items() if k not in ("id", "status")}
    rs_no_id = {k: v for k, v in rs.items() if k != "id"}
    for middle in ([rs, fc], [fc_no_id], [rs_no_id, fc_no_id]):
        _, items = rs_stream(c, model="scenario:tool-loop", input=[user, *middle, out(fc)])
        assert items[-1]["type"] == "message"
    with pytest.raises(openai.BadRequestError, match="without its required 'reasoning' item"):
        rs_stream(c, model="scenario:tool-loop", input=[user, rs_no_id, fc, out(fc)])
    with pytest.raises(openai.BadRequestError, match="without its required following item"):
        rs_stream(c, model="scenario:tool-loop", input=[user, rs, fc_no_id, out(fc)])
    m = up.add("mine-by-position", {**ALL["tool-loop"].data, "responses": {"pairing": "position"}})
    _, (rs, fc) = rs_stream(c, model=m, input="w")
    rs_stream(c, model=m, input=[user, rs, {k: v for k, v in fc.items() if k != "id"}, out(fc)])


def mut(item, **kw):
    new = {**item, **kw}
    return {k: v for k, v in new.items() if v is not ...}


def bad_replays(rs, fc, added):
    """name -> (items after the user message, status, code, part of the message)."""
    o = out(fc)
    blob = rs["encrypted_content"]
    flip = blob[:80] + ("A" if blob[80] != "A" else "B") + blob[81:]
    return {
        "reasoning alone": ([rs], 400, None, "without its required following item"),
        "reasoning then user": (
            [rs, {"role": "user", "content": "x"}, fc, o],
            400,
            None,
            "required following item",
        ),
        "reasoning after its call": (
            [fc, rs, o],
            400,
            None,
            f"without its required 'reasoning' item: '{rs['id']}'",
        ),
        "call without reasoning": (
            [fc, o],
            400,
            None,
            f"Item '{fc['id']}' of type 'function_call' was provided "
            f"without its required 'reasoning' item: '{rs['id']}'.",
        ),
        "call without output": (
            [rs, fc],
            400,
            None,
            f"No tool output found for function call {fc['call_id']}.",
        ),
        "output without call": ([o], 400, None, "No tool call found for function call output with call_id"),
        "altered blob": (
            [mut(rs, encrypted_content=flip), fc, o],
            400,
            "invalid_encrypted_content",
            "could not be verified",
        ),
        "made-up blob": (
            [mut(rs, encrypted_content="gAAAAABhello"), fc, o],
            400,
            "invalid_encrypted_content",
            "verified",
        ),
        "blob from output_item.added": (
            [mut(rs, encrypted_content=added), fc, o],
            400,
            "invalid_encrypted_content",
            "",
        ),
        "altered summary": (
            [mut(rs, summary=[]), fc, o],
            400,
            "invalid_encrypted_content",
            "could not be verified",
        ),
        "other id": (
            [mut(rs, id=rs["id"][:-1] + ("0" if rs["id"][-1] != "0" else "1")), fc, o],
            400,
            "invalid_encrypted_content",
            "item_id did not match",
        ),
        "no summary field": (
            [mut(rs, summary=...), fc, o],
            400,
            "missing_required_parameter",
            "input[1].summary",
        ),
        "status on reasoning": (
            [mut(rs, status="completed"), fc, o],
            400,
            "unknown_parameter",
            "Unknown parameter: 'input[1].status'.",
        ),
        "our own field": ([mut(rs, duration=3), fc, o], 400, "unknown_parameter", "input[1].duration"),
        "no blob, store false": (
            [mut(rs, encrypted_content=...), fc, o],
            404,
            None,
            f"Item with id '{rs['id']}' not found. Items are not persisted when `store` is set",
        ),
        "item_reference": ([{"type": "item_reference", "id": rs["id"]}, fc, o], 404, None, "not persisted"),
        "duplicate item": ([rs, fc, o, rs, fc], 400, None, f"Duplicate item found with id {rs['id']}."),
        "wrong id prefix": (
            [mut(rs, id="item_1"), fc, o],
            400,
            "invalid_value",
            "Expected an ID that begins with 'rs'.",
        ),
        "input_text in assistant": (
            [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}],
            400,
            "invalid_value",
            "Supported values are: 'output_text' and 'refusal'",
        ),
    }


@pytest.mark.parametrize(
    "case", sorted(bad_replays({"id": "rs_0", "encrypted_content": "x" * 99}, {"id": "", "call_id": ""}, ""))
)
def test_each_wrong_replay_gets_its_own_error(up, case):
    c = oai(up)
    events, (rs, fc) = rs_stream(c, model="scenario:tool-loop", input="w")
    added = next(e.item.encrypted_content for e in events if e.type == "response.output_item.added")
    items, status, code, text = bad_replays(rs, fc, added)[case]
    with pytest.raises(openai.APIStatusError) as e:
        rs_stream(c, model="scenario:tool-loop", input=[{"role": "user", "content": "w"}, *items])
    assert (e.value.status_code, e.value.code) == (status, code) and text in e.value.message
    assert up.requests()[-1]["outcome"] == "error"


def test_a_thought_belongs_to_its_model_and_organization(up):
    c = oai(up)
    _, (rs, fc) = rs_stream(c, model="scenario:tool-loop", input="w")
    inp = [{"role": "user", "content": "w"}, rs, fc, out(fc)]
    with pytest.raises(openai.BadRequestError, match="different model"):
        rs_stream(c, model="scenario:tool-loop@mini", input=inp)
    with pytest.raises(openai.BadRequestError, match="organization_id did not match"):
        rs_stream(oai(up, key="sk-orgB-1"), model="scenario:tool-loop", input=inp)
    rs_stream(oai(up, key="sk-orgA-2"), model="scenario:tool-loop", input=inp)  # same org, other key
    bare = [{"role": "user", "content": "w"}, mut(fc, id=...), out(fc)]  # the model guard's way out
    rs_stream(c, model="scenario:tool-loop@mini", input=bare)


def test_a_thought_of_another_model_can_be_dropped_instead(up):
    m = up.add("mine-drop-mode", {**ALL["tool-loop"].data, "responses": {"on_model_mismatch": "drop"}})
    c = oai(up)
    _, (rs, fc) = rs_stream(c, model=m, input="w")
    r = c.responses.create(
        model=m + "@mini", input=[{"role": "user", "content": "w"}, rs, fc, out(fc)], store=False
    )
    valid(r)
    assert [(t.id, t.reason) for t in r.input_transformations] == [(rs["id"], "model_mismatch")]


def test_two_thoughts_keep_their_order_and_their_followers(up):
    c = oai(up)
    _, (r1, r2, msg) = rs_stream(c, model="scenario:two-reasoning-items", input="q")
    assert len(r2["summary"]) == 3
    user = {"role": "user", "content": "q"}
    more = {"role": "user", "content": "next"}
    rs_stream(c, model="scenario:two-reasoning-items", input=[user, r1, r2, msg, more])
    rs_stream(c, model="scenario:two-reasoning-items", input=[user, mut(msg, id=..., status=...), more])
    for wrong in ([r2, r1, msg], [r1, msg, r2], [r1, r2]):
        with pytest.raises(openai.BadRequestError, match="without its required"):
            rs_stream(c, model="scenario:two-reasoning-items", input=[user, *wrong, more])
    with pytest.raises(
        openai.BadRequestError, match="of type 'message' was provided without its required 'reasoning'"
    ):
        rs_stream(c, model="scenario:two-reasoning-items", input=[user, msg, more])


def test_a_thought_that_nothing_follows_does_not_go_back(up):
    c = oai(up)
    events, items = rs_stream(c, model="scenario:incomplete", input="q")
    assert events[-1].type == "response.incomplete"
    assert events[-1].response.incomplete_details.reason == "max_output_tokens"
    user = {"role": "user", "content": "q"}
    with pytest.raises(openai.BadRequestError, match="required following item"):
        rs_stream(c, model="scenario:incomplete", input=[user, *items, user])
    rs_stream(c, model="scenario:incomplete", input=[user, user])


def test_a_stale_thought_is_refused_and_may_be_left_out(up):
    c = oai(up)
    _, (rs, msg) = rs_stream(c, model="scenario:stale-blob", input="q")
    user = {"role": "user", "content": "q"}
    with pytest.raises(openai.BadRequestError) as e:
        rs_stream(c, model="scenario:stale-blob", input=[user, rs, msg, user])
    assert e.value.code == "invalid_encrypted_content"
    _, items = rs_stream(c, model="scenario:stale-blob", input=[user, mut(msg, id=..., status=...), user])
    assert items[-1]["content"][0]["text"] == "Second answer."


def test_what_is_stored_is_known_by_its_id(up):
    c = oai(up)
    r = c.responses.create(model="scenario:tool-loop", input="w", reasoning=SUMMARY)
    fc = raw_item(r.output[-1])
    r2 = c.responses.create(model="scenario:tool-loop", previous_response_id=r.id, input=[out(fc)])
    assert r2.output_text == "The tool says: 40 C."
    refs = (
        [{"role": "user", "content": "w"}]
        + [{"type": "item_reference", "id": i.id} for i in r.output]
        + [out(fc)]
    )
    assert c.responses.create(model="scenario:tool-loop", input=refs).output_text
    with pytest.raises(openai.BadRequestError) as e:
        c.responses.create(model="scenario:tool-loop", previous_response_id="resp_nope", input="x")
    assert e.value.code == "previous_response_not_found"
    with pytest.raises(openai.BadRequestError):  # the output of the call is missing
        c.responses.create(model="scenario:tool-loop", previous_response_id=r.id, input="x")


def test_words_before_a_call_are_commentary(up):
    _, (_, msg, fc) = rs_stream(oai(up), model="scenario:phases", input="q")
    assert msg["phase"] == "commentary" and fc["type"] == "function_call"


def test_an_effort_a_model_and_a_key_that_do_not_exist_are_refused(up):
    c = oai(up)
    with pytest.raises(openai.BadRequestError, match="Supported values are: 'none'"):
        c.responses.create(model="scenario:plain", input="x", reasoning={"effort": "huge"})
    with pytest.raises(openai.NotFoundError) as e:
        c.responses.create(model="gpt-nope", input="x")
    assert e.value.code == "model_not_found"
    with pytest.raises(openai.AuthenticationError):
        oai(up, key="sk-bad-1").responses.create(model="scenario:plain", input="x")


# The client opens its socket in a way that the library no longer likes.
@pytest.mark.filterwarnings("ignore:connect\\(\\) must be used:DeprecationWarning")
def test_a_websocket_keeps_its_own_last_response(up):
    with oai(up).responses.connect() as socket:

        def end_of(**asked):
            socket.response.create(store=False, **asked)
            return next(event for event in socket if event.type in ("response.completed", "error"))

        first = end_of(model="scenario:tool-loop", input="w").response
        results = [out(raw_item(first.output[-1]))]
        second = end_of(model="scenario:tool-loop", input=results, previous_response_id=first.id)
        assert second.response.output_text == "The tool says: 40 C."
        third = end_of(model="scenario:plain", input="x", previous_response_id="resp_nope")
        assert (third.type, third.error.code) == ("error", "previous_response_not_found")
