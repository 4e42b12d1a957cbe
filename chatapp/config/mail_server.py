"""EMAIL_URL and EMAIL_FROM as Django's settings want them. No error repeats the address: it may hold a password."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from .environment import Misconfigured

EXAMPLE = "smtp://user:password@host:587/?tls=1"
_PORTS = {"smtp": 25, "smtps": 465}


@dataclass(frozen=True, slots=True)
class MailServer:
    """`tls` begins after the greeting, `ssl` with the first byte."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    tls: bool
    ssl: bool


def mail_server(url: str) -> MailServer | None:
    if not url:
        return None
    parts = _split(url)
    if not parts.hostname or parts.path not in ("", "/") or parts.fragment or parts.port == 0:
        raise Misconfigured(f"EMAIL_URL cannot be read; it must look like {EXAMPLE}.")
    user, password = (_credential(text or "") for text in (parts.username, parts.password))
    if bool(user) != bool(password):
        raise Misconfigured("EMAIL_URL has a user without a password, or a password without a user.")
    ssl = parts.scheme == "smtps"
    port = parts.port or _PORTS[parts.scheme]
    tls = _wants_tls(parts, ssl=ssl, password=password)
    return MailServer(host=parts.hostname, port=port, user=user, password=password, tls=tls, ssl=ssl)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        known = parts.scheme in _PORTS and parts.port != 0
    except ValueError:
        known = False
    if not known or not re.fullmatch(r"[!-~]+", url):
        raise Misconfigured(
            f"EMAIL_URL must begin with smtp:// or smtps:// and look like {EXAMPLE}; "
            "signs with a meaning in addresses are written as %40 and the like."
        )
    return parts


def _credential(text: str) -> str:
    plain = unquote(text)
    if not re.fullmatch(r"[ -~]*", plain):
        raise Misconfigured(
            "EMAIL_URL has a user or a password with a character that mail servers do not take."
        )
    return plain


def _wants_tls(parts: SplitResult, *, ssl: bool, password: str) -> bool:
    asked = parse_qsl(parts.query, keep_blank_values=True)
    if asked not in ([], [("tls", "0")], [("tls", "1")]):
        raise Misconfigured("EMAIL_URL may have ?tls=1 or ?tls=0 at its end, and nothing else.")
    if ssl and asked:
        raise Misconfigured(
            "EMAIL_URL begins with smtps://, which is encrypted from the start: leave ?tls= out."
        )
    if password and not ssl and not asked:
        raise Misconfigured(
            "EMAIL_URL would send its password where it can be read: add ?tls=1, or ?tls=0 where that is meant."
        )
    return asked == [("tls", "1")]


def sender(text: str, *, host: str | None) -> str:
    """`name@host` or `Words <name@host>`; where nothing is set, ourselves at the host that people know."""
    if not text:
        named = host and re.search("[a-z]", host) and ":" not in host
        return f"Thoughtline <thoughtline@{host if named else 'localhost'}>"
    found = re.fullmatch(r"[\w .'&-]+ <([^<>]+)>|([^<>]+)", text, re.ASCII)
    try:
        validate_email(found and (found[1] or found[2]))
    except ValidationError:
        raise Misconfigured(
            f"EMAIL_FROM is {text!r}; it must look like chat@example.org or Thoughtline <chat@example.org>."
        ) from None
    return text
