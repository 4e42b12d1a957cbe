"""An answer of a scenario: its segments, and the chunks of each dialect."""

from __future__ import annotations

import secrets
import time
from typing import Any

from ..scenario import Speed, expand, norm_items, pieces, reasoning_text, tokens, tool_args
from ..sealing import dumps, jstr, mac, seal
from .profiles import SENT, sent_key


def build(turn: dict, body: dict, prof: dict, thinking_on: bool, org: str, env: dict) -> list[dict]:
    """Segments in order: {'k': 'r'|'t'|'c', ...}."""
    out: list[dict] = []
    past = sum(len(m.get("tool_calls") or []) for m in body["messages"])
    for spec in norm_items(turn):
        if spec["kind"] == "reasoning":
            if thinking_on:
                out.append({"k": "r", "text": reasoning_text(spec, env), "_spec": spec})
        elif spec["kind"] == "tool":
            n = sum(1 for s in out if s["k"] == "c")
            out.append(
                {
                    "k": "c",
                    "n": n,
                    "name": spec["name"],
                    "args": tool_args(spec, env),
                    "_spec": spec,
                    "kimi": f"functions.{spec['name']}:{past + n}",
                }
            )
        else:
            field = "refusal" if spec["kind"] == "refusal" else "content"
            out.append({"k": "t", "text": expand(spec["text"], env), "field": field, "_spec": spec})
    thoughts = "".join(s["text"] for s in out if s["k"] == "r")
    if prof.get("ids") == "kimi" and thoughts:
        SENT[sent_key(org, body, body["messages"])] = thoughts
        while len(SENT) > 10000:
            SENT.popitem(last=False)
    for s in out:
        if s["k"] == "c":
            nonce = secrets.token_hex(5)
            s["id"] = (
                s["kimi"]
                if prof.get("ids") == "kimi"
                else f"call_{nonce}{mac('chat', nonce, thoughts, n=14)}"
            )
            if prof.get("signatures") and s["n"] == 0:
                s["sig"] = seal("gemini", {"x": 1}, b"", 120)
    return out


def call_object(s: dict) -> dict:
    c = {"id": s["id"], "type": "function", "function": {"name": s["name"], "arguments": s["args"]}}
    if s.get("sig"):
        c["extra_content"] = {"google": {"thought_signature": s["sig"]}}
    return c


def usage_of(body: dict, turn: dict, out: list[dict]) -> dict:
    spec = turn.get("usage") or {}
    reasoning = spec.get("reasoning_tokens", sum(tokens(s["text"]) for s in out if s["k"] == "r"))
    visible = sum(tokens(s["text"] if s["k"] == "t" else s["args"]) for s in out if s["k"] != "r")
    prompt = spec.get("input_tokens", tokens(len(dumps(body["messages"]))))
    done = spec.get("output_tokens", visible + reasoning)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": done,
        "total_tokens": prompt + done,
        "prompt_tokens_details": {"cached_tokens": spec.get("cached_tokens", 0)},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }


def finish_reason(turn: dict, out: list[dict]) -> str:
    f = turn.get("finish")
    if f:
        word = f if isinstance(f, str) else f.get("finish_reason") or f.get("status")
        return {"incomplete": "length", "completed": "stop"}.get(word, word)
    return "tool_calls" if any(s["k"] == "c" for s in out) else "stop"


def think_text(prof: dict, text: str) -> str:
    return (f"<think>{text}</think>" if prof["emit"] == "think-tags" else f"{text}</think>") if text else ""


def full(turn: dict, body: dict, prof: dict, out: list[dict]) -> dict:
    thoughts = "".join(s["text"] for s in out if s["k"] == "r")
    text, refusal = (
        "".join(s["text"] for s in out if s.get("field") == field) for field in ("content", "refusal")
    )
    if prof["emit"].startswith("think"):
        text = "".join(
            think_text(prof, s["text"]) if s["k"] == "r" else s["text"] for s in out if s["k"] != "c"
        )
    msg: dict[str, Any] = {"role": "assistant", "content": text or None}
    if refusal:
        msg["refusal"] = refusal
    if thoughts and prof["emit"].startswith("reasoning"):
        msg[prof["emit"]] = thoughts
        if prof.get("details"):
            msg["reasoning_details"] = [
                {"type": "reasoning.text", "text": thoughts, "format": "unknown", "index": 0}
            ]
    calls = [call_object(s) for s in out if s["k"] == "c"]
    if calls:
        msg["tool_calls"] = calls
    return {
        "id": "chatcmpl-" + secrets.token_hex(12),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body["model"],
        "choices": [
            {"index": 0, "message": msg, "logprobs": None, "finish_reason": finish_reason(turn, out)}
        ],
        "usage": usage_of(body, turn, out),
    }


