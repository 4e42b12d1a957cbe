"""Turns the words of the environment into typed values; a word that cannot be right ends the program with one sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from urllib.parse import SplitResult, urlsplit

from ..core.named import number

KEY_NAME = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY")
_FLAGS = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}


class Misconfigured(SystemExit):
    """Printed as it is on stderr, without a traceback, and the exit code is 1."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What was set from outside. `asked` collects every name that was looked for."""

    values: Mapping[str, str] = field(repr=False)
    asked: set[str] = field(default_factory=set)

    def text(self, name: str, default: str = "") -> str:
        self.asked.add(name)
        return self.values.get(name, "").strip() or default

    def flag(self, name: str, default: bool) -> bool:
        text = self.text(name)
        if text and text.lower() not in _FLAGS:
            raise Misconfigured(f"{name} is {text!r}; it must be 1 or 0.")
        return _FLAGS[text.lower()] if text else default

    def whole(self, name: str) -> int | None:
        text = self.text(name)
        found = number(text, digits=9)
        if text and found is None:
            raise Misconfigured(f"{name} is {text!r}; it must be a whole number, 0 or more.")
        return found

    def whole_or(self, name: str, default: int) -> int:
        found = self.whole(name)
        return default if found is None else found

    def word(self, name: str, words: tuple[str, ...]) -> str:
        """One of the words, the first of them where nothing is set."""
        text = self.text(name, words[0]).lower()
        if text not in words:
            raise Misconfigured(f"{name} is {text!r}; it must be one of {', '.join(words)}.")
        return text

    def hosts(self, name: str) -> list[str]:
        hosts = [host.strip() for host in self.text(name).split(",") if host.strip()]
        for host in hosts:
            if not re.fullmatch(r"\*|\.?[\w.-]+|\[[0-9a-fA-F:.]+\]", host):
                raise Misconfigured(
                    f"{name} holds {host!r}; it must be host names only, with commas between them."
                )
        return hosts

    def address(self, name: str, default: str = "") -> str:
        """An http or https address without a slash at its end."""
        text = self.text(name, default).rstrip("/")
        if text and not is_web_address(text):
            raise Misconfigured(
                f"{name} must begin with http:// or https:// and a host, and hold no password and no '?'."
            )
        return text

    def origin(self, name: str) -> SplitResult | None:
        """An address that is nothing but scheme, host and port."""
        text = self.address(name)
        if text and urlsplit(text).path:
            raise Misconfigured(f"{name} has a path; it must be an address like https://chat.example.org.")
        return urlsplit(text) if text else None

    def key(self, name: str) -> str:
        """A provider's key. Its value is never repeated, not even in an error."""
        if not KEY_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a key: such names end with _API_KEY.")
        text = self.text(name)
        if not re.fullmatch(r"[!-~]*", text):
            raise Misconfigured(f"{name} holds a space, a line break or another character that no key has.")
        return text

    def keys(self) -> list[str]:
        """Every key that is set, known to us or not."""
        return [
            value.strip() for name, value in self.values.items() if KEY_NAME.fullmatch(name) and value.strip()
        ]

    def file(self, name: str) -> Path | None:
        text = self.text(name)
        if text and not (Path(text).is_file() and os.access(text, os.R_OK)):
            raise Misconfigured(f"{name} is {text!r}, which is not a file that can be read.")
        return Path(text) if text else None

    def folder_if_set(self, name: str) -> Path | None:
        text = self.text(name)
        return self.folder(name, Path(text)) if text else None

    def state_folder(self, program: str) -> Path:
        """Where programs keep their data for this account, as the XDG base directories have it."""
        given = Path(self.values.get("XDG_STATE_HOME", ""))
        return (given if given.is_absolute() else Path("~/.local/state")) / program

    def folder(self, name: str, default: Path) -> Path:
        """A folder one can write into; it is made where it is missing."""
        folder = Path(self.text(name, str(default))).expanduser().resolve()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Misconfigured(
                f"{name} is {str(folder)!r}, which cannot be made: {error.strerror}."
            ) from error
        try:
            TemporaryFile(dir=folder).close()
        except OSError as error:
            raise Misconfigured(
                f"{name} is {str(folder)!r}, which cannot be written to: {error.strerror}."
            ) from error
        return folder


def is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        plain = parts.port != 0 and not (parts.username or parts.password or parts.query or parts.fragment)
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and bool(parts.hostname)
        and plain
        and text.isprintable()
        and " " not in text
    )
