"""Log lines: one sentence and the facts beside it, as text or as JSON, and never a key.
Whoever logs keeps the words of people and models out of it."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

_USUAL = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}
# Shorter ones (a local server's "none") would tear holes into ordinary words.
SHORTEST_SECRET = 6
# What stands in these addresses opens something to whoever knows it; Django too names addresses in its lines.
_TOKEN = re.compile(r"(/accounts/reset/|/s/(?=[\w%-]{20}))[^\s\"'\\?#]+")


def without_token(text: str) -> str:
    """With the addresses in it as they may be written down."""
    return _TOKEN.sub(r"\1[secret]/", text)


class _Formatter(logging.Formatter):
    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__()
        long = {secret for secret in secrets if len(secret) >= SHORTEST_SECRET}
        # Also as JSON spells it. The longest first: one secret may be the beginning of another.
        self._secrets = sorted(long | {json.dumps(secret)[1:-1] for secret in long}, key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        text = without_token(self.words(record))
        for secret in self._secrets:
            text = text.replace(secret, "[secret]")
        return text

    def words(self, record: logging.LogRecord) -> str:
        raise NotImplementedError

    def trace(self, record: logging.LogRecord) -> str:
        return self.formatException(record.exc_info) if record.exc_info and record.exc_info[0] else ""


class TextFormatter(_Formatter):
    """For a person at a terminal."""

    def words(self, record: logging.LogRecord) -> str:
        facts = "".join(f" {name}={value}" for name, value in _facts(record).items())
        line = f"{_moment(record):%H:%M:%S} {record.levelname} {record.name}: {record.getMessage()}{facts}"
        trace = self.trace(record)
        return f"{line}\n{trace}" if trace else line


class JsonFormatter(_Formatter):
    """For a machine: one object on one line."""

    def words(self, record: logging.LogRecord) -> str:
        line = {
            "time": _moment(record).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_facts(record),
        }
        trace = self.trace(record)
        return json.dumps(line | {"trace": trace} if trace else line)


def _moment(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    """What was handed over as `extra`: numbers and words, no objects."""
    facts = {name: value for name, value in vars(record).items() if name not in _USUAL}
    return {
        name: str(value) if isinstance(value, UUID) else value
        for name, value in facts.items()
        if isinstance(value, str | int | float | bool | UUID)
    }
