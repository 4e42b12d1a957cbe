"""An answer of a scenario: its items, and the events in the service's own order."""

from __future__ import annotations

import secrets
import time

from ..scenario import (
    Scenario,
    Speed,
    expand,
    norm_items,
    pieces,
    reasoning_parts,
    reasoning_text,
    tokens,
    tool_args,
)
from ..sealing import digest, dumps, jstr, seal
from .ids import ENC, NONE, bare, make_call_id, make_id

OBF = [secrets.token_urlsafe(12)[: n % 16] for n in range(64)]


def build(turn: dict, body: dict, sc: Scenario, org: str, env: dict) -> tuple[str, list[dict]]:
    """Response id (hex) and its output items, each with private _keys that the streamer reads."""
    opts = sc.section("responses")
    resp = secrets.token_hex(24)
    reasoning = body.get("reasoning") or {}
    with_enc = (
        "reasoning.encrypted_content" in (body.get("include") or []) or opts.get("encrypted") == "always"
    )
    with_summary = (
        bool(reasoning.get("summary") or reasoning.get("generate_summary")) or opts.get("summary") == "always"
    )
    out: list[dict] = []
    needs = NONE
    for spec in norm_items(turn):
        idx = len(out)
        if spec["kind"] == "reasoning":
            if reasoning.get("effort") == "none":
                continue
            parts = reasoning_parts(spec, env) if with_summary else []
            raw = reasoning_text(spec, env) if spec.get("raw") else None
            rid = out[spec["same_id_as"]]["id"] if "same_id_as" in spec else make_id("rs", resp, idx)
            it = {
                "id": rid,
                "type": "reasoning",
                "content": [{"type": "reasoning_text", "text": raw}] if raw is not None else [],
                "summary": [{"type": "summary_text", "text": p} for p in parts],
                **(spec.get("extra") or {}),
            }
            it["_hidden"] = len(reasoning_text(spec, env)) or 400
            it["_enc"] = with_enc and spec.get("encrypted", True)
            it["_extra"] = sorted(spec.get("extra") or {})
            it["_stale"] = bool(spec.get("stale"))
            it["_pad"] = int(spec.get("blob_bytes", 300))
            needs = spec.get("same_id_as", idx)
        elif spec["kind"] == "tool":
            args = tool_args(spec, env)
            it = {
                "id": make_id("fc", resp, idx, needs),
                "type": "function_call",
                "status": "completed",
                "arguments": args,
                "call_id": make_call_id(resp, idx, spec["name"], args),
                "name": spec["name"],
                **(spec.get("extra") or {}),
            }
        else:
            part = (
                {"type": "refusal", "refusal": expand(spec["text"], env)}
                if spec["kind"] == "refusal"
                else {
                    "type": "output_text",
                    "annotations": [],
                    "logprobs": [],
                    "text": expand(spec["text"], env),
                }
            )
            it = {
                "id": make_id("msg", resp, idx, needs),
                "type": "message",
                "status": "completed",
                "content": [part],
                "role": "assistant",
            }
            if spec.get("phase"):
                it["phase"] = spec["phase"]
        it["_spec"] = spec
        out.append(it)
    finish = turn.get("finish")
    if finish and out and out[-1]["type"] != "reasoning":
        status = finish if isinstance(finish, str) else finish.get("status")
        if status == "incomplete":
            out[-1]["status"] = "incomplete"
    for k, it in enumerate(out):  # what must follow each reasoning item when it is replayed
        if it["type"] == "reasoning":
            chain = []
            for nxt in out[k + 1 :]:
                chain.append({"t": nxt["type"], "id": nxt["id"], "c": nxt.get("call_id")})
                if nxt["type"] != "reasoning":
                    break
            it["_next"] = chain if chain and chain[-1]["t"] != "reasoning" else []
    for it in out:
        if it["type"] == "reasoning" and it["_enc"]:
            it["_meta"] = {
                "i": it["id"],
                "m": body["model"],
                "o": org,
                "h": digest(bare(public(it))),
                "n": it["_next"],
                "x": it["_extra"],
                "f": 1,
                "stale": it["_stale"],
            }
    return resp, out


def public(it: dict) -> dict:
    return {k: v for k, v in it.items() if not k.startswith("_")}


def final_item(it: dict) -> dict:
    """The finished item; reasoning gets a fresh blob each time (the real one differs between
    output_item.done and response.completed, and both replay)."""
    item = public(it)
    if it.get("_meta"):
        body = {k: v for k, v in item.items() if k not in ("summary",)}
        extra = {k: body.pop(k) for k in it["_extra"]}
        return {
            **body,
            "encrypted_content": seal("rs", it["_meta"], ENC, it["_pad"]),
            "summary": item["summary"],
            **extra,
        }
    return item


