"""What the database itself saw, and what it holds: rows that somebody wrote who had nothing to write there, and the rules of the log."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from bench.faults.words import AFTER, count_in, wrong_in
from chatapp import store

# Whoever works writes to its own turns alone. `writer` is the machine.
_WITNESS = """
CREATE TABLE faults_wrote (what text, message uuid, attempt int, writer text, runner text, at timestamptz);
CREATE FUNCTION faults_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO faults_wrote
    SELECT DISTINCT TG_TABLE_NAME, id, attempt, current_setting('application_name'), runner, clock_timestamp()
    FROM chatapp_message
    WHERE id = NEW.message_id AND role = 'assistant' AND current_setting('application_name') LIKE 'work-%'
        AND NOT EXISTS (SELECT FROM faults_runner WHERE name = runner AND machine = current_setting('application_name'))
        -- Whoever gives up a turn whose processes died too often keeps what was seen, and nobody runs it from then on.
        AND NOT (status = 'interrupted' AND runner = '' AND xmin = pg_current_xact_id()::xid);
    RETURN NULL;
END $$;
CREATE TABLE faults_runner (name text, machine text);
CREATE TRIGGER faults_item AFTER INSERT ON chatapp_item FOR EACH ROW EXECUTE FUNCTION faults_note();
CREATE TRIGGER faults_draft AFTER INSERT OR UPDATE ON chatapp_draft FOR EACH ROW EXECUTE FUNCTION faults_note();
"""


@dataclass(frozen=True, slots=True)
class RunningTurn:
    id: UUID
    attempt: int
    runner: str
    status: str


class RowWitness:
    """`runners` says which machine has which name."""

    def __init__(self, runners: Mapping[str, str], effects: Path) -> None:
        self._runners, self._effects = runners, effects

    def take_its_place(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(_WITNESS)

    def know(self) -> None:
        """Names that are known need no second look."""
        connection.close()
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE faults_runner")
            cursor.executemany("INSERT INTO faults_runner VALUES (%s, %s)", list(self._runners.items()))

    def breaches(self, continued: Collection[str]) -> list[str]:
        """When nobody writes any more, and nobody should have to. `continued`: questions whose answers a person told to go on."""
        # The one it had may be from before the last fault.
        connection.close()
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            rows = (*self._zombies(cursor), *_texts(cursor), *_unsaid(cursor), *_ended_badly(cursor))
            return [*store.verify_log(), *rows, *_left_over(cursor), *self._doubled(continued)]

    def _zombies(self, cursor: Any) -> Iterator[str]:
        cursor.execute("SELECT what, message, attempt, writer, runner, at FROM faults_wrote ORDER BY at")
        for what, message, attempt, writer, runner, at in cursor.fetchall():
            owner = self._runners.get(runner, "")
            if owner != writer:
                whose = owner or runner or "nobody"
                yield f"at {at:%H:%M:%S} {writer} wrote a {what} of turn {message}, whose attempt {attempt} is {whose}'s"

    def _doubled(self, continued: Collection[str]) -> Iterator[str]:
        ran = Counter(map(json.loads, self._effects.read_text().splitlines()))
        yield from (
            f"the call of {call!r} ran {times} times"
            for call, times in ran.items()
            if times > 1 and call not in continued
        )


def _texts(cursor: Any) -> Iterator[str]:
    cursor.execute(
        "SELECT i.message_id, i.key, i.text, i.cut FROM chatapp_item i JOIN chatapp_message m ON m.id = i.message_id "
        "WHERE m.role = 'assistant' AND i.kind IN ('reasoning', 'assistant_message')"
    )
    for message, key, text, cut in cursor.fetchall():
        yield from (f"turn {message}, {key}: {why}" for why in wrong_in(text, grows=cut))


def _unsaid(cursor: Any) -> Iterator[str]:
    """Of what was never cut each word is there."""
    cursor.execute(
        "SELECT m.id, max(i.text) FILTER (WHERE i.kind = 'assistant_message' AND i.seq = m.next_seq - 1) "
        "FROM chatapp_message m JOIN chatapp_item i ON m.id = i.message_id "
        "WHERE m.role = 'assistant' AND m.status = 'complete' GROUP BY m.id HAVING NOT bool_or(i.cut)"
    )
    for message, text in cursor.fetchall():
        if count_in(text or "") != AFTER:
            yield f"turn {message} is complete and ends with {count_in(text or '')} of {AFTER} words"


def _ended_badly(cursor: Any) -> Iterator[str]:
    """The provider refuses nothing, so nothing fails."""
    cursor.execute("SELECT id, metadata FROM chatapp_message WHERE role = 'assistant' AND status = 'failed'")
    for id_, metadata in cursor.fetchall():
        yield f"turn {id_} failed: {str(metadata)[-300:]}"


def _left_over(cursor: Any) -> Iterator[str]:
    cursor.execute(
        "SELECT id, status, attempt, tries, runner FROM chatapp_message "
        "WHERE role = 'assistant' AND status IN ('queued', 'running', 'waiting')"
    )
    for id_, status, attempt, tries, runner in cursor.fetchall():
        yield f"turn {id_} is stuck: it is {status} at attempt {attempt}, try {tries}, of {runner or 'nobody'}"
