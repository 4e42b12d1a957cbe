"""Ids that are handed out: unguessable, one secret for each response, and a number for each of its items. By the secret the response is
found again. What a provider sealed is handed out in a seal of ours around it, which holds for one person and one model."""

from __future__ import annotations

import hmac
import re
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import NamedTuple

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
# 26 signs of 32: 130 bits.
LENGTH = 26
_ID = re.compile(rf"[a-z]{{1,10}}[_-]([{ALPHABET}]{{{LENGTH}}})([0-9]{{2,3}})?")
_SEAL, _MARK = "tl1", 22
# How doors begin the ids of calls.
_CALLS = ("call_", "toolu_")


class HandedPlace(NamedTuple):
    """Which item of which response. `n` is None for the response itself."""

    secret: str
    n: int | None


def new_secret() -> str:
    return "".join([ALPHABET[byte % 32] for byte in secrets.token_bytes(LENGTH)])


def place_of(given: str) -> HandedPlace | None:
    """What an id of ours says; None of others'."""
    found = _ID.fullmatch(given)
    return HandedPlace(found[1], int(found[2]) if found[2] else None) if found else None


@dataclass(frozen=True, slots=True)
class Sealing:
    """`scope`: for whom and for which model it holds."""

    key: bytes
    scope: str

    def sealed(self, place: str, real: str) -> str:
        return f"{_SEAL}.{place}.{self._mark(place, real)}.{real}"

    def opened(self, seal: str) -> str | None:
        """What the provider sealed; None where this is no seal of ours, or holds for somebody else, or something else."""
        head, place, mark, real = (*seal.split(".", 3), "", "", "")[:4]
        if head != _SEAL or not hmac.compare_digest(mark.encode(), self._mark(place, real).encode()):
            return None
        return real

    def _mark(self, place: str, real: str) -> str:
        said = "\0".join((self.scope, place, real)).encode(errors="surrogatepass")
        return urlsafe_b64encode(hmac.digest(self.key, said, "sha256")).decode()[:_MARK]


def place_in(seal: str) -> HandedPlace | None:
    """Where a seal of ours says that it belongs."""
    head, _, rest = seal.partition(".")
    return place_of(f"sl_{rest.partition('.')[0]}") if head == _SEAL else None


class Handed:
    """What one response hands out. Items are numbered as they are first named. `name`: by which its program may speak of it: the id of its
    first call, or else its own."""

    def __init__(self, sealing: Sealing | None = None, secret: str = "") -> None:
        self.secret, self._sealing = secret or new_secret(), sealing
        self.keys: dict[str, int] = {}
        self.name, self._names_a_call = "", False

    def response(self, prefix: str) -> str:
        """`prefix` with what joins it: "resp_", "chatcmpl-"."""
        own = prefix + self.secret
        self.name = self.name or own
        return own

    def item(self, prefix: str, key: str) -> str:
        """The same item is named alike under every prefix, so that a call and the item that brings it are found by either."""
        given = f"{prefix}{self.secret}{self.keys.setdefault(key, len(self.keys)):02}"
        if prefix in _CALLS and not self._names_a_call:
            self.name, self._names_a_call = given, True
        return given

    def seal(self, key: str, real: str) -> str:
        """For what its provider sealed, or "" for a thought that it did not."""
        place = self.item("", key)
        return self._sealing.sealed(place, real) if self._sealing else f"{_SEAL}.{place}..{real}"
