"""The official clients are the referees: every event must be valid for their own typed models."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import openai
from pydantic import ValidationError

from tests.support.patience import PATIENCE

from .scenario import load_dir
from .server import SCENARIOS

ALL = load_dir(SCENARIOS)
FAULTY = {n for n, s in ALL.items() if any(t.get("faults") for t in s.turns)}
CLEAN = sorted(n for n in ALL if n not in FAULTY and n not in ("load-long", "slow-start"))
CLEAN_NO_FAIL = [n for n in CLEAN if n != "failed"]
TOOL = [
    {
        "type": "function",
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {}},
        "strict": False,
    }
]
SUMMARY = {"effort": "medium", "summary": "auto"}
ENC = ["reasoning.encrypted_content"]
USER = {"role": "user", "content": "weather?"}


CLIENTS: dict[tuple, Any] = {}


def oai(up, key="sk-orgA-1", *, max_retries=0):
    return _client(openai.OpenAI, up.url, key, max_retries)


def ant(up, key="sk-orgA-1", *, max_retries=0):
    return _client(anthropic.Anthropic, up.root, key, max_retries)


def _client(kind, url, key, max_retries):
    """To make one takes longer than most tests."""
    which = (kind, url, key, max_retries)
    if which not in CLIENTS:
        CLIENTS[which] = kind(base_url=url, api_key=key, max_retries=max_retries, timeout=PATIENCE)
    return CLIENTS[which]


def close_clients():
    while CLIENTS:
        CLIENTS.popitem()[1].close()


def valid(obj):
    """The SDK builds models leniently; this checks that the data really fits the model's types."""
    data = obj.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings="error")
    try:
        type(obj).model_validate(data)
    except ValidationError as e:
        raise AssertionError(f"{type(obj).__name__} does not fit {json.dumps(data)[:400]}\n{e}") from None
    if "type" in data:
        literal = type(obj).model_fields["type"].annotation
        assert data["type"] in getattr(literal, "__args__", (data["type"],)), f"unknown type {data['type']}"
    return obj


def raw_item(item):
    return item.model_dump(mode="json", by_alias=True, exclude_unset=True)


def rs_stream(client, **kw):
    """(events, output items as they came in output_item.done)."""
    kw = {"reasoning": SUMMARY, "include": ENC, "store": False, **kw}
    events = [valid(e) for e in client.responses.create(stream=True, **kw)]
    return events, [raw_item(e.item) for e in events if e.type == "response.output_item.done"]


def out(call, text="40 C"):
    return {"type": "function_call_output", "call_id": call["call_id"], "output": text}
