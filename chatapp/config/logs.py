"""Log lines: one sentence and the facts beside it, as text or as JSON, and never a key.

Whoever logs here keeps the words of people and models out of it. Other packages make no such promise, at no level: of their lines
only what stands in their code is written, and of an exception, whoever raised it, what it is and where, not what it says.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

OURS = "chatapp"
LONGEST_CHAIN = 20
_VALUE = re.compile(r"%(?:\(\w*+\))?[-#0 +]*+[\d*.]*+[A-Za-z]")
_USUAL = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}
# Shorter ones (a local server's "none") would tear holes into ordinary words.
SHORTEST_SECRET = 6
# What stands in these addresses opens something to whoever knows it; Django too names addresses in its lines.
_TOKEN = re.compile(r"(/accounts/reset/|/accounts/once/|/s/(?=[\w%-]{20}))[^\s\"'\\?#]+")


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
        error = record.exc_info[1] if record.exc_info else None
        return "".join(_trace(error, set())).rstrip("\n") if error else ""


class TextFormatter(_Formatter):
    """For a person at a terminal."""

    def words(self, record: logging.LogRecord) -> str:
        facts = "".join(f" {name}={value}" for name, value in _extras(record).items())
        line = f"{_moment(record):%H:%M:%S} {record.levelname} {record.name}: {_sentence_of(record)}{facts}"
        trace = self.trace(record)
        return f"{line}\n{trace}" if trace else line


class JsonFormatter(_Formatter):
    """For a machine: one object on one line."""

    def words(self, record: logging.LogRecord) -> str:
        line = {
            "time": _moment(record).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _sentence_of(record),
            **_extras(record),
        }
        trace = self.trace(record)
        return json.dumps(line | {"trace": trace} if trace else line)


def _moment(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _extras(record: logging.LogRecord) -> dict[str, Any]:
    """What was handed over as `extra`: numbers and words, no objects."""
    if not _is_ours(record):
        return {}
    facts = {name: value for name, value in vars(record).items() if name not in _USUAL}
    return {
        name: str(value) if isinstance(value, UUID) else value
        for name, value in facts.items()
        if isinstance(value, str | int | float | bool | UUID)
    }


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name.partition(".")[0] == OURS


def _sentence_of(record: logging.LogRecord) -> str:
    """Of another package the sentence with its values left out. A line without values may have been put together from them."""
    if _is_ours(record):
        return record.getMessage()
    sentence = f"{_VALUE.sub('…', str(record.msg))} " if record.args else ""
    return f"{sentence}({record.module}:{record.lineno})"


def kind(error: BaseException) -> str:
    """What it is, and the code that the database or the system gave it."""
    name = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    system = error.strerror if isinstance(error, OSError) else None
    code = getattr(error, "sqlite_errorname", None) or getattr(error, "sqlstate", None) or system
    return f"{name} ({code})" if isinstance(code, str) else name


def _trace(error: BaseException, seen: set[int]) -> Iterator[str]:
    """The lines of code that it went through, after those of what it came from."""
    seen.add(id(error))
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    inside = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    for other in filter(None, (before, *inside)):
        if id(other) not in seen and len(seen) < LONGEST_CHAIN:
            yield from _trace(other, seen)
    yield from traceback.format_tb(error.__traceback__)
    yield f"{kind(error)}\n"


def hear_of_lost_exceptions() -> None:
    """Python would write them to stderr as they are, with what they say."""
    threading.excepthook = lambda lost: _lost("a thread", lost.exc_value)
    sys.unraisablehook = lambda lost: _lost("what was cleared away", lost.exc_value)


def _lost(where: str, error: BaseException | None) -> None:
    logging.getLogger(__name__).error("an exception was lost in %s", where, exc_info=error)
