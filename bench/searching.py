"""How long whoever searches waits among a million messages: in ten thousand of one's own, and as an administrator in all of them; what the
index takes, and what a turn pays for it.

Run it with `python -m bench.searching`, with DATA_DIR and DATABASE_URL naming a place that may be filled; what is there already is used
again. It ends with code 1 when a target is missed. Whatever is searched for stands in texts of made-up words, few of them often and many
of them seldom as in any language; one in twenty is of Chinese signs.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from statistics import median, quantiles
from typing import Any
from uuid import UUID

import django

OWN_TARGET, FIRST_TARGET, TURN_TARGET = 50.0, 300.0, 2.0
# Messages of a conversation, and how many conversations people go on with at a time.
LENGTH, AT_A_TIME = 20, 50
LETTERS = "etaoinshrdlcumwfgypbvk"


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
    """Rows as they are after years, folded as each was written."""
    from django.contrib.auth.models import User
    from django.db import connection

    from chatapp.core.signs.folded import fold

    people = User.objects.bulk_create(
        [User(username=f"person{n}", password="!", is_staff=n == 0) for n in range(messages // own)]
    )
    chance, now, item = random.Random(3), datetime.now(UTC), 0
    kinds = {"user_message": "question", "reasoning": "thought", "assistant_message": "answer"}
    for first in range(0, messages // LENGTH, AT_A_TIME * 20):
        rows: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        for begins in range(first, min(first + AT_A_TIME * 20, messages // LENGTH), AT_A_TIME):
            at = _moment(now - timedelta(minutes=messages // LENGTH - begins))
            held = [
                (UUID(int=chance.getrandbits(128)), people[(begins + n) % len(people)].pk)
                for n in range(AT_A_TIME)
            ]
            above = dict[UUID, UUID | None]()
            for turn in range(LENGTH // 2):
                for pk, _ in held:
                    question, answer = UUID(int=chance.getrandbits(128)), UUID(int=chance.getrandbits(128))
                    for order, message, parent in (
                        (2 * turn, question, above.get(pk)),
                        (2 * turn + 1, answer, question),
                    ):
                        role, model = ("assistant", "openai:gpt-5") if order % 2 else ("user", "")
                        rows["message"].append(_message(message, pk, parent, order, role, model, at))
                    above[pk] = answer
                    chinese = chance.random() < 0.05
                    for message, seq, kind, usual in (
                        (question, 0, "user_message", 200),
                        (answer, 0, "reasoning", 700),
                        (answer, 1, "assistant_message", 1200),
                    ):
                        item += 1
                        text = words.text(usual, chinese=chinese)
                        rows["item"].append(_item(item, message, seq, kind, text, at))
                        rows["foldeditem"].append((item, _id(pk), kinds[kind], fold(text)))
            rows["conversation"] += [
                (_id(pk), owner, words.text(20)[:60], "words", _id(above[pk]), LENGTH, at, at, "", "[]", "")
                for pk, owner in held
            ]
        _insert(rows)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            for table in ("item",):
                cursor.execute(
                    f"SELECT setval(pg_get_serial_sequence('chatapp_{table}', 'id'), (SELECT max(id) FROM chatapp_{table}))"
                )
        cursor.execute("ANALYZE")


COLUMNS = {
    "conversation": "id owner_id title titled_by head_id next_order created_at updated_at instructions tools program".split(),  # noqa: SIM905
    "message": "id conversation_id parent_id order role author_id model effort status attempt tries next_seq runner metadata created_at".split(),  # noqa: E501, SIM905
    "item": "id message_id seq key kind round cut text provider dialect model call_id name outcome created_at".split(),  # noqa: SIM905
    "foldeditem": ["item_id", "conversation_id", "kind", "text"],
}


def _message(
    pk: UUID, conversation: UUID, parent: UUID | None, order: int, role: str, model: str, at: str
) -> Any:
    above = _id(parent) if parent else None
    named = (_id(pk), _id(conversation), above, order, role)
    return (*named, None, model, "", "complete", 1, 1, 1, "", "{}", at)


def _item(pk: int, message: UUID, seq: int, kind: str, text: str, at: str) -> Any:
    return (pk, _id(message), seq, f"part-{seq}", kind, 0, False, text, "", "", "", "", "", "", at)


def _insert(rows: dict[str, list[Any]]) -> None:
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        for table, columns in COLUMNS.items():
            names = ", ".join(f'"{name}"' for name in columns)
            if connection.vendor == "postgresql":
                with cursor.copy(f"COPY chatapp_{table} ({names}) FROM STDIN") as copy:
                    for row in rows[table]:
                        copy.write_row(row)
            else:
                places = ", ".join("?" for _ in columns)
                connection.connection.executemany(
                    f"INSERT INTO chatapp_{table} ({names}) VALUES ({places})", rows[table]
                )


def _id(pk: UUID) -> str:
    return pk.hex


def _moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S")


def index(longest: float) -> tuple[float, float]:
    """Everything that can be, for so many seconds: how many it took, and those of work. Nobody is here to give way to."""
    from chatapp.search.store.filling import newest_item
    from chatapp.search.store.grams import Making, next_segment
    from chatapp.store.database import long_writes

    for vendor, pace in long_writes.PACES.items():
        long_writes.PACES[vendor] = long_writes.WritePace(pace.piece, 0)
    began, worked = time.perf_counter(), time.process_time()
    while time.perf_counter() - began < longest and (segment := next_segment(newest_item())) is not None:
        making = Making(segment)
        while making.step():
            pass
        if segment % 20 == 0:
            print(f"  segment {segment}, {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return time.perf_counter() - began, time.process_time() - worked


def own_times(sought: Sequence[str], people: Sequence[Any]) -> Iterator[tuple[float, float]]:
    from django.utils import timezone

    from chatapp.search.forms import WHERE, terms_of
    from chatapp.search.page import shown_found
    from chatapp.search.store.finding import WantedWords, find_own

    zone = timezone.get_default_timezone()
    for n, query in enumerate(sought):
        terms, person = terms_of(query), people[n % len(people)]

        def search(terms: tuple[str, ...] = terms, person: Any = person) -> object:
            return shown_found(find_own(person, WantedWords(terms, frozenset(WHERE))).found, terms, zone)

        worked = time.process_time()
        ms = took(search)
        yield ms, (time.process_time() - worked) * 1000


def took(work: Callable[[], object]) -> float:
    """Milliseconds."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def everybodys_times(sought: Sequence[str], before: int) -> Iterator[tuple[str, float, int, bool, float]]:
    """Of terms with grams: until the page with its hits is there, how many these were, and whether all was looked at."""
    from chatapp.search.forms import terms_of
    from chatapp.search.store.everywhere import find_everywhere

    for query in sought:
        if max(map(len, terms_of(query)), default=0) >= 3:
            began = time.perf_counter()
            worked = time.process_time()
            found = find_everywhere(terms_of(query), before=before)
            ms, cpu = (time.perf_counter() - began) * 1000, (time.process_time() - worked) * 1000
            yield query, ms, len(found.items), found.before is None, cpu


