"""Functions in a namespace, which this protocol alone knows: everywhere else one name is made of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from ...core.values import word
from ..base import ToolSpec

# What every provider takes.
LONGEST = 64
BETWEEN = "__"
DIGEST = 8
NAMESPACE = "namespace"


def one_name(namespace: str, name: str) -> str:
    """The same for the same two, whatever else is there: what was called in an earlier request is called alike in this one."""
    if not namespace:
        return name
    joined = f"{namespace.removesuffix(BETWEEN)}{BETWEEN}{name}"
    if len(joined) <= LONGEST:
        return joined
    digest = sha256(f"{namespace}\0{name}".encode(errors="surrogatepass")).hexdigest()[:DIGEST]
    return f"{joined[: LONGEST - DIGEST - 1]}_{digest}"


def name_of_call(item: Mapping[str, Any]) -> str:
    return one_name(word(item.get("namespace")), word(item.get("name")))


def said_once(tools: Sequence[ToolSpec]) -> Iterator[ToolSpec]:
    """Functions of one namespace have the whole of it as their wire: it is said with the first of them."""
    said: set[int] = set()
    for tool in tools:
        if tool.wire and tool.wire.get("type") == NAMESPACE:
            if id(tool.wire) in said:
                continue
            said.add(id(tool.wire))
        yield tool
