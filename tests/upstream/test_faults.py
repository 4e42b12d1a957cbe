"""Faults, forms of the wire, speed, and the records that are kept."""

from __future__ import annotations

import json
import time
import urllib.request

import anthropic
import openai
import pytest

from tests.support.patience import PATIENCE

from .running import running
from .sdk import SUMMARY, USER, ant, oai, out, rs_stream, valid
from .sending import SOON


def go(up, api, model, **kw):
    """Text of one streamed answer."""
    retries = kw.pop("max_retries", 0)
    if api == "responses":
        return "".join(
            e.delta
            for e in oai(up, max_retries=retries).responses.create(
                model=model, input="q", stream=True, reasoning=SUMMARY, **kw
            )
            if e.type == "response.output_text.delta"
        )
    if api == "messages":
        return "".join(
            e.delta.text
            for e in ant(up, max_retries=retries).messages.create(
                model=model,
                max_tokens=2000,
                thinking={"type": "adaptive"},
                messages=[USER],
                stream=True,
                **kw,
            )
            if e.type == "content_block_delta" and e.delta.type == "text_delta"
        )
    return "".join(
        ch.choices[0].delta.content or ""
        for ch in oai(up, max_retries=retries).chat.completions.create(
            model=model, messages=[USER], stream=True, **kw
        )
        if ch.choices
    )


APIS = ["responses", "messages", "chat"]


@pytest.mark.parametrize("api", APIS)
def test_planned_errors_are_the_client_s_own_and_go_away(up, api):
    t = time.monotonic()
    assert go(up, api, "scenario:rate-limited", max_retries=1) == "Here I am."
    assert time.monotonic() - t >= 1
    with pytest.raises((openai.InternalServerError, anthropic.InternalServerError)):
        go(up, api, "scenario:http-500")
    with pytest.raises((openai.AuthenticationError, anthropic.AuthenticationError)):
        go(up, api, "scenario:http-401")
    up.clear()
    with pytest.raises((openai.RateLimitError, anthropic.RateLimitError)) as e:
        go(up, api, "scenario:rate-limited")
    assert e.value.response.headers["retry-after"] == "1"
    assert go(up, api, "scenario:overloaded", max_retries=2) == "Thanks for waiting."


@pytest.mark.parametrize("api", APIS)
def test_a_stream_breaks_as_planned(up, api):
    with pytest.raises(Exception) as e:
        go(up, api, "scenario:drop-midstream")
    assert not isinstance(e.value, AssertionError)
    assert up.requests()[-1]["outcome"] == "dropped"
    assert "cut in the middle" in go(up, api, "scenario:drop-midstream")  # second try
    assert "closes normally" not in go(up, api, "scenario:eof-midstream")
    assert up.requests()[-1]["outcome"] == "eof"
    for name in ("error-midstream", *(["failed"] if api != "responses" else [])):
        with pytest.raises((openai.APIError, anthropic.APIError)):
            go(up, api, f"scenario:{name}")
    if api != "messages":  # whose client leaves out what it cannot name
        with pytest.raises(json.JSONDecodeError):
            go(up, api, "scenario:malformed-chunk")
    if api == "responses":
        events = list(
            oai(up).responses.create(
                model="scenario:error-midstream-flat", input="q", stream=True, reasoning=SUMMARY
            )
        )
        assert valid(events[-1]).type == "error" and events[-1].message == "Flat error."
        events = list(oai(up).responses.create(model="scenario:failed", input="q", stream=True))
        assert (
            valid(events[-1]).type == "response.failed" and events[-1].response.error.code == "server_error"
        )


WIRES = [
    {"newline": "crlf"},
    {"newline": "cr"},
    {"comment_every": 2},
    {"multiline": True},
    {"no_space": True},
    {"split": 3},
    {"split": 1, "newline": "crlf", "comment_every": 3},
    {"ids": True, "retry": 1000},
]


