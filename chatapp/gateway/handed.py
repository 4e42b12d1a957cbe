"""Ids that are handed out: unguessable, one secret for each response, and a number for each of its items. By the secret the response is
found again."""

from __future__ import annotations

import re
import secrets
from typing import NamedTuple

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
# 26 signs of 32: 130 bits.
LENGTH = 26
_ID = re.compile(rf"[a-z]{{1,10}}[_-]([{ALPHABET}]{{{LENGTH}}})([0-9]{{2,3}})?")


class Place(NamedTuple):
    """Which item of which response. `n` is None for the response itself."""

    secret: str
    n: int | None


def new_secret() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def place_of(given: str) -> Place | None:
    """What an id of ours says; None of others'."""
    found = _ID.fullmatch(given)
    return Place(found[1], int(found[2]) if found[2] else None) if found else None


class Handed:
    """What one response hands out. Items are numbered as they are first named."""

    def __init__(self, secret: str = "") -> None:
        self.secret = secret or new_secret()
        self.keys: dict[str, int] = {}

    def response(self, prefix: str) -> str:
        """`prefix` with what joins it: "resp_", "chatcmpl-"."""
        return prefix + self.secret

    def item(self, prefix: str, key: str) -> str:
        """The same item is named alike under every prefix, so that a call and the item that brings it are found by either."""
        return f"{prefix}{self.secret}{self.keys.setdefault(key, len(self.keys)):02}"

    def seal(self, key: str, real: str) -> str:
        """What is handed out in the place of a thought's signature or encrypted content, which may be none."""
        return real or self.item("sl_", key)