def stream(turn: dict, body: dict, prof: dict, out: list[dict], speed: Speed):
    """Frames, see responses_api.stream. No event names in this protocol: the type slot says what a chunk holds."""
    head = (
        f'"id":"chatcmpl-{secrets.token_hex(12)}","object":"chat.completion.chunk","created":{int(time.time())},'
        f'"model":{jstr(body["model"])}'
    )
    role = '"role":"assistant",' if prof.get("role_each") else ""
    null_tail = ',"logprobs":null' if prof.get("nulls") else ""
    with_usage = (body.get("stream_options") or {}).get("include_usage") or turn.get("usage_always")

    def chunk(delta: str, what: str, kind: str = "d", finish: str = "null", more: str = ""):
        return (
            kind,
            (
                f'data: {{{head},"choices":[{{"index":0,"delta":{{{delta}}}{null_tail},"finish_reason":{finish}'
                f"}}]{more}}}\n\n"
            ).encode("utf-8", "surrogatepass"),
            what,
        )

    if prof.get("comment"):
        yield "e", f": {prof['comment']}\n\n".encode(), "comment"
    emit = prof["emit"]
    content_null = '"content":null,' if prof.get("nulls") else ""
    first = {"think-tags": '"content":""', "think-noopen": '"content":""'}.get(
        emit, '"content":null' if prof.get("nulls") else '"content":""'
    )
    if not prof.get("role_each"):
        extra = ',"reasoning_content":""' if prof.get("nulls") and emit == "reasoning_content" else ""
        yield chunk(f'"role":"assistant",{first}{extra}', "role", "e")
    text_null = ',"reasoning_content":null' if prof.get("nulls") and emit == "reasoning_content" else ""
    mixed = [s for s in out if s["k"] == "c"] if prof.get("interleave_calls") else []
    for s in out:
        spec = s["_spec"]
        size = spec.get("chunk", speed.chunk)
        if spec.get("delay"):
            yield "z", spec["delay"], ""
        if s in mixed:  # the arguments of parallel calls arrive in turns
            if s is mixed[0]:
                rows = [(c["n"], list(pieces(c["args"], size))) for c in mixed]
                for c in mixed:
                    yield chunk(
                        f'"tool_calls":[{{"index":{c["n"]},"id":{jstr(c["id"])},"type":"function","function":'
                        f'{{"name":{jstr(c["name"])},"arguments":""}}}}]',
                        "tool_calls",
                    )
                for k in range(max(len(ps) for _, ps in rows)):
                    for n, ps in rows:
                        if k < len(ps):
                            yield chunk(
                                f'"tool_calls":[{{"index":{n},"function":{{"arguments":{jstr(ps[k])}}}}}]',
                                "tool_calls",
                            )
            continue
        if s["k"] == "r" and emit != "none":
            if emit.startswith("think"):
                text = think_text(prof, s["text"])
                for p in spec.get("cuts") or pieces(text, size):
                    yield chunk(f'{role}"content":{jstr(p)}', "content")
                continue
            for p in pieces(s["text"], size):
                q = jstr(p)
                more = (
                    f',"reasoning_details":[{{"type":"reasoning.text","text":{q},"format":"unknown","index":0}}]'
                    if prof.get("details")
                    else ""
                )
                yield chunk(f'{role}{content_null}"{emit}":{q}{more}', emit)
        elif s["k"] == "t":
            for p in spec.get("cuts") or pieces(s["text"], size):
                yield chunk(f'{role}"{s["field"]}":{jstr(p)}{text_null}', s["field"])
        elif s["k"] == "c":
            sig = (
                (',"extra_content":{{"google":{{"thought_signature":{}}}}}'.format(jstr(s["sig"])))
                if s.get("sig")
                else ""
            )
            opening = f'"index":{s["n"]},"id":{jstr(s["id"])},"type":"function"{sig},"function":{{"name":{jstr(s["name"])},"arguments":'
            if prof.get("whole_calls"):
                yield chunk(f'{role}"tool_calls":[{{{opening}{jstr(s["args"])}}}}}]', "tool_calls")
            else:
                yield chunk(f'{role}"tool_calls":[{{{opening}""}}}}]', "tool_calls")
                for p in pieces(s["args"], size):
                    yield chunk(
                        f'{role}"tool_calls":[{{"index":{s["n"]},"function":{{"arguments":{jstr(p)}}}}}]',
                        "tool_calls",
                    )
    fin = f'"{finish_reason(turn, out)}"'
    usage = usage_of(body, turn, out)
    if prof.get("timings"):
        usage = {k: usage[k] for k in ("completion_tokens", "prompt_tokens", "total_tokens")}
    if with_usage and prof["usage"] == "same":
        yield chunk(f'{role}"content":""', "finish", "e", fin, f',"usage":{dumps(usage)}')
    else:
        yield chunk('"content":""' if role else "", "finish", "e", fin)
    if with_usage and prof["usage"] == "after":
        timings = ',"timings":{"predicted_n":1}' if prof.get("timings") else ""
        yield "e", f'data: {{{head},"choices":[],"usage":{dumps(usage)}{timings}}}\n\n'.encode(), "usage"
    elif with_usage and prof["usage"] == "repeat":
        yield chunk('"content":"","role":"assistant"', "usage", "e", fin, f',"usage":{dumps(usage)}')
    yield "e", b"data: [DONE]\n\n", "done"


def error_frame(spec: dict) -> bytes:
    err = {
        "message": spec.get("message", "The server had an error while processing your request."),
        "type": spec.get("type", "server_error"),
        "param": None,
        "code": spec.get("code"),
    }
    return f"data: {dumps({'error': err})}\n\n".encode()


def unknown_frame() -> bytes:
    return b'event: hologram\ndata: {"object":"hologram.chunk","choices":[]}\n\n'
