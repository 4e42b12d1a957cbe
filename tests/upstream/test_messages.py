"""`POST /v1/messages`: right replays pass, and each wrong one gets its own error."""

from __future__ import annotations

import anthropic
import pytest

from .sdk import CLEAN_NO_FAIL, USER, ant, raw_item, valid


def ms(client, **kw):
    """Final message through the SDK's own accumulator."""
    kw = {"max_tokens": 4096, "thinking": {"type": "adaptive"}, **kw}
    with client.messages.stream(**kw) as s:
        return s.get_final_message()


def blocks(message):
    return [{k: v for k, v in raw_item(b).items() if k != "parsed_output"} for b in message.content]


@pytest.mark.parametrize("name", CLEAN_NO_FAIL)
def test_a_stream_fits_the_client_and_its_blocks_are_in_order(up, name):
    raw = ant(up).messages.create(
        model=f"scenario:{name}",
        max_tokens=4096,
        thinking={"type": "adaptive"},
        messages=[{"role": "user", "content": "hello"}],
        stream=True,
    )
    events = [valid(e) for e in raw]
    types = [e.type for e in events]
    assert types[0] == "message_start" and types[-2:] == ["message_delta", "message_stop"]
    open_block = None
    for e in events[1:-2]:
        if e.type == "content_block_start":
            assert open_block is None
            open_block = e.index
            valid(e.content_block)
        elif e.type == "content_block_stop":
            assert e.index == open_block
            open_block = None
        else:
            assert e.index == open_block
            valid(e.delta)


@pytest.mark.parametrize("name", CLEAN_NO_FAIL)
def test_a_whole_answer_fits_the_client(up, name):
    m = valid(
        ant(up).messages.create(
            model=f"scenario:{name}",
            max_tokens=4096,
            thinking={"type": "adaptive"},
            messages=[{"role": "user", "content": "hello"}],
        )
    )
    for b in m.content:
        valid(b)


def result(tool, text="40 C"):
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": tool["id"], "content": text}]}


@pytest.mark.parametrize("mode", [{"type": "adaptive"}, {"type": "enabled", "budget_tokens": 1024}])
def test_a_tool_s_turn_goes_back_and_goes_on(up, mode):
    c = ant(up)
    first = blocks(ms(c, model="scenario:tool-loop", messages=[USER], thinking=mode))
    assert [b["type"] for b in first] == ["thinking", "tool_use"] and first[1]["input"] == {
        "city": "Florence, Italy"
    }
    history = [USER, {"role": "assistant", "content": first}, result(first[1])]
    second = ms(c, model="scenario:tool-loop", messages=history, thinking=mode)
    assert blocks(second)[-1]["text"] == "The tool says: 40 C." and second.stop_reason == "end_turn"
    # later turn: earlier thinking may stay or go
    tail = [{"role": "assistant", "content": blocks(second)}, {"role": "user", "content": "more"}]
    ms(c, model="scenario:tool-loop", messages=history + tail, thinking=mode)
    bare = [USER, {"role": "assistant", "content": first[1:]}, result(first[1]), *tail]
    ms(c, model="scenario:tool-loop", messages=bare, thinking=mode)


def test_a_thought_that_an_earlier_step_lost_is_noted(up):
    c = ant(up)
    one = blocks(ms(c, model="scenario:two-step-tools", messages=[USER]))
    h = [USER, {"role": "assistant", "content": one}, result(one[1])]
    two = blocks(ms(c, model="scenario:two-step-tools", messages=h))
    tail = [{"role": "assistant", "content": two}, result(two[1])]
    ms(c, model="scenario:two-step-tools", messages=h + tail)
    assert up.requests()[-1]["notes"] == []
    ms(
        c,
        model="scenario:two-step-tools",
        messages=[USER, {"role": "assistant", "content": one[1:]}, h[2], *tail],
    )
    assert "earlier step" in up.requests()[-1]["notes"][0]


