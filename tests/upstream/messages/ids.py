"""Ids and signatures that are bound to the thoughts and the conversation before them."""

from __future__ import annotations

import re
import secrets
from typing import Any

from ..sealing import canon, digest, mac

SIG = b"\x12\xb8\x01\x0a\x20"


def blocks(content: Any) -> list[dict]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])


def merged(messages: list[dict]) -> list[dict]:
    """Consecutive messages of one role form one turn (documented). Keeps each block's original path."""
    out: list[dict] = []
    for i, m in enumerate(messages):
        row = [(f"messages.{i}.content.{j}", b) for j, b in enumerate(blocks(m["content"]))]
        if out and out[-1]["role"] == m["role"]:
            out[-1]["rows"] += row
        else:
            out.append({"role": m["role"], "index": i, "rows": row})
    return out


def thinking_key(bs: list[dict]) -> str:
    """One value for all thinking blocks of a message up to here: text, signature and order."""
    return digest([[b.get("thinking"), b.get("signature"), b.get("data")] for b in bs])


def tool_id(before: list[dict]) -> str:
    """Tool-use id that remembers which thinking blocks came before it in its message."""
    nonce = secrets.token_hex(4)
    flag = f"{len(before):x}"[:1]
    return f"toolu_01{nonce}{flag}{mac('toolu', nonce, flag, thinking_key(before) if before else '-', n=13)}"


def read_tool_id(tid: Any) -> tuple[str, int, str] | None:
    m = re.match(r"^toolu_01([0-9a-f]{8})([0-9a-f])([0-9a-f]{13})$", str(tid))
    return (m[1], int(m[2], 16), m[3]) if m else None


def prefix_digest(system: Any, tools: Any, msgs: list[dict], upto: int) -> dict:
    """What a thinking block is bound to on models with preserved thinking (cache_control left out)."""

    def clean(x):
        if isinstance(x, dict):
            return {k: clean(v) for k, v in x.items() if k != "cache_control"}
        return [clean(v) for v in x] if isinstance(x, list) else x

    turns = [[m["role"], [clean(b) for _, b in m["rows"]]] for m in msgs[:upto]]
    return {
        "s": digest(canon(clean(blocks(system)))),
        "t": digest(canon(clean(tools or []))),
        "m": digest(canon(turns)),
    }
