"""Shuts the database of a real server for long, at every point of an answer, with and without a stop and a death meanwhile: is
anything lost, or asked twice?

Run it with `python -m bench.unwritable --seconds 14`; with `--database postgres://postgres@127.0.0.1:5432/postgres --seconds 20`
PostgreSQL lets nobody in for so long. There nobody can be signed in meanwhile, so nobody stops."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import django
import httpx

from tests.browser.served import Served, serving
from tests.browser.steered import running

from .own_database import own_database

MODEL = "compatible:gpt-5-mini"
TOKEN = "a" * 32
PATIENCE = 60.0
WORDS = "Because of this"


@dataclass(frozen=True)
class Case:
    """`point`: how far the answer is when the database shuts; then it goes on or is stopped, and the process may die."""

    point: str
    stopped: bool
    dies: bool

    def __str__(self) -> str:
        return f"{self.point:12} {'stopped' if self.stopped else 'goes on':8} {'dies' if self.dies else 'lives':6}"

    @property
    def ended(self) -> bool:
        """Nothing is left for the provider to say."""
        return self.stopped or self.point in ("end", "waiting")


POINTS = ("claimed", "thought", "text", "end", "a call", "waiting")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=14.0)
    parser.add_argument("--database", default="", help="a PostgreSQL server")
    chosen = parser.parse_args()
    # Told to end, it still takes its database away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with (
        running() as upstream,
        TemporaryDirectory(prefix="unwritable-") as folder,
        own_database(chosen.database, "unwritable") as url,
    ):
        os.environ |= {"DJANGO_SETTINGS_MODULE": "chatapp.settings", "DATA_DIR": folder, "DATABASE_URL": url}
        django.setup()
        from .shut import impatient

        environment = upstream.environment | {"DATABASE_URL": url}
        with impatient(PATIENCE), serving(Path(folder), environment) as served:
            # People are made beforehand: who makes them loses the database too.
            rounds = [Round(served, upstream, case) for case in _cases(stops=not url)]
            bad = [each for each in rounds if not each.play(chosen.seconds)]
    print(f"breaches: {len(bad)}")
    sys.exit(1 if bad else 0)


def _cases(*, stops: bool) -> Iterator[Case]:
    for point, stopped, dies in product(POINTS, (False, True), (False, True)):
        if (stops or not stopped) and (stopped or point != "waiting"):
            yield Case(point, stopped, dies)


class Round:
    """One answer, asked by somebody new."""

    def __init__(self, served: Served, upstream: Any, case: Case) -> None:
        self.served, self.upstream, self.case = served, upstream, case
        _, session = served.person()
        cookies = {"sessionid": session, "csrftoken": TOKEN}
        self.client = httpx.Client(
            base_url=served.url,
            cookies=cookies,
            headers={"X-CSRFToken": TOKEN},
            trust_env=False,
            timeout=PATIENCE,
        )

    def play(self, seconds: float) -> bool:
        from .shut import Lock

        self.before = len(self.upstream.requests)
        with closing(self.client):
            self.client.post("/ask/", data={"text": "Why?", "model": MODEL})
            self.script = self.upstream.next_answer()
            self._go_to_the_point()
            lock = Lock()
            lock.shut()
            began = time.monotonic()
            took = self._stop() if self.case.stopped else self._go_on()
            time.sleep(max(0.0, began + seconds - time.monotonic()))
            if self.case.dies:
                self.served.kill()
            lock.open()
            if self.case.dies:
                self.served.start()
            return self._judge(took)

    def _go_to_the_point(self) -> None:
        match self.case.point:
            case "thought":
                self.script.think("Hm. ")
            case "text" | "end":
                self.script.write(WORDS)
            case "waiting":
                self.script.call("read_page", '{"url": "https://example.org/"}')
                self.script.finish()
                _until(lambda: self._row().status == "waiting")
        if self.case.point in ("thought", "text", "end"):
            _until(self._is_drafted)

    def _stop(self) -> float:
        began = time.monotonic()
        answer = self.client.post(f"/m/{self._row().pk}/stop/", headers={"HX-Request": "true"})
        took = time.monotonic() - began
        assert answer.status_code == 200, answer.status_code
        return took

    def _go_on(self) -> float:
        if self.case.point == "end":
            self.script.finish()
        elif self.case.point == "a call":
            self.script.call("calculate", '{"expression": "1 + 1"}')
            self.script.finish()
        return 0.0

    def _judge(self, took: float) -> bool:
        self._let_it_end()
        row, words = self._row(), self._words()
        asked = len(self.upstream.requests) - self.before
        fine = {
            "status": row.status == ("stopped" if self.case.stopped else "complete"),
            "asked": asked == self._may_ask(),
            "words": self.case.point not in ("text", "end") or words.startswith(WORDS),
        }
        wrong = ", ".join(name for name, right in fine.items() if not right)
        stop = f" stop {took:.2f} s" if self.case.stopped else ""
        print(
            f"{self.case} {row.status}, asked {asked}{stop} {'WRONG: ' + wrong if wrong else ''}", flush=True
        )
        return not wrong

    def _may_ask(self) -> int:
        """A round that had not ended when its process died is asked again; a call is followed by another round."""
        if self.case.ended:
            return 1
        return 2 if self.case.dies or self.case.point == "a call" else 1

    def _let_it_end(self) -> None:
        """Whoever is asked now, or goes on speaking, says what is left."""
        if not self.case.ended:
            again = self.case.dies or self.case.point == "a call"
            script = self.upstream.next_answer() if again else self.script
            script.write(WORDS if again or self.case.point != "text" else ".")
            script.finish()
        _until(lambda: self._row().status not in ("queued", "running", "waiting"))

    def _is_drafted(self) -> bool:
        from chatapp.store.models import Draft

        return bool(_fresh(lambda: Draft.objects.filter(message=self._row().pk).exists()))

    def _row(self) -> Any:
        from chatapp.store.models import Message

        return _fresh(lambda: Message.objects.filter(role="assistant").latest("created_at"))

    def _words(self) -> str:
        from chatapp.store import load_items

        return "".join(
            item.text
            for item in _fresh(lambda: load_items(self._row().pk))
            if item.kind == "assistant_message"
        )


def _fresh(look: Callable[[], Any]) -> Any:
    from django.db import connection

    try:
        return look()
    finally:
        connection.close()


def _until(look: Callable[[], Any]) -> None:
    began = time.monotonic()
    while not look():
        assert time.monotonic() - began < PATIENCE, "It never came."
        time.sleep(0.02)


if __name__ == "__main__":
    main()
