"""An answer of a scenario: its blocks, and the events in the service's own order."""

from __future__ import annotations

import secrets

from ..scenario import Scenario, Speed, expand, norm_items, pieces, reasoning_text, tokens, tool_args
from ..sealing import digest, dumps, jstr, seal
from .ids import SIG, prefix_digest, tool_id


def build(
    turn: dict, body: dict, msgs: list[dict], sc: Scenario, org: str, env: dict
) -> tuple[list[dict], str]:
    """Content blocks (with private _spec) and the stop reason."""
    opts = sc.section("anthropic")
    thinking = body.get("thinking") or {"type": opts.get("default_thinking", "disabled")}
    on = thinking["type"] in ("enabled", "adaptive")
    display = thinking.get("display") or opts.get("default_display", "summarized")
    prefix = prefix_digest(body.get("system"), body.get("tools"), msgs, len(msgs))
    out: list[dict] = []
    for spec in norm_items(turn):
        if spec["kind"] == "reasoning":
            if not on:
                continue
            meta = {"m": body["model"], "o": org, "p": prefix}
            full = reasoning_text(spec, env)
            if spec.get("redacted"):
                out.append(
                    {
                        "type": "redacted_thinking",
                        "_hidden": len(full) or 400,
                        "_spec": spec,
                        "data": seal("redacted_thinking", meta, SIG, int(spec.get("blob_bytes", 200))),
                    }
                )
                continue
            shown = "" if display == "omitted" else full
            out.append(
                {
                    "type": "thinking",
                    "thinking": shown,
                    "_hidden": len(full) or 400,
                    "_spec": spec,
                    "signature": seal(
                        "thinking", {**meta, "h": digest(shown)}, SIG, int(spec.get("blob_bytes", 200))
                    ),
                }
            )
        elif spec["kind"] == "tool":
            before = [{k: v for k, v in b.items() if k[0] != "_"} for b in out if "thinking" in b["type"]]
            raw = tool_args(spec, env)
            out.append(
                {
                    "type": "tool_use",
                    "id": tool_id(before),
                    "name": spec["name"],
                    "_raw": raw,
                    "input": spec.get("args", {}) if isinstance(spec.get("args", {}), dict) else {},
                    "caller": {"type": "direct"},
                    "_spec": spec,
                }
            )
        else:
            out.append({"type": "text", "text": expand(spec["text"], env), "_spec": spec})
    finish = turn.get("finish")
    stop = "tool_use" if any(b["type"] == "tool_use" for b in out) else "end_turn"
    if finish:
        word = finish if isinstance(finish, str) else finish.get("stop_reason") or finish.get("status")
        stop = {"incomplete": "max_tokens", "length": "max_tokens", "completed": stop}.get(word, word)
    return out, stop


def usage_of(body: dict, turn: dict, out: list[dict]) -> dict:
    spec = turn.get("usage") or {}
    thinking = spec.get("reasoning_tokens", sum(tokens(b["_hidden"]) for b in out if "_hidden" in b))
    visible = sum(tokens(b["text"]) for b in out if b["type"] == "text")
    visible += sum(tokens(b["_raw"]) for b in out if b["type"] == "tool_use")
    u = {
        "input_tokens": spec.get("input_tokens", tokens(len(dumps(body["messages"])))),
        "cache_creation_input_tokens": spec.get("cache_write_tokens", 0),
        "cache_read_input_tokens": spec.get("cached_tokens", 0),
        "output_tokens": spec.get("output_tokens", visible + thinking),
    }
    if thinking:
        u["output_tokens_details"] = {"thinking_tokens": thinking}
    return u


def message(body: dict, usage: dict, content: list[dict], stop: str | None, removed: list) -> dict:
    m = {
        "model": body["model"],
        "id": "msg_01" + secrets.token_hex(11),
        "type": "message",
        "role": "assistant",
        "content": [{k: v for k, v in b.items() if k[0] != "_"} for b in content],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            **usage,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "service_tier": "standard",
        },
    }
    if removed:
        m["input_transformations"] = removed
    return m


PADS = [" " * n for n in range(15)]


def stream(
    turn: dict, body: dict, out: list[dict], stop: str, usage: dict, removed: list, speed: Speed, pad: bool
):
    """Frames, see responses_api.stream. The real service pads its JSON with spaces; `pad` does too."""
    n = 0

    def ev(typ: str, rest: str, kind: str = "e"):
        nonlocal n
        n += 1
        gap = PADS[n * 7 % 15] if pad else ""
        return (
            kind,
            f'event: {typ}\ndata: {{"type":"{typ}"{rest}{gap}}}\n\n'.encode("utf-8", "surrogatepass"),
            typ,
        )

    start = {k: v for k, v in usage.items() if k != "output_tokens_details"}
    yield ev(
        "message_start",
        ',"message":' + dumps(message(body, {**start, "output_tokens": 1}, [], None, removed)),
    )
    pinged = False
    for i, b in enumerate(out):
        spec = b["_spec"]
        size = spec.get("chunk", speed.chunk)
        head = {
            "thinking": '{"type":"thinking","thinking":"","signature":""}',
            "text": '{"type":"text","text":""}',
        }.get(b["type"])
        if b["type"] == "redacted_thinking":
            head = dumps({"type": "redacted_thinking", "data": b["data"]})
        elif b["type"] == "tool_use":
            head = dumps(
                {"type": "tool_use", "id": b["id"], "name": b["name"], "input": {}, "caller": b["caller"]}
            )
        if spec.get("delay") and b["type"] != "thinking":
            yield "z", spec["delay"], ""
        yield ev("content_block_start", f',"index":{i},"content_block":{head}')
        if not pinged:
            yield "e", b'event: ping\ndata: {"type": "ping"}\n\n', "ping"
            pinged = True
        if b["type"] == "thinking":
            if spec.get("delay"):
                yield "z", spec["delay"], ""
            for p in pieces(b["thinking"], size):
                yield ev(
                    "content_block_delta",
                    f',"index":{i},"delta":{{"type":"thinking_delta","thinking":{jstr(p)}}}',
                    "d",
                )
            sig = jstr(b["signature"])
            yield ev(
                "content_block_delta", f',"index":{i},"delta":{{"type":"signature_delta","signature":{sig}}}'
            )
        elif b["type"] == "text":
            for p in pieces(b["text"], size):
                yield ev(
                    "content_block_delta",
                    f',"index":{i},"delta":{{"type":"text_delta","text":{jstr(p)}}}',
                    "d",
                )
        elif b["type"] == "tool_use":
            yield ev(
                "content_block_delta", f',"index":{i},"delta":{{"type":"input_json_delta","partial_json":""}}'
            )
            raw = "" if b["_raw"] == "{}" else b["_raw"]
            for p in pieces(raw, size):
                yield ev(
                    "content_block_delta",
                    f',"index":{i},"delta":{{"type":"input_json_delta","partial_json":{jstr(p)}}}',
                    "d",
                )
        yield ev("content_block_stop", f',"index":{i}')
    yield ev(
        "message_delta",
        ',"delta":' + dumps({"stop_reason": stop, "stop_sequence": None}) + ',"usage":' + dumps(usage),
    )
    yield ev("message_stop", "")


def error_frame(spec: dict) -> bytes:
    err = {
        "details": None,
        "type": spec.get("type", "overloaded_error"),
        "message": spec.get("message", "Overloaded"),
    }
    return f"event: error\ndata: {dumps({'type': 'error', 'error': err})}\n\n".encode()


def unknown_frame() -> bytes:
    return b'event: hologram\ndata: {"type":"hologram","x":1}\n\n'
