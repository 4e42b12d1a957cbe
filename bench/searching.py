"""How long whoever searches waits among a million messages: in ten thousand of one's own, and as an administrator in all of them; what the
index takes, and what a turn pays for it.

Run it with `python -m bench.searching`, with DATA_DIR and DATABASE_URL naming a place that may be filled; what is there already is used
again. It ends with code 1 when a target is missed. Whatever is searched for stands in texts of made-up words, few of them often and many
of them seldom as in any language; one in twenty is of Chinese signs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any

import django

from .said import MODEL, Words, fill

OWN_TARGET, FIRST_TARGET, TURN_TARGET = 50.0, 300.0, 2.0


def index(longest: float) -> tuple[float, float]:
    """Everything that can be, for so many seconds: how many it took, and those of work. Nobody is here to give way to."""
    from chatapp.search.store.filling import begin_mark, newest_item
    from chatapp.search.store.grams import Making, next_segment
    from chatapp.store.database import long_writes

    for vendor, pace in long_writes.PACES.items():
        long_writes.PACES[vendor] = long_writes.WritePace(pace.piece, 0)
    begin_mark()
    began, worked = time.perf_counter(), time.process_time()
    while time.perf_counter() - began < longest and (segment := next_segment(newest_item())) is not None:
        making = Making(segment, "bench")
        while making.step():
            pass
        if segment % 20 == 0:
            print(f"  segment {segment}, {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return time.perf_counter() - began, time.process_time() - worked


def own_times(sought: Sequence[str], people: Sequence[Any]) -> Iterator[tuple[float, float]]:
    from django.utils import timezone

    from chatapp.search.forms import WHERE, terms_of
    from chatapp.search.page.found import shown_found
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


@dataclass(frozen=True)
class Everybodys:
    """Milliseconds until the page with its hits is there, how many these were, whether all was looked at, and the work in it."""

    query: str
    ms: float
    hits: int
    is_all: bool
    worked: float


def everybodys_times(sought: Sequence[str], before: int) -> Iterator[Everybodys]:
    """Of terms with grams."""
    from chatapp.search.forms import terms_of
    from chatapp.search.store.everywhere import find_everywhere

    for query in sought:
        if max(map(len, terms_of(query)), default=0) >= 3:
            began = time.perf_counter()
            worked = time.process_time()
            found = find_everywhere(terms_of(query), before=before)
            ms, cpu = (time.perf_counter() - began) * 1000, (time.process_time() - worked) * 1000
            yield Everybodys(query, ms, len(found.items), found.before is None, cpu)


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

    asked = AskedFor(model=MODEL)
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


@dataclass
class Judged:
    """What was found, and which of it is more than it may be."""

    missed: list[str] = field(default_factory=list)

    def tell(self, what: str, found: float, target: float) -> None:
        tell(f"{what:<58} {found:8.1f} ms (target {target:.0f})")
        self.missed += [what] if found > target else []


def tell(line: str) -> None:
    print(line, flush=True)


def late(times: Sequence[float]) -> float:
    """95 of 100 take no longer."""
    return quantiles(times, n=20)[-1]


def fill_once(messages: int, own: int, words: Words) -> None:
    from chatapp.store.models import Item, Message

    if not Message.objects.exists():
        seconds = took(lambda: fill(messages, own, words)) / 1000
        tell(f"{messages:,} messages written in {seconds:.0f} s")
    tell(f"{Message.objects.count():,} messages, {Item.objects.count():,} items")


def tell_of_turns(words: Words, judged: Judged) -> None:
    from django.contrib.auth.models import User

    plus, without = turn_cost(words, User.objects.get_or_create(username="turns", password="!")[0])
    tell(f"all writes of a turn: {plus[0]:.2f} ms with its folded rows, {without[0]:.2f} ms without")
    tell(f"  of that work of this process: {plus[1]:.2f} ms, {without[1]:.2f} ms")
    judged.tell("folded rows of a turn", plus[0] - without[0], TURN_TARGET)


def tell_of_own(sought: Sequence[str], judged: Judged) -> None:
    from django.contrib.auth.models import User

    people = list(User.objects.order_by("pk")[1:6])
    for name in ("first", "again"):
        both = list(own_times(sought, people))
        times, worked = [ms for ms, _ in both], [ms for _, ms in both]
        tell(f"own, {name}: median {median(times):.1f} ms, most {max(times):.0f} ms")
    tell(f"  of that work of this process: {median(worked):.1f} ms, 95 of 100 {late(worked):.1f} ms")
    judged.tell("own, 95 of 100", late(times), OWN_TARGET)


def tell_of_index(minutes: float) -> int:
    """How many items it leads to."""
    from chatapp.search.store.grams import SIZE, sealed

    seconds, work = index(60 * minutes)
    made = len(sealed()) * SIZE
    tell(f"index made in {seconds:.0f} s, {work:.0f} s of work of Python: {made:,} items")
    for table, size in sizes().items():
        tell(f"  {table}: {size:,.0f} MB")
    return made or SIZE


def tell_of_everybodys(sought: Sequence[str], before: int, judged: Judged) -> None:
    found = list(everybodys_times(sought, before))
    tell(f"everybody's, median {median(each.ms for each in found):.1f} ms; the slowest:")
    for each in sorted(found, key=lambda each: -each.ms)[:8]:
        end = "" if each.is_all else ", not all"
        tell(f"  {each.ms:7.0f} ms, of work {each.worked:4.0f}, {each.hits:3} hits{end}  {each.query}")
    with_hits = [each for each in found if each.hits]
    tell(f"  of that work of this process: 95 of 100 {late([each.worked for each in with_hits]):.1f} ms")
    judged.tell("everybody's, first hits, 95 of 100", late([each.ms for each in with_hits]), FIRST_TARGET)
    for query, ms, count, share in short_terms():
        tell(f"  {query}: {ms:.0f} ms, {count} hits, {share:.0%} of everything looked at")


def options_of() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--own", type=int, default=10_000, help="messages of one person")
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=120, help="for how long the index is made at most")
    return parser.parse_args()


def main() -> int:
    options = options_of()
    os.environ.setdefault("LOG_LEVEL", "warning")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    words, judged = Words(), Judged()
    fill_once(options.messages, options.own, words)
    sought = words.sought(options.searches)
    tell_of_turns(words, judged)
    tell_of_own(sought, judged)
    tell_of_everybodys(sought, tell_of_index(options.minutes), judged)
    if judged.missed:
        tell("missed: " + "; ".join(judged.missed))
    return 1 if judged.missed else 0


if __name__ == "__main__":
    sys.exit(main())
