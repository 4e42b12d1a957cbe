"""Functions in a namespace, which one dialect alone knows: for all others one name is made of both, and read apart again."""

from __future__ import annotations

from hashlib import sha256

# What every provider takes.
LONGEST = 64
BETWEEN = "__"
DIGEST = 8


def one_name(namespace: str, name: str) -> str:
    """The same for the same two, whatever else is there: what was called in an earlier request is called alike in this one."""
    if not namespace:
        return name
    joined = f"{namespace.removesuffix(BETWEEN)}{BETWEEN}{name}"
    if len(joined) <= LONGEST:
        return joined
    digest = sha256(f"{namespace}\0{name}".encode(errors="surrogatepass")).hexdigest()[:DIGEST]
    return f"{joined[: LONGEST - DIGEST - 1]}_{digest}"
