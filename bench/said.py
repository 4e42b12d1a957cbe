"""What people say in years, made up: rows as they are then, each folded as it was written."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

# Messages of a conversation, how many conversations people go on with at a time, and how many such groups are written at once.
LENGTH, AT_A_TIME, GROUPS = 20, 50, 20
LETTERS = "etaoinshrdlcumwfgypbvk"
MODEL = "openai:gpt-5"
COLUMNS = {
    "conversation": "id owner_id title titled_by head_id next_order created_at updated_at instructions tools program",
    "message": "id conversation_id parent_id order role author_id model effort status attempt tries next_seq runner metadata created_at",
    "item": "id message_id seq key kind round cut text provider dialect model call_id name outcome created_at",
    "foldeditem": "item_id conversation_id kind text",
}


class Words:
    """What is said: stretches of one long text."""

    def __init__(self) -> None:
        chance = self._chance = random.Random(1)
        lengths = [chance.randint(2, 9) for _ in range(40_000)]
        weights = range(len(LETTERS), 0, -1)
        self.known = ["".join(chance.choices(LETTERS, weights, k=length)) for length in lengths]
        often = [1 / (n + 1) for n in range(len(self.known))]
        self._text = " ".join(chance.choices(self.known, often, k=1_500_000))
        signs = [chr(0x4E00 + n) for n in range(3000)]
        self._signs = "".join(chance.choices(signs, [1 / (n + 9) for n in range(3000)], k=1_000_000))

    def text(self, usual: int, *, chinese: bool = False) -> str:
        length = min(int(usual * self._chance.lognormvariate(-0.3, 0.8)) + 20, 20_000)
        source, length = (self._signs, length // 3) if chinese else (self._text, length)
        begins = self._chance.randrange(len(source) - length)
        return source[begins : begins + length]

    def sought(self, count: int) -> list[str]:
        """Words that are said often, seldom and never, two of them, stretches that cross them; signs of Chinese."""
        chance = random.Random(2)
        found = []
        while len(found) < count:
            at = chance.randrange(len(self._text) - 100)
            some = self._text[at : at + 60].split()[1:]
            found += [some[0], " ".join(some[:2]), f'"{" ".join(some[:3])}"', chance.choice(self.known)]
            found += [self._text[at : at + chance.randint(4, 9)].strip() or "ab", f"{some[0]}{some[1]}"]
            signs = chance.randrange(len(self._signs) - 9)
            found += [self._signs[signs : signs + chance.choice((1, 2, 3, 4))]]
        return [each for each in found if each][:count]


def fill(messages: int, own: int, words: Words) -> None:
    """Of as many people as have so many messages of their own."""
    from django.contrib.auth.models import User

    people = User.objects.bulk_create(
        [User(username=f"person{n}", password="!", is_staff=n == 0) for n in range(messages // own)]
    )
    owners = [person.pk for person in people]
    # The numbers of groups of conversations, the oldest first.
    groups, chance = range(0, messages // LENGTH, AT_A_TIME), random.Random(3)
    item, now = 1, datetime.now(UTC)
    for first in range(0, len(groups), GROUPS):
        rows = _Rows(words, chance, item)
        for begins in groups[first : first + GROUPS]:
            at = _moment(now - timedelta(minutes=messages // LENGTH - begins))
            rows.converse([owners[(begins + n) % len(owners)] for n in range(AT_A_TIME)], at)
        rows.insert()
        item = rows.item
    _settle()


@dataclass
class _Rows:
    """To be written together. `item`: the number of the next one."""

    words: Words
    chance: random.Random
    item: int
    by_table: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in COLUMNS})

    def converse(self, owners: Sequence[int], at: str) -> None:
        """All of these people at once, turn by turn."""
        held = [(self._new(), owner) for owner in owners]
        above = dict[UUID, UUID | None]()
        for turn in range(LENGTH // 2):
            for pk, _ in held:
                above[pk] = self._turn(pk, above.get(pk), turn, at)
        self.by_table["conversation"] += [
            (pk.hex, owner, self.words.text(20)[:60], "words", _hex(above[pk]), LENGTH, at, at, "", "[]", "")
            for pk, owner in held
        ]

    def _turn(self, conversation: UUID, above: UUID | None, turn: int, at: str) -> UUID:
        question, answer, chinese = self._new(), self._new(), self.chance.random() < 0.05
        self._message(question, conversation, above, 2 * turn, at)
        self._message(answer, conversation, question, 2 * turn + 1, at)
        for message, seq, kind, found_as, usual in (
            (question, 0, "user_message", "question", 200),
            (answer, 0, "reasoning", "thought", 700),
            (answer, 1, "assistant_message", "answer", 1200),
        ):
            text = self.words.text(usual, chinese=chinese)
            self._item(message, seq, kind, text, at)
            self._folded(conversation, found_as, text)
            self.item += 1
        return answer

    def _message(self, pk: UUID, conversation: UUID, above: UUID | None, order: int, at: str) -> None:
        role, model = ("assistant", MODEL) if order % 2 else ("user", "")
        named = (pk.hex, conversation.hex, _hex(above), order, role)
        self.by_table["message"].append((*named, None, model, "", "complete", 1, 1, 1, "", "{}", at))

    def _item(self, message: UUID, seq: int, kind: str, text: str, at: str) -> None:
        named = (self.item, message.hex, seq, f"part-{seq}", kind)
        self.by_table["item"].append((*named, 0, False, text, "", "", "", "", "", "", at))

    def _folded(self, conversation: UUID, kind: str, text: str) -> None:
        from chatapp.core.signs.folded import fold

        self.by_table["foldeditem"].append((self.item, conversation.hex, kind, fold(text)))

    def _new(self) -> UUID:
        return UUID(int=self.chance.getrandbits(128))

    def insert(self) -> None:
        from django.db import transaction

        with transaction.atomic():
            for table, columns in COLUMNS.items():
                names = ", ".join(f'"{name}"' for name in columns.split())
                _insert(f"chatapp_{table} ({names})", self.by_table[table])


def _insert(into: str, rows: Sequence[Sequence[Any]]) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {into} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            places = ", ".join("?" for _ in rows[0])
            connection.connection.executemany(f"INSERT INTO {into} VALUES ({places})", rows)


def _settle() -> None:
    """What is said from now on has numbers of its own, and the database knows what it holds."""
    from django.db import connection

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            last = "(SELECT max(id) FROM chatapp_item)"
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('chatapp_item', 'id'), {last})")
        cursor.execute("ANALYZE")


def _hex(pk: UUID | None) -> str | None:
    return pk.hex if pk else None


def _moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S")
