"""How long administrators wait for the list of 100,000 conversations, narrowed and searched, and for a transcript of 10,000 messages.

Run it with `python -m bench.browsing`, with DATA_DIR and DATABASE_URL naming a place that may be filled. It ends with code 1 when a
page takes longer than the target.
"""

from __future__ import annotations

import os
import sys
import time
from datetime import timedelta
from statistics import median
from typing import Any

import django

CONVERSATIONS, LONG, BATCH, RUNS = 100_000, 10_000, 2000, 5
# Of a list, and of a conversation until its last message.
TARGET, OPENED = 0.3, 0.45
WORDS = (
    "Why does the moon look larger near the horizon than high above it, and since when do people know? " * 4
)
LIST = "/admin/chatapp/conversation/"


def fill() -> str:
    """The rows, made at once; gives the address of the long conversation."""
    from django.contrib.auth.models import User
    from django.db import connection
    from django.utils import timezone

    from chatapp.store.models import Conversation, Item, Message

    people = [User(username=f"person{n}", password="!") for n in range(1000)]
    people = User.objects.bulk_create(people)
    User.objects.create(username="dana", is_staff=True, is_superuser=True, password="!")
    now = timezone.now()
    models = ["openai:gpt-5", "anthropic:claude", "demo:thinker", "deepseek:chat"]
    shape = ["a line of the request's shape, as long as they are"] * 20
    for first in range(0, CONVERSATIONS, BATCH):
        rows, messages, items = [], [], []
        for n in range(first, first + BATCH):
            row = Conversation(owner=people[n % 1000], title=f"Number {n} about the moon", next_order=4)
            row.updated_at = now - timedelta(minutes=n)
            rows.append(row)
            above = None
            for order in range(4):
                answers = order % 2 == 1
                status = "failed" if answers and n % 5000 == 4999 else "complete"
                model = "rare:model" if n == CONVERSATIONS - 7 else models[n % 4]
                facts = {"reasoning_durations_ms": {"rs": 900 + n}, "elapsed_ms": 9000}
                facts["rounds"] = [{"round": 0, "shape": shape, "usage": {"input": 900, "output": 90}}]
                message = Message(
                    conversation=row,
                    parent=above,
                    order=order,
                    role="assistant" if answers else "user",
                    model=model if answers else "",
                    status=status,
                    metadata=facts if answers else {},
                    next_seq=1,
                )
                above = message
                messages.append(message)
                text = "needle" if n == CONVERSATIONS - 9 and answers else WORDS
                kind = "assistant_message" if answers else "user_message"
                items.append(Item(message=message, seq=0, key="part-0", kind=kind, text=text))
        Conversation.objects.bulk_create(rows)
        Message.objects.bulk_create(messages, batch_size=500)
        Item.objects.bulk_create(items, batch_size=500)
    long = Conversation.objects.create(owner=people[0], title="Long", next_order=LONG)
    above, messages, items = None, [], []
    for order in range(LONG):
        answers = order % 2 == 1
        message = Message(
            conversation=long, parent=above, order=order, role="assistant" if answers else "user", next_seq=1
        )
        above = message
        messages.append(message)
        kind = "assistant_message" if answers else "user_message"
        items.append(Item(message=message, seq=0, key="part-0", kind=kind, text=WORDS))
    Message.objects.bulk_create(messages, batch_size=500)
    Item.objects.bulk_create(items, batch_size=500)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return f"{LIST}{long.pk}/transcript/"


def seconds(client: Any, path: str) -> float:
    took = []
    for _ in range(RUNS):
        began = time.perf_counter()
        response = client.get(path)
        took.append(time.perf_counter() - began)
        assert response.status_code == 200, (path, response.status_code)
    return median(took)


def main() -> int:
    os.environ.setdefault("LOG_LEVEL", "warning")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")
    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.test import Client

    from chatapp.store.models import Conversation

    call_command("migrate", verbosity=0)
    if Conversation.objects.exists():
        long = Conversation.objects.get(title="Long")
        transcript = f"{LIST}{long.pk}/transcript/"
    else:
        transcript = fill()
    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username="dana"))
    late = 0
    queries = [
        "",
        "?page=19",
        "?q=moon",
        "?q=person77",
        "?q=99991",
        "?q=nowhere",
        "?model=openai:gpt-5",
        "?provider=demo",
    ]
    queries += [
        "?state=failed",
        "?state=waits",
        "?state=failed&q=moon",
        "?days=7",
        "?thinking=1",
        "?thinking=60",
        "?failed=1&days=30",
        "?key=1",
        "?review=open",
    ]
    paths = [LIST + query for query in queries]
    paths += [f"{LIST}find/?words={word}" for word in ("moon", "needle", "nowhere")]
    paths += [transcript, f"{transcript}?from=5000", transcript.replace("transcript", "map")]
    paths += ["/admin/", "/admin/auth/user/", "/admin/chatapp/look/"]
    for path in paths:
        took = seconds(client, path)
        late += took > (OPENED if "transcript" in path or "map" in path else TARGET)
        print(f"{took:6.3f} s  {path}", flush=True)
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
