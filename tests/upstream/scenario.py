"""What a scenario file says: its turns, their items and texts, and how fast they go."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from .sealing import dumps


@dataclass
class Speed:
    tps: float = 0.0  # deltas per second, 0 = as fast as possible
    chunk: int = 4  # characters per delta
    ttft: float = 0.0  # seconds before the first delta (headers and opening events go out at once)
    head: float = 0.0  # seconds before the response headers
    batch: int = 32768  # bytes gathered into one write when not paced; 1 = one write for each event
    delay: float = 1.0  # factor for every `delay` and `part_delay` of a scenario, 0 = no waiting

    def with_(self, spec: Any) -> Speed:
        if not spec:
            return self
        if isinstance(spec, str):  # header form: "tps=50;chunk=8"
            spec = dict(p.strip().split("=", 1) for p in re.split(r"[;,]", spec) if "=" in p)
        known = {
            k: (float if k in ("tps", "ttft", "head", "delay") else int)(v)
            for k, v in spec.items()
            if k in ("tps", "chunk", "ttft", "head", "batch", "delay")
        }
        return replace(self, **known)


@dataclass
class Scenario:
    name: str
    data: dict
    turns: list = field(default_factory=list)

    def section(self, key: str) -> dict:
        return self.data.get(key) or {}

    def turn(self, index: int) -> tuple[int, dict]:
        i = (
            min(index, len(self.turns) - 1)
            if self.data.get("after_last", "loop") == "stay"
            else index % len(self.turns)
        )
        return i, self.turns[i]


def offered(turn: dict, tools: list[dict]) -> dict:
    """The turn as it is where the request offers tools: a call of the `first` is one of the first of them, with what it demands."""
    functions = [tool.get("function") or tool for tool in tools if tool.get("name") or tool.get("function")]
    if not functions or "with_tools" not in turn:
        return turn
    turn = {**turn, **turn["with_tools"]}
    call = {"tool": {"name": functions[0]["name"], "args": _filled(functions[0])}}
    return {**turn, "items": [call if item == {"tool": {"first": True}} else item for item in turn["items"]]}


def _filled(function: dict) -> dict:
    schema = function.get("parameters") or function.get("input_schema") or {}
    kinds = {name: value.get("type") for name, value in (schema.get("properties") or {}).items()}
    return {name: _FILLED.get(kinds.get(name), "Rome") for name in schema.get("required") or kinds}


_FILLED: dict[Any, Any] = {"integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}


def load_scenario(name: str, data: dict) -> Scenario:
    turns = data.get("turns") or [{"items": [{"text": "ok"}]}]
    return Scenario(name, data, turns)


def load_dir(path: Path) -> dict[str, Scenario]:
    out = {}
    for f in sorted(path.glob("*.yaml")):
        for doc in yaml.safe_load_all(f.read_text("utf-8")):
            if doc:
                name = doc.get("name") or f.stem
                out[name] = load_scenario(name, doc)
    return out


def expand(text: Any, env: dict | None = None) -> str:
    """A text field: a string (with {{name}} fields), {repeat: s, bytes: n} or {join: [..]}."""
    if text is None:
        return ""
    if isinstance(text, dict):
        if "repeat" in text:
            unit = str(text["repeat"])
            size = len(unit.encode())
            return unit * max(1, -(-int(text["bytes"]) // size))
        if "join" in text:
            return "".join(expand(t, env) for t in text["join"])
        raise ValueError(f"unknown text form {text!r}")
    text = str(text)
    if env and "{{" in text:
        text = re.sub(r"\{\{(\w+)\}\}", lambda m: str(env.get(m.group(1), "")), text)
    return text


def pieces(text: str, size: int):
    """Cut a text into deltas of `size` characters (never inside a character)."""
    return (text[i : i + size] for i in range(0, len(text), max(1, size)))


def norm_items(turn: dict) -> list[dict]:
    """Turn items in one shape: {'kind': reasoning|text|tool|refusal, ...}."""
    out = []
    for item in turn.get("items") or []:
        (kind, val), *rest = item.items()
        if rest:
            raise ValueError(f"one kind for each item, got {list(item)}")
        if kind == "text" and not (isinstance(val, dict) and "text" in val):
            val = {"text": val}
        elif kind == "reasoning" and not isinstance(val, dict):
            val = {"summary": [val]}
        elif kind == "refusal" and not isinstance(val, dict):
            val = {"text": val}
        if kind not in ("reasoning", "text", "tool", "refusal"):
            raise ValueError(f"unknown item kind {kind}")
        out.append({"kind": kind, **(val or {})})
    return out


def reasoning_parts(item: dict, env: dict) -> list[str]:
    s = item.get("summary", [])
    if isinstance(s, (str, dict)):
        s = [s]
    return [expand(p, env) for p in s]


def reasoning_text(item: dict, env: dict) -> str:
    if "text" in item:
        return expand(item["text"], env)
    return "\n\n".join(reasoning_parts(item, env))


def tool_args(item: dict, env: dict) -> str:
    a = item.get("args", {})
    if isinstance(a, str):
        return a
    return dumps({name: expand(value, env) if isinstance(value, str) else value for name, value in a.items()})


def tokens(text_or_len) -> int:
    n = text_or_len if isinstance(text_or_len, int) else len(text_or_len)
    return max(1, n // 4) if n else 0