@pytest.mark.parametrize("wire", WIRES, ids=lambda w: "-".join(w))
@pytest.mark.parametrize("api", APIS)
def test_every_form_of_the_wire_is_read(up, api, wire):
    text = "Zażółć gęślą jaźń 🙂 — 日本語"
    m = up.add(
        "mine-wire",
        {"wire": wire, "turns": [{"items": [{"reasoning": {"summary": "思考…"}}, {"text": text}]}]},
    )
    assert go(up, api, m) == text


def test_deltas_keep_their_pace(up):
    began = time.monotonic()
    go(up, "responses", "scenario:plain", extra_headers={"x-upstream-speed": "tps=100;chunk=1;ttft=0.2"})
    assert time.monotonic() - began >= 0.2 + 10 / 100 - 2 * SOON


def test_requests_are_recorded_as_they_were_sent_and_who_leaves_is_noticed(up):
    oai(up).responses.create(model="scenario:plain", input="x", extra_headers={"x-conversation": "c1"})
    row = up.requests("plain")[-1]
    sent = [{"role": "user", "content": "x"}]
    oai(up).responses.create(model="scenario:plain", input=sent)
    assert up.requests("plain")[-1]["body"]["input"] == sent  # recorded exactly as sent
    assert row["body"]["input"] == "x" and row["headers"]["x-conversation"] == "c1" and row["turn"] == 0
    assert "authorization" not in row["headers"] and row["org"] == "orgA"
    s = oai(up).responses.create(
        model="scenario:load-long",
        input="x",
        stream=True,
        reasoning=SUMMARY,
        extra_headers={"x-upstream-speed": "tps=200"},
    )
    next(iter(s))
    s.close()
    until = time.monotonic() + PATIENCE
    while not up.requests()[-1]["outcome"] and time.monotonic() < until:
        time.sleep(0.05)
    assert up.requests()[-1]["outcome"] == "client_disconnected"


def test_models_are_listed(up):
    ids = [valid(m).id for m in oai(up).models.list()]
    assert "scenario:tool-loop" in ids
    assert "scenario:tool-loop" in [m.id for m in ant(up).models.list()]


def test_it_answers_under_other_base_urls(up):
    for base in (up.root, up.root + "/api/v1"):
        with openai.OpenAI(base_url=base, api_key="sk-orgA-1", max_retries=0) as c:
            said = c.chat.completions.create(model="scenario:plain", messages=[USER])
        assert said.choices[0].message.content


def test_a_header_chooses_the_scenario_too(up):
    with pytest.raises(openai.NotFoundError):
        go(up, "chat", "my-model")
    assert go(up, "chat", "my-model", extra_headers={"x-scenario": "plain"}) == "You said: weather?"


def test_a_megabyte_of_thoughts_arrives(up):
    n = 0
    for e in oai(up).responses.create(
        model="scenario:load-long",
        input="q",
        stream=True,
        reasoning=SUMMARY,
        extra_headers={"x-upstream-speed": "chunk=256"},
    ):
        n += len(e.delta) if e.type == "response.reasoning_summary_text.delta" else 0
    assert n >= 1_000_000


def test_old_turns_are_valid_after_a_restart(up):
    with running() as other:
        _, (rs, fc) = rs_stream(oai(other), model="scenario:tool-loop", input="w")
    rs_stream(oai(up), model="scenario:tool-loop", input=[{"role": "user", "content": "w"}, rs, fc, out(fc)])


def test_its_bytes_look_real(up):
    req = urllib.request.Request(
        up.url + "/responses",
        json.dumps(
            {
                "model": "scenario:one-reasoning",
                "input": "q",
                "stream": True,
                "reasoning": {"summary": "auto"},
            }
        ).encode(),
        {"authorization": "Bearer sk-orgA-1", "content-type": "application/json"},
    )
    with urllib.request.urlopen(req) as r:
        assert r.headers["content-type"] == "text/event-stream; charset=utf-8"
        text = r.read().decode()
    assert text.startswith(
        'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_'
    )
    assert text.endswith("}\n\n") and "[DONE]" not in text