def usage_of(body: dict, turn: dict, out: list[dict]) -> dict:
    spec = turn.get("usage") or {}
    inp = spec.get(
        "input_tokens", tokens(len(dumps(body.get("input", ""))) + len(str(body.get("instructions") or "")))
    )
    hidden = sum(tokens(it["_hidden"]) for it in out if it["type"] == "reasoning")
    reasoning = spec.get("reasoning_tokens", hidden)
    visible = sum(
        tokens(len(it["content"][0].get("text") or it["content"][0].get("refusal") or ""))
        for it in out
        if it["type"] == "message"
    )
    visible += sum(tokens(len(it["arguments"])) for it in out if it["type"] == "function_call")
    output = spec.get("output_tokens", visible + reasoning)
    return {
        "input_tokens": inp,
        "input_tokens_details": {
            "cached_tokens": spec.get("cached_tokens", 0),
            "cache_write_tokens": spec.get("cache_write_tokens", 0),
        },
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": inp + output,
    }


def envelope(resp: str, body: dict, status: str, created: int) -> dict:
    r = body.get("reasoning") or {}
    return {
        "id": "resp_" + resp,
        "object": "response",
        "created_at": created,
        "status": status,
        "background": False,
        "completed_at": None,
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "max_tool_calls": None,
        "model": body["model"],
        "output": [],
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "prompt_cache_key": body.get("prompt_cache_key"),
        "reasoning": {
            "context": r.get("context") or "current_turn",
            "effort": r.get("effort") or "medium",
            "summary": "detailed" if r.get("summary") == "auto" else r.get("summary"),
        },
        "safety_identifier": body.get("safety_identifier"),
        "service_tier": "default",
        "store": body.get("store", True) is not False,
        "temperature": body.get("temperature", 1.0),
        "presence_penalty": body.get("presence_penalty", 0),
        "frequency_penalty": body.get("frequency_penalty", 0),
        "text": body.get("text") or {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": body.get("tool_choice", "auto"),
        "top_logprobs": 0,
        "tools": [
            {"strict": None} | t if t.get("type") == "function" else t for t in body.get("tools") or []
        ],
        "top_p": body.get("top_p", 1.0),
        "truncation": body.get("truncation") or "disabled",
        "usage": None,
        "user": None,
        "metadata": body.get("metadata") or {},
    }


def finished(base: dict, turn: dict, items: list[dict], usage: dict) -> tuple[str, dict]:
    """(closing event type, full response object)."""
    done = {**base, "output": items, "usage": usage, "service_tier": "default"}
    finish = turn.get("finish") or "completed"
    if isinstance(finish, str):
        finish = {"status": finish}
    status = finish["status"]
    done["status"] = status
    if status == "completed":
        done["completed_at"] = int(time.time())
    elif status == "incomplete":
        done["incomplete_details"] = {"reason": finish.get("reason", "max_output_tokens")}
    elif status == "failed":
        done["error"] = {
            "code": finish.get("code", "server_error"),
            "message": finish.get("message", "An error occurred while processing your request."),
        }
        done["usage"] = None
    return f"response.{status}", done


def event(typ: str, rest: str) -> bytes:
    return f'event: {typ}\ndata: {{"type":"{typ}",{rest}}}\n\n'.encode("utf-8", "surrogatepass")


def stream(turn: dict, body: dict, resp: str, out: list[dict], base: dict, speed: Speed):
    """Frames: ('e'|'d'|'z', bytes|seconds, event type). 'd' frames are paced, 'e' frames are not."""
    obf_on = (body.get("stream_options") or {}).get("include_obfuscation", True)
    seq = 0

    def ev(typ: str, rest: str, kind: str = "e"):
        nonlocal seq
        frame = event(typ, f'{rest},"sequence_number":{seq}')
        seq += 1
        return kind, frame, typ

    def deltas(typ: str, text: str, tail: str, size: int, head: str = ""):
        # One f-string for each delta: the body of the frame is serialised once for all of them.
        nonlocal seq
        pre = f'event: {typ}\ndata: {{"type":"{typ}",{head}"delta":'
        for k, piece in enumerate(pieces(text, size)):
            obf = f'"obfuscation":"{OBF[k & 63]}",' if obf_on else ""
            yield (
                "d",
                f'{pre}{jstr(piece)},{obf}{tail},"sequence_number":{seq}}}\n\n'.encode(
                    "utf-8", "surrogatepass"
                ),
                typ,
            )
            seq += 1

    env0 = dumps({**base, "status": "in_progress"})
    yield ev("response.created", f'"response":{env0}')
    yield ev("response.in_progress", f'"response":{env0}')
    for index, it in enumerate(out):
        spec, iid = it["_spec"], it["id"]
        size = spec.get("chunk", speed.chunk)
        where = f'"item_id":"{iid}","output_index":{index}'
        if it["type"] == "reasoning":
            start = {"id": iid, "type": "reasoning", "content": [], "summary": []}
            if it.get("_meta"):  # a blob that is still unfinished: it does not verify on replay
                start["encrypted_content"] = seal("rs", {**it["_meta"], "f": 0}, ENC)
            yield ev("response.output_item.added", f'"item":{dumps(start)},"output_index":{index}')
            if spec.get("delay"):
                yield "z", spec["delay"], ""
            for s, part in enumerate(it["summary"]):
                if s and spec.get("part_delay"):
                    yield "z", spec["part_delay"], ""
                w = f'{where},"summary_index":{s}'
                yield ev(
                    "response.reasoning_summary_part.added", f'{w},"part":{{"type":"summary_text","text":""}}'
                )
                yield from deltas("response.reasoning_summary_text.delta", part["text"], w, size)
                yield ev("response.reasoning_summary_text.done", f'{w},"text":{jstr(part["text"])}')
                yield ev("response.reasoning_summary_part.done", f'{w},"part":{dumps(part)}')
            for c, part in enumerate(it["content"]):
                w = f'{where},"content_index":{c}'
                yield ev("response.content_part.added", f'{w},"part":{{"type":"reasoning_text","text":""}}')
                yield from deltas("response.reasoning_text.delta", part["text"], w, size)
                yield ev("response.reasoning_text.done", f'{w},"text":{jstr(part["text"])}')
                yield ev("response.content_part.done", f'{w},"part":{dumps(part)}')
        elif it["type"] == "function_call":
            if spec.get("delay"):
                yield "z", spec["delay"], ""
            start = {**public(it), "status": "in_progress", "arguments": ""}
            yield ev("response.output_item.added", f'"item":{dumps(start)},"output_index":{index}')
            yield from deltas("response.function_call_arguments.delta", it["arguments"], where, size)
            yield ev("response.function_call_arguments.done", f'"arguments":{jstr(it["arguments"])},{where}')
        else:
            if spec.get("delay"):
                yield "z", spec["delay"], ""
            start = {**public(it), "status": "in_progress", "content": []}
            yield ev("response.output_item.added", f'"item":{dumps(start)},"output_index":{index}')
            part, w = it["content"][0], f'{where},"content_index":0'
            if part["type"] == "refusal":
                yield ev("response.content_part.added", f'{w},"part":{{"type":"refusal","refusal":""}}')
                yield from deltas("response.refusal.delta", part["refusal"], w, size)
                yield ev("response.refusal.done", f'{w},"refusal":{jstr(part["refusal"])}')
            else:
                yield ev("response.content_part.added", f'{w},"part":{dumps({**part, "text": ""})}')
                yield from deltas("response.output_text.delta", part["text"], f'"logprobs":[],{w}', size)
                yield ev("response.output_text.done", f'{w},"logprobs":[],"text":{jstr(part["text"])}')
            yield ev("response.content_part.done", f'{w},"part":{dumps(part)}')
        yield ev("response.output_item.done", f'"item":{dumps(final_item(it))},"output_index":{index}')
    typ, done = finished(base, turn, [final_item(it) for it in out], usage_of(body, turn, out))
    yield ev(typ, f'"response":{dumps(done)}')


def error_frame(spec: dict) -> bytes:
    """The in-stream error event. Documented flat; the service often nests it under `error`. Both exist."""
    err = {
        "code": spec.get("code", "server_error"),
        "message": spec.get("message", "The server had an error."),
        "param": None,
    }
    if spec.get("nested", True):
        err = {"error": {"type": spec.get("type", "server_error"), **err}}
    return f"event: error\ndata: {dumps({'type': 'error', **err, 'sequence_number': spec.get('seq', 99)})}\n\n".encode()


def unknown_frame() -> bytes:
    return b'event: response.hologram.delta\ndata: {"type":"response.hologram.delta","delta":"??","sequence_number":0}\n\n'