def short_terms() -> Iterator[tuple[str, float, int, float]]:
    """How much of everything is looked at in a second."""
    from chatapp.search.store.everywhere import find_everywhere
    from chatapp.search.store.filling import newest_item

    newest = newest_item()
    for query in ("qz", "k7", "龘", "鱻鱻"):
        began = time.perf_counter()
        found = find_everywhere((query,))
        share = 1 - (found.before or 0) / newest
        yield query, (time.perf_counter() - began) * 1000, len(found.items), share


def turn_cost(words: Words, owner: Any, rounds: int = 200) -> tuple[list[float], list[float]]:
    """Milliseconds of all writes of a turn, and of work of this process in them: with its folded rows and without, which took turns."""
    from chatapp import store
    from chatapp.core.items import Item, Kind
    from chatapp.search.store import folding
    from chatapp.store import AskedFor, Measured
    from chatapp.store.changes import items_written

    asked = AskedFor(model="openai:gpt-5")
    spent: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for n in range(2 * rounds):
        folds = bool(n % 2)
        if not folds:
            items_written.disconnect(dispatch_uid="folded")
        said = words.text(200), words.text(700), words.text(1200)

        def turn(said: tuple[str, str, str] = said) -> None:
            started = store.open_conversation(owner, said[0], tools=[], asked=asked)
            claim = store.claim_turn(started.answer, runner="bench", seen=0)
            thought = Item(key="rs_1", kind=Kind.REASONING, text=said[1])
            store.finish(
                claim, [thought, Item(key="msg_1", kind=Kind.ASSISTANT_MESSAGE, text=said[2])], Measured()
            )

        worked = time.process_time()
        spent[folds].append((took(turn), (time.process_time() - worked) * 1000))
        items_written.connect(folding._fold_written, dispatch_uid="folded")
    both = [[median(column) for column in zip(*spent[folds], strict=True)] for folds in (True, False)]
    return both[0], both[1]


