"""`POST /v1/chat/completions`: every dialect gets its thoughts back as it wants them, or refuses."""

from __future__ import annotations

import openai
import pytest

from .chat import profiles
from .sdk import USER, oai, valid


def cc(client, **kw):
    """(chunks, merged message with all extra delta fields)."""
    kw = {"stream_options": {"include_usage": True}, **kw}
    chunks = [valid(x) for x in client.chat.completions.create(stream=True, **kw)]
    msg: dict = {"role": "assistant", "content": ""}
    for ch in chunks:
        for choice in ch.choices:
            d = choice.delta.model_dump(exclude_unset=True)
            for k in ("content", "reasoning_content", "reasoning"):
                if d.get(k):
                    msg[k] = msg.get(k, "") + d[k]
            for t in d.get("tool_calls") or []:
                calls = msg.setdefault("tool_calls", [])
                if t["index"] == len(calls):
                    calls.append({k: v for k, v in t.items() if k != "index"})
                else:
                    calls[t["index"]]["function"]["arguments"] += t["function"]["arguments"]
    msg["content"] = msg["content"] or None
    return chunks, msg


PROFILES = sorted(profiles.PROFILES)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", ["tool-loop", "two-reasoning-items", "load"])
def test_a_stream_fits_the_client_in_every_dialect(up, profile, name):
    longer = {"x-upstream-speed": "chunk=64"} if name == "load" else {}
    chunks, msg = cc(oai(up), model=f"scenario:{name}@{profile}", messages=[USER], extra_headers=longer)
    emit = profiles.PROFILES[profile]["emit"]
    if emit.startswith("reasoning"):
        assert msg[emit]
    assert (
        any(ch.usage for ch in chunks) and chunks[-1].usage.completion_tokens_details
    ) or profile == "llamacpp"
    finishes = [c.finish_reason for ch in chunks for c in ch.choices if c.finish_reason]
    assert set(finishes) == {"tool_calls" if name == "tool-loop" else "stop"}
    plain = valid(oai(up).chat.completions.create(model=f"scenario:{name}@{profile}", messages=[USER]))
    assert (plain.choices[0].message.content or None) == msg["content"]


def tool_msg(call, text="40 C"):
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


STRICT = {
    "deepseek": "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "deepseek-v3.2": "Missing `reasoning_content` field in the assistant message at message index 1",
    "kimi": "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
}


@pytest.mark.parametrize(
    "profile", [p for p in PROFILES if p not in ("openai", "groq", "mistral", "deepseek-r1")]
)
def test_a_tool_s_turn_goes_back_and_goes_on(up, profile):
    c = oai(up)
    model = f"scenario:tool-loop@{profile}"
    _, a = cc(c, model=model, messages=[USER])
    history = [USER, a, tool_msg(a["tool_calls"][0])]
    _, b = cc(c, model=model, messages=history)
    assert b["content"].endswith("The tool says: 40 C.")
    assert up.requests()[-1]["notes"] == []
    _, again = cc(c, model=model, messages=[*history, b, USER])
    assert again["tool_calls"]


@pytest.mark.parametrize("profile", sorted(STRICT))
def test_strict_models_want_their_thoughts_back(up, profile):
    c = oai(up)
    model = f"scenario:tool-loop@{profile}"
    _, a = cc(c, model=model, messages=[USER])
    lost = {k: v for k, v in a.items() if k != "reasoning_content"}
    with pytest.raises(openai.BadRequestError) as e:
        cc(c, model=model, messages=[USER, lost, tool_msg(a["tool_calls"][0])])
    assert STRICT[profile] in e.value.message
    # also in a later turn, long after the tool call
    later = [USER, lost, tool_msg(a["tool_calls"][0]), {"role": "assistant", "content": "ok"}, USER]
    with pytest.raises(openai.BadRequestError):
        cc(c, model=model, messages=later)
    # thinking off: nothing is asked for
    cc(
        c,
        model=model,
        messages=[USER, lost, tool_msg(a["tool_calls"][0])],
        extra_body={"thinking": {"type": "disabled"}},
    )


