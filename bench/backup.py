"""What a backup of 100,000 messages costs, and a restore of it: seconds, memory, and how long somebody waits who writes meanwhile.

Run it with `python -m bench.backup`. With PostgreSQL too when --server names one; it gets databases of its own there, which go away.
"""

from __future__ import annotations

import argparse
import base64
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from bench.own_database import own_database
from tests.browser.served import with_tables
from tests.support.readme import settings_in_readme

TURNS, IN_A_CONVERSATION = 50_000, 100
# MiB that any of the commands may take, and seconds that somebody who writes may wait meanwhile.
MOST_MIB, LONGEST_WAIT = 150, 0.3
PAUSE = 0.02
SENTENCE = (
    "the branch of a thought ends where its answer begins and every word of it was said once and is kept"
)


@dataclass
class Took:
    """`cpu`: of these seconds, and of those of its children."""

    seconds: float
    cpu: float
    mib: float

    def __str__(self) -> str:
        return f"{self.seconds:6.1f} s, {self.cpu:5.1f} of CPU {self.mib:6.0f} MiB"


def fill(turns: int) -> None:
    """Conversations with thoughts, their seals and answers, of sizes that are usual."""
    from django.contrib.auth.models import User

    from chatapp.core.items import Kind
    from chatapp.store.models import Conversation, Item, Message, Role

    chance, owner = random.Random(1), User.objects.create(username="alice")
    for first in range(0, turns, IN_A_CONVERSATION):
        row = Conversation.objects.create(owner=owner, title=f"Conversation {first}", titled_by="person")
        messages: list[Message] = []
        items: list[Item] = []
        for _ in range(min(IN_A_CONVERSATION, turns - first)):
            question = Message(role=Role.USER, author=owner, next_seq=1)
            facts = {
                "reasoning_durations_ms": {"rs_1": 1500},
                "timings_ms": {"rs_1": {"start": 0, "end": 1500}},
            }
            answer = Message(role=Role.ASSISTANT, model="openai:gpt-5", next_seq=2, metadata=facts)
            for message in (question, answer):
                message.id, message.conversation, message.order = uuid4(), row, len(messages)
                message.parent = messages[-1] if messages else None
                messages.append(message)
            sealed = base64.b64encode(chance.randbytes(1200)).decode()
            items += [
                Item(message=question, seq=0, kind=Kind.USER_MESSAGE, key="part-0", text=_words(chance, 25)),
                Item(
                    message=answer,
                    seq=0,
                    kind=Kind.REASONING,
                    key="rs_1",
                    text=_words(chance, 80),
                    wire={"type": "reasoning", "id": "rs_1", "encrypted_content": sealed},
                ),
                Item(
                    message=answer,
                    seq=1,
                    kind=Kind.ASSISTANT_MESSAGE,
                    key="msg_1",
                    text=(said := _words(chance, 200)),
                    wire={
                        "type": "message",
                        "id": "msg_1",
                        "content": [{"type": "output_text", "text": said}],
                    },
                ),
            ]
        Message.objects.bulk_create(messages)
        Item.objects.bulk_create(items)
        Conversation.objects.filter(pk=row.pk).update(head=messages[-1], next_order=len(messages))


def _words(chance: random.Random, many: int) -> str:
    return " ".join(chance.choices(SENTENCE.split(), k=many))


def write() -> None:
    """Until nobody listens any more; then says how long each write took."""
    from django.utils import timezone

    from chatapp.store.running_models import Throttle

    took, began = list[float](), time.monotonic()
    while time.monotonic() - began < 600:
        before = time.monotonic()
        Throttle.objects.update_or_create(name="bench", defaults={"since": timezone.now()})
        took.append(time.monotonic() - before)
        print(took[-1], flush=True)
        time.sleep(PAUSE)


@contextmanager
def writing(environment: dict[str, str]) -> Iterator[list[float]]:
    command = (sys.executable, "-m", "bench.backup", "--write")
    took: list[float] = []
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        yield took
        process.kill()
        took += [float(line) for line in process.stdout if line.endswith("\n")]


def run(environment: dict[str, str], *words: str) -> Took:
    began = time.monotonic()
    process = subprocess.Popen(
        (sys.executable, "manage.py", *words),
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr
    said = process.stderr.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said
    return Took(time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def environment(folder: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in settings_in_readme()}
    folder.mkdir(exist_ok=True)
    return (
        kept | {"DATA_DIR": str(folder), "LOCAL_MODEL": "0"} | {name: at for name, at in more.items() if at}
    )


def measured(place: Path, turns: int, server: str) -> Iterator[Took]:
    here = environment(place / "here")
    with_tables(place / "here")
    subprocess.run((sys.executable, "-m", "bench.backup", "--fill", str(turns)), env=here, check=True)
    file, further = place / "a.backup", place / "b.backup"
    yield from _saved(here, file, "SQLite")
    print(f"the file has {file.stat().st_size / 2**20:.0f} MiB, the database {_size(place / 'here'):.0f} MiB")
    yield _told("SQLite, restored ", run(environment(place / "there"), "restore", str(file)))
    with own_database(server, "restored") as restored, own_database(server, "moved") as moved:
        if not server:
            return
        there = environment(place / "postgresql", DATABASE_URL=restored)
        yield _told("PostgreSQL, restored ", run(there, "restore", str(file)))
        yield from _saved(there, further, "PostgreSQL")
        yield _told(
            "SQLite, restored from PostgreSQL ", run(environment(place / "back"), "restore", str(further))
        )
        yield _told("moved from SQLite to PostgreSQL ", run(here, "move", "--to", moved))
        back = f"sqlite:///{place}/moved-back.sqlite3"
        yield _told("moved from PostgreSQL to SQLite ", run(there, "move", "--to", back))


def _saved(source: dict[str, str], file: Path, name: str) -> Iterator[Took]:
    with writing(source) as waits:
        yield _told(f"{name}, saved ", run(source, "backup", str(file)))
    print(
        f"  meanwhile {len(waits)} writes: median {statistics.median(waits):.3f} s, longest {max(waits):.3f} s"
    )
    if max(waits) > LONGEST_WAIT:
        sys.exit("Somebody waited for a backup.")


def _told(what: str, took: Took) -> Took:
    print(f"{what:.<40} {took}", flush=True)
    return took


def _size(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.glob("*.sqlite3*")) / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=TURNS, help="each a question and an answer")
    parser.add_argument(
        "--server", default="", help="postgresql://user@host/name: where databases can be made"
    )
    parser.add_argument("--fill", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fill or options.write:
        os.environ["DJANGO_SETTINGS_MODULE"] = "chatapp.settings"
        import django

        django.setup()
        fill(options.fill) if options.fill else write()
        return
    with TemporaryDirectory() as place:
        most = max(took.mib for took in measured(Path(place), options.turns, options.server))
    print(f"At most {most:.0f} MiB; {MOST_MIB} are allowed.")
    sys.exit(most > MOST_MIB)


if __name__ == "__main__":
    main()
