"""Ids that name their response, their place and the thought that they depend on."""

from __future__ import annotations

import re
from typing import Any

from ..sealing import mac

ENC = b"\x80\x00\x00\x00\x00"  # makes blobs start with gAAAAA, like the real ones
NONE = 0xFF
ID_RE = re.compile(r"^(rs|fc|msg)_([0-9a-f]{32})([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{12})$")
PREFIX = {"reasoning": "rs", "function_call": "fc", "message": "msg", "function_call_output": "fc"}


def make_id(prefix: str, resp: str, index: int, needs: int = NONE) -> str:
    """Item id that names its response, its place, and the reasoning item that it depends on."""
    body = f"{resp[:32]}{index:02x}{needs:02x}"
    return f"{prefix}_{body}{mac('id', prefix, body)}"


def read_id(item_id: Any) -> dict | None:
    m = ID_RE.match(item_id) if isinstance(item_id, str) else None
    if not m or mac("id", m[1], m[2] + m[3] + m[4]) != m[5]:
        return None
    needs = int(m[4], 16)
    return {
        "resp": m[2],
        "index": int(m[3], 16),
        "needs": None if needs == NONE else make_id("rs", m[2], needs),
    }


def make_call_id(resp: str, index: int, name: str, args: str) -> str:
    return f"call_{resp[:8]}{index:02x}{mac('call', resp[:8], index, name, args, n=14)}"


def bare(item: dict) -> dict:
    """What the blob's hash covers: everything but the blob; an empty `content` is the same as none."""
    return {
        k: v
        for k, v in item.items()
        if k not in ("encrypted_content", "id") and not (k == "content" and not v)
    }