def ms_bad(first):
    th, tu = first
    sig = th["signature"]
    flip = sig[:60] + ("A" if sig[60] != "A" else "B") + sig[61:]
    a = lambda *b: [USER, {"role": "assistant", "content": list(b)}, result(tu)]  # noqa: E731
    return {
        "thinking dropped": (
            a(tu),
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`",
        ),
        "text in front": (a({"type": "text", "text": "x"}, tu), "but found `text`"),
        "text changed": (
            a({**th, "thinking": th["thinking"] + "."}, tu),
            "blocks in the latest assistant message cannot be modified",
        ),
        "signature changed": (
            a({**th, "signature": flip}, tu),
            "messages.1.content.0: Invalid `signature` in `thinking` block",
        ),
        "signature missing": (
            a({"type": "thinking", "thinking": "x"}, tu),
            "messages.1.content.0.thinking.signature: Field required",
        ),
        "signature of an OpenAI blob": (a({**th, "signature": "gAAAAABxyz"}, tu), "Invalid `signature`"),
        "extra field": (
            a({**th, "duration": 3}, tu),
            "messages.1.content.0.thinking.duration: Extra inputs are not permitted",
        ),
        "cache_control on thinking": (
            a({**th, "cache_control": {"type": "ephemeral"}}, tu),
            "Extra inputs are not permitted",
        ),
        "no tool_result": (
            [USER, {"role": "assistant", "content": [th, tu]}, USER],
            f"`tool_use` ids were found without `tool_result` blocks immediately after: {tu['id']}",
        ),
        "tool_result alone": ([USER, result(tu)], "unexpected `tool_use_id` found in `tool_result` blocks"),
        "ends with thinking": (
            [USER, {"role": "assistant", "content": [th]}, USER],
            "The final block in an assistant message cannot be `thinking`",
        ),
        "empty text": (
            [USER, {"role": "assistant", "content": [{"type": "text", "text": ""}]}, USER],
            "text content blocks must be non-empty",
        ),
        "forged redacted": (
            a({"type": "redacted_thinking", "data": "abc"}, tu),
            "Invalid `data` in `redacted_thinking` block",
        ),
    }


@pytest.mark.parametrize("case", sorted(ms_bad([{"signature": "x" * 99, "thinking": ""}, {"id": "t"}])))
def test_each_wrong_replay_gets_its_own_error(up, case):
    c = ant(up)
    first = blocks(ms(c, model="scenario:tool-loop", messages=[USER]))
    messages, text = ms_bad(first)[case]
    with pytest.raises(anthropic.BadRequestError) as e:
        ms(c, model="scenario:tool-loop", messages=messages)
    assert text in e.value.api_message and e.value.type == "invalid_request_error"


def test_hidden_thoughts_go_back_in_their_order(up):
    m = up.add(
        "mine-redacted",
        {
            "turns": [
                {
                    "items": [
                        {"reasoning": {"summary": "open part"}},
                        {"reasoning": {"summary": "secret", "redacted": True}},
                        {"tool": {"name": "get_time", "args": {}}},
                    ]
                },
                {"items": [{"text": "ok"}]},
            ]
        },
    )
    c = ant(up)
    t, r, u = blocks(ms(c, model=m, messages=[USER]))
    assert (t["type"], r["type"]) == ("thinking", "redacted_thinking") and r["data"]
    ms(c, model=m, messages=[USER, {"role": "assistant", "content": [t, r, u]}, result(u)])
    for wrong in ([r, t, u], [t, u], [r, u]):
        with pytest.raises(anthropic.BadRequestError, match="cannot be modified"):
            ms(c, model=m, messages=[USER, {"role": "assistant", "content": wrong}, result(u)])


def test_no_thought_goes_back_where_thinking_is_off(up):
    c = ant(up)
    first = blocks(ms(c, model="scenario:tool-loop", messages=[USER]))
    h = [USER, {"role": "assistant", "content": first}, result(first[1])]
    with pytest.raises(anthropic.BadRequestError, match="When thinking is disabled"):
        ms(c, model="scenario:tool-loop", messages=h, thinking={"type": "disabled"})
    h[1] = {"role": "assistant", "content": first[1:]}
    ms(c, model="scenario:tool-loop", messages=h, thinking={"type": "disabled"})
    assert [
        b["type"]
        for b in blocks(ms(c, model="scenario:tool-loop", messages=[USER], thinking={"type": "disabled"}))
    ] == ["tool_use"]


def test_preserved_thinking_is_bound_to_all_before_it(up):
    c = ant(up)
    m = "scenario:preserved-thinking"
    a = {"role": "assistant", "content": blocks(ms(c, model=m, messages=[USER], system="S"))}
    ok = [USER, a, {"role": "user", "content": "more"}]
    ms(c, model=m, messages=ok, system="S")
    ms(
        c,
        model=m,
        messages=ok,
        system=[{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}],
    )
    edited = [{"role": "user", "content": "edited question"}, *ok[1:]]
    for kw, part in (
        ({"system": "S2", "messages": ok}, "The `system` prompt differs"),
        ({"system": "S", "messages": edited}, "An earlier message differs"),
    ):
        with pytest.raises(anthropic.BadRequestError) as e:
            ms(c, model=m, **kw)
        assert "bound to a different conversation" in e.value.api_message and part in e.value.api_message
    r = c.beta.messages.create(
        model=m,
        max_tokens=4096,
        messages=edited,
        system="S",
        betas=["thinking-binding-controls-2026-08-01"],
        thinking={"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
    )
    assert [(t.type, t.reason, t.path) for t in r.input_transformations] == [
        ("thinking_dropped", "prefix_binding_mismatch", "messages.1.content.0")
    ]


def test_thoughts_that_are_not_shown_go_back_all_the_same(up):
    c = ant(up)
    first = blocks(ms(c, model="scenario:omitted-thinking", messages=[USER]))
    assert first[0]["thinking"] == "" and first[0]["signature"]
    ms(
        c,
        model="scenario:omitted-thinking",
        messages=[USER, {"role": "assistant", "content": first}, result(first[1])],
    )
    shown = blocks(
        ms(
            c,
            model="scenario:omitted-thinking",
            messages=[USER],
            thinking={"type": "adaptive", "display": "summarized"},
        )
    )
    assert shown[0]["thinking"]


def test_a_budget_a_mode_a_key_and_a_model_that_do_not_fit_are_refused(up):
    c = ant(up)
    for kw, text in (
        ({"thinking": {"type": "enabled", "budget_tokens": 500}}, "greater than or equal to 1024"),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 9000}},
            "must be greater than `thinking.budget_tokens`",
        ),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 2000}, "tool_choice": {"type": "any"}},
            "tool_choice forces",
        ),
    ):
        with pytest.raises(anthropic.BadRequestError) as e:
            ms(c, model="scenario:plain", messages=[USER], **kw)
        assert text in e.value.api_message
    for mode in ({"type": "disabled"}, {"type": "enabled", "budget_tokens": 2000}):
        with pytest.raises(anthropic.BadRequestError, match="is not supported for this model"):
            ms(c, model="scenario:preserved-thinking", messages=[USER], thinking=mode)
    with pytest.raises(anthropic.AuthenticationError):
        ms(ant(up, key="sk-bad-1"), model="scenario:plain", messages=[USER])
    with pytest.raises(anthropic.NotFoundError):
        ms(c, model="claude-nope", messages=[USER])