def sizes() -> dict[str, float]:
    """Megabytes of the tables, with their indexes."""
    from django.db import connection

    found = {}
    with connection.cursor() as cursor:
        for table in ("item", "foldeditem", "grambits"):
            name = f"chatapp_{table}"
            if connection.vendor == "postgresql":
                cursor.execute("SELECT pg_total_relation_size(%s::regclass)", [name])
            else:
                cursor.execute(
                    "SELECT SUM(pgsize) FROM dbstat WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name = %s)",
                    [name],
                )
            found[table] = cursor.fetchone()[0] / 1e6
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--own", type=int, default=10_000, help="messages of one person")
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=120, help="for how long the index is made at most")
    options = parser.parse_args()
    os.environ.setdefault("LOG_LEVEL", "warning")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")
    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from chatapp.search.store.grams import SIZE, sealed
    from chatapp.store.models import Item, Message

    call_command("migrate", verbosity=0)
    words, missed = Words(), list[str]()

    def judge(what: str, found: float, target: float) -> None:
        print(f"{what:<58} {found:8.1f} ms (target {target:.0f})", flush=True)
        missed.extend([what] if found > target else [])

    if not Message.objects.exists():
        began = time.perf_counter()
        fill(options.messages, options.own, words)
        print(f"{options.messages:,} messages written in {time.perf_counter() - began:.0f} s", flush=True)
    print(f"{Message.objects.count():,} messages, {Item.objects.count():,} items", flush=True)
    people, sought = list(User.objects.order_by("pk")[1:6]), words.sought(options.searches)
    plus, without = turn_cost(words, User.objects.get_or_create(username="turns", password="!")[0])
    print(
        f"all writes of a turn: {plus[0]:.2f} ms with its folded rows, {without[0]:.2f} ms without",
        flush=True,
    )
    print(f"  of that work of this process: {plus[1]:.2f} ms, {without[1]:.2f} ms", flush=True)
    judge("folded rows of a turn", plus[0] - without[0], TURN_TARGET)
    for name in ("first", "again"):
        both = list(own_times(sought, people))
        times, worked = [ms for ms, _ in both], [ms for _, ms in both]
        print(f"own, {name}: median {median(times):.1f} ms, most {max(times):.0f} ms", flush=True)
    print(
        f"  of that work of this process: {median(worked):.1f} ms, 95 of 100 {quantiles(worked, n=20)[-1]:.1f} ms",
        flush=True,
    )
    judge("own, 95 of 100", quantiles(times, n=20)[-1], OWN_TARGET)
    seconds, work = index(60 * options.minutes)
    made = len(sealed())
    print(f"index made in {seconds:.0f} s, {work:.0f} s of work of Python: {made * SIZE:,} items", flush=True)
    for table, size in sizes().items():
        print(f"  {table}: {size:,.0f} MB", flush=True)
    found = list(everybodys_times(sought, (made * SIZE) or SIZE))
    late = sorted(found, key=lambda each: -each[1])[:8]
    print(f"everybody's, median {median(each[1] for each in found):.1f} ms; the slowest:", flush=True)
    for query, ms, count, is_all, cpu in late:
        print(
            f"  {ms:7.0f} ms, of work {cpu:4.0f}, {count:3} hits{'' if is_all else ', not all'}  {query}",
            flush=True,
        )
    with_hits = [each[1] for each in found if each[2]]
    worked = [each[4] for each in found if each[2]]
    print(f"  of that work of this process: 95 of 100 {quantiles(worked, n=20)[-1]:.1f} ms", flush=True)
    judge("everybody's, first hits, 95 of 100", quantiles(with_hits, n=20)[-1], FIRST_TARGET)
    for query, ms, count, share in short_terms():
        print(f"  {query}: {ms:.0f} ms, {count} hits, {share:.0%} of everything looked at", flush=True)
    if missed:
        print("missed: " + "; ".join(missed), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