def test_answers_without_tools_need_nothing(up):
    c = oai(up)
    model = "scenario:one-reasoning@deepseek"
    _, a = cc(c, model=model, messages=[USER])
    for m in (a, {"role": "assistant", "content": a["content"]}):
        cc(c, model=model, messages=[USER, m, USER])
    tools = [
        {"type": "function", "function": {"name": "t", "parameters": {"type": "object", "properties": {}}}}
    ]
    cc(c, model=model, messages=[USER, a, USER], tools=tools)
    cc(c, model=model, messages=[USER, {**a, "reasoning_content": ""}, USER], tools=tools)
    with pytest.raises(
        openai.BadRequestError, match="must be passed back"
    ):  # with tools every answer needs it
        cc(c, model=model, messages=[USER, {"role": "assistant", "content": "hi"}, USER], tools=tools)
    model = "scenario:tool-loop@deepseek-turn"  # whole tool turn must keep its thoughts
    _, a = cc(c, model=model, messages=[USER])
    h = [USER, a, tool_msg(a["tool_calls"][0])]
    _, b = cc(c, model=model, messages=h)
    cc(c, model=model, messages=[*h, b, USER])
    with pytest.raises(openai.BadRequestError, match="must be passed back"):
        cc(c, model=model, messages=[*h, {"role": "assistant", "content": b["content"]}, USER])


def test_an_error_of_mimo_starts_with_data(up):
    c = oai(up)
    _, a = cc(c, model="scenario:tool-loop@mimo", messages=[USER])
    lost = {k: v for k, v in a.items() if k != "reasoning_content"}
    with pytest.raises(openai.BadRequestError) as e:
        cc(c, model="scenario:tool-loop@mimo", messages=[USER, lost, tool_msg(a["tool_calls"][0])])
    text = e.value.response.text
    assert (
        text.startswith('data:{"error":{"code":"400","message":"Param Incorrect"')
        and "must be passed back" in text
    )


@pytest.mark.parametrize(
    "profile,status,text",
    [
        ("openai", 400, "property 'messages.1.assistant.reasoning_content' is unsupported"),
        ("groq", 400, "property 'reasoning_content' is unsupported"),
        ("mistral", 422, "Extra inputs are not permitted"),
        ("deepseek-r1", 400, "not allowed"),
    ],
)
def test_plain_servers_refuse_thoughts(up, profile, status, text):
    c = oai(up)
    model = f"scenario:tool-loop@{profile}"
    _, a = cc(c, model=model, messages=[USER])
    h = [USER, {**a, "reasoning_content": "thoughts"}, tool_msg(a["tool_calls"][0])]
    with pytest.raises(openai.APIStatusError) as e:
        cc(c, model=model, messages=h)
    assert e.value.status_code == status and text in e.value.response.text
    for k in ("reasoning_content", "reasoning"):
        h[1].pop(k, None)
    cc(c, model=model, messages=h)


def test_changed_thoughts_are_noted(up):
    c = oai(up)
    _, a = cc(c, model="scenario:tool-loop@deepseek", messages=[USER])
    cc(
        c,
        model="scenario:tool-loop@deepseek",
        messages=[USER, {**a, "reasoning_content": "placeholder"}, tool_msg(a["tool_calls"][0])],
    )
    assert "differs from what was sent" in up.requests()[-1]["notes"][0]


def test_gemini_wants_its_signature_back(up):
    c = oai(up)
    model = "scenario:tool-loop@gemini"
    _, a = cc(c, model=model, messages=[USER])
    call = a["tool_calls"][0]
    assert call["extra_content"]["google"]["thought_signature"]
    naked = {**a, "tool_calls": [{k: v for k, v in call.items() if k != "extra_content"}]}
    with pytest.raises(openai.BadRequestError) as e:
        cc(c, model=model, messages=[USER, naked, tool_msg(call)])
    assert "missing a thought_signature" in e.value.response.text


def test_calls_and_their_results_pair(up):
    c = oai(up)
    _, a = cc(c, model="scenario:tool-loop", messages=[USER])
    with pytest.raises(openai.BadRequestError, match="must be followed by tool messages"):
        cc(c, model="scenario:tool-loop", messages=[USER, a, USER])
    with pytest.raises(openai.BadRequestError, match="must be a response to a preceeding message"):
        cc(c, model="scenario:tool-loop", messages=[USER, tool_msg(a["tool_calls"][0])])


def test_thoughts_come_inside_tags_where_nobody_parses_them(up):
    _, a = cc(oai(up), model="scenario:think-tags", messages=[USER])
    assert a["content"].startswith("<think>Okay") and a["content"].endswith("</think>Hello there!")
