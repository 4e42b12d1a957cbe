"""How long administrators wait for the page of figures and its files, with 1,000,000 items in 250,000 answers of a year.

Run it with `python -m bench.insight`, with DATA_DIR and DATABASE_URL naming a place that may be filled. It ends with code 1 when a
page takes longer than the target.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import django

from bench.browsing import RUNS, seconds

ANSWERS, PER_CONVERSATION, PEOPLE, DAYS, BATCH, TARGET = 250_000, 10, 200, 365, 5000, 0.5
KINDS = ("reasoning", "tool_call", "reasoning", "assistant_message")
MODELS = [f"provider:model-{n}" for n in range(8)]
PATHS = [f"/insight/?days={days}" for days in (14, 90, 365)]
PATHS += [f"/insight/?days=90&model={MODELS[0]}"]
PATHS += [
    f"/insight/{what}.csv?days=365" for what in ("days", "models", "people", "endings", "thoughts-left-out")
]


def facts_of(dice: random.Random) -> dict[str, Any]:
    first, second = (round(dice.lognormvariate(9, 0.8)) for _ in range(2))
    usage = {"input": dice.randrange(9000), "cached": 90, "output": dice.randrange(900), "reasoning": 60}
    asked = {
        "round": 0,
        "usage": usage,
        "first_event_ms": dice.randrange(200, 4000),
        "replayed": dice.randrange(5),
    }
    shape = ["a line of the request's shape, as long as they are"] * 10
    rounds = [asked | {"shape": shape, "dropped": {"cut turn": dice.randrange(2)}}] * 2
    return {"reasoning_durations_ms": {"rs_1": first, "rs_2": second}, "rounds": rounds, "elapsed_ms": 9000}


def batches(people: list[Any], now: Any) -> Iterator[tuple[list[Any], list[Any], list[Any]]]:
    from chatapp.store.models import Conversation, Item, Message

    dice = random.Random(7)
    for first in range(0, ANSWERS, BATCH):
        conversations, messages, items = [], [], []
        for n in range(first, first + BATCH):
            if n % PER_CONVERSATION == 0:
                conversations.append(Conversation(owner=dice.choice(people), next_order=PER_CONVERSATION))
            status = dice.choices(["complete", "failed", "stopped"], [95, 3, 2])[0]
            metadata = facts_of(dice) | ({"ended": {"reason": "busy"}} if status == "failed" else {})
            message = Message(
                conversation=conversations[-1],
                order=n % PER_CONVERSATION,
                role="assistant",
                model=MODELS[min(dice.randrange(8), dice.randrange(8))],
                status=status,
                attempt=1,
                metadata=metadata,
                next_seq=len(KINDS),
                touched_at=now - timedelta(days=dice.randrange(DAYS)),
            )
            messages.append(message)
            items += [
                Item(message=message, seq=seq, key=f"part-{seq}", kind=kind) for seq, kind in enumerate(KINDS)
            ]
        yield conversations, messages, items


def fill() -> None:
    """The rows, made at once."""
    from django.contrib.auth.models import User
    from django.db import connection, transaction
    from django.utils import timezone

    from chatapp.store.models import Conversation, Item, Message

    User.objects.create(username="dana", is_staff=True, is_superuser=True, password="!")
    people = User.objects.bulk_create(User(username=f"person{n}", password="!") for n in range(PEOPLE))
    for conversations, messages, items in batches(people, timezone.now()):
        with transaction.atomic():
            Conversation.objects.bulk_create(conversations)
            Message.objects.bulk_create(messages, batch_size=500)
            Item.objects.bulk_create(items, batch_size=1000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def main() -> int:
    os.environ.setdefault("LOG_LEVEL", "warning")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")
    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client

    from chatapp.insight.models import ModelDay, PersonDay
    from chatapp.insight.store import sums as figures
    from chatapp.store.models import Item

    call_command("migrate", verbosity=0)
    if not Item.objects.exists():
        fill()
    began, cpu = time.perf_counter(), time.process_time()
    counted = figures.count_anew()
    took_all, cpu = time.perf_counter() - began, time.process_time() - cpu
    print(f"{took_all:6.1f} s, {cpu:6.1f} s of CPU  counting {counted:,} answers anew", flush=True)
    print(
        f"{Item.objects.count():,} items; {ModelDay.objects.count():,} and {PersonDay.objects.count():,} sums"
    )
    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username="dana"))
    took = {}
    for path in PATHS:
        began = time.process_time()
        took[path] = seconds(client, path)
        # On a machine that does other things too, what it costs says more than how long it took.
        cpu = (time.process_time() - began) / RUNS
        print(f"{took[path]:6.3f} s, {cpu:6.3f} s of CPU  {path}", flush=True)
    return 1 if max(took.values()) > TARGET else 0


if __name__ == "__main__":
    sys.exit(main())
