"""Fingerprints of what must be alike on all machines: the secret key, and the variables of providers. They say whether two are the same,
and nothing else of them."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings

from ...settings import environment
from ..models import FingerprintSalt

THE_KEY = "SECRET_KEY"
_ENDINGS = ("_API_KEY", "_BASE_URL")
# Of a value that could be guessed this says too little to prove a guess.
LETTERS = 8


def load_salt() -> str:
    """Of several that come first, one makes it."""
    made = {"salt": secrets.token_hex(32)}
    return FingerprintSalt.objects.get_or_create(pk=1, defaults=made)[0].salt


def fingerprints(salt: str, known: Iterable[Mapping[str, str]] = ()) -> dict[str, str]:
    """By the names of the variables; of one that is not set it is empty. `known`: those of others, whose variables count here too."""
    asked = {*environment.asked, *(name for each in known for name in each)}
    values = {
        name: environment.values.get(name, "").strip() for name in sorted(asked) if name.endswith(_ENDINGS)
    }
    all_of_them = {THE_KEY: settings.SECRET_KEY, **values}
    return {name: _fingerprint(salt, name, value) for name, value in all_of_them.items()}


def _fingerprint(salt: str, name: str, value: str) -> str:
    if not value:
        return ""
    return hmac.new(salt.encode(), f"{name}={value}".encode(), hashlib.sha256).hexdigest()[:LETTERS]


@dataclass(frozen=True, slots=True)
class Difference:
    """Somebody has another value of the variable `name` than most, or than most of those who have one. `is_missing`: they have none;
    `is_extra`: nobody else has one."""

    who: str
    name: str
    is_missing: bool = False
    is_extra: bool = False

    @property
    def sentence(self) -> str:
        if self.is_missing:
            return f"{self.who} has no {self.name}, which the others have."
        if self.is_extra:
            return f"{self.who} has a {self.name}, which the others have not."
        return f"{self.who} has another {self.name} than the others."


def differences(known: Mapping[str, Mapping[str, str]]) -> list[Difference]:
    """Of these, by whose they are. Where as many have one value as another, those who came first are taken to be right. What somebody
    has not heard of is as good as not set."""
    names = dict.fromkeys(name for each in known.values() for name in each)
    return [
        each
        for name in names
        for each in _different(name, {who: of.get(name, "") for who, of in known.items()})
    ]


def _different(name: str, of: Mapping[str, str]) -> Iterable[Difference]:
    if len(set(of.values())) < 2:
        return
    usual = Counter(of.values()).most_common(1)[0][0]
    for who, value in of.items():
        if value != usual:
            yield Difference(who, name, is_missing=not value, is_extra=not usual)


@cache
def code_version() -> str:
    """Of the code that this process runs: two that say the same run the same."""
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        digest.update(f"{file.relative_to(root)}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:7]
