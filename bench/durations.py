"""Whether the stored time of a thought is the one that its provider's script says, on every protocol, through the real engine.

Run it with `python -m bench.durations`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import fresh as fresh
from chatapp.core.items import Kind
from chatapp.providers.base import Endpoint
from chatapp.providers.configured import Catalog
from chatapp.store.models import Status
from tests.support.providers import TOOLS, Line
from tests.support.stage import Stage, play, stage

LINES = (
    Line("openai", "responses"),
    Line("anthropic", "messages"),
    Line("deepseek", "chat", "@deepseek"),
    Line("openrouter", "chat", "@openrouter"),
)
MOST_MS = 30
REPEATS = 2
CALL = {"tool": {"name": "get_weather", "args": {"city": "Rome"}}}
ANSWER = {"text": "That is it."}
# Twenty words a second, in words of four letters.
WORDS = {"tps": 20, "chunk": 4}
Turn = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """`takes`: the seconds of each thought, as each protocol shows them. A protocol that is missing cannot show it."""

    name: str
    turns: list[Turn]
    takes: dict[str, list[float]]

    @property
    def scenario(self) -> str:
        return "-".join(["thoughts", *self.name.split()])


@dataclass(frozen=True)
class Result:
    line: Line
    case: Case
    stored: list[int | None]

    @property
    def scripted(self) -> list[int]:
        return [round(seconds * 1000) for seconds in self.case.takes[self.line.dialect]]

    @property
    def worst(self) -> float:
        """The largest error in milliseconds, with its sign; endless where a thought has no time or is missing."""
        known = [ms for ms in self.stored if ms is not None]
        if not len(known) == len(self.stored) == len(self.scripted):
            return float("inf")
        return max((have - want for have, want in zip(known, self.scripted, strict=True)), key=abs, default=0)

    def is_right(self) -> bool:
        return abs(self.worst) <= MOST_MS


def thought(
    seconds: float = 0.0, words: str | list[str] = "I weigh what is known.", **more: Any
) -> dict[str, Any]:
    return {"reasoning": {"summary": words, "delay": seconds, **more}}


def turn(*items: dict[str, Any], **more: Any) -> Turn:
    return {"items": list(items), **more}


def late(thing: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The same, after a pause."""
    ((kind, value),) = thing.items()
    return {kind: (value if isinstance(value, dict) else {kind: value}) | {"delay": seconds}}


def everywhere(*seconds: float) -> dict[str, list[float]]:
    return with_events(*seconds, chat=list(seconds))


def with_events(*seconds: float, **other: list[float]) -> dict[str, list[float]]:
    """Protocols whose items have a start and an end of their own; chat completions have neither."""
    return {"responses": list(seconds), "messages": list(seconds), **other}


CASES = (
    Case(
        "a thought before each call",
        [turn(thought(0.2), CALL), turn(thought(1.0), CALL), turn(thought(3.0), ANSWER)],
        everywhere(0.2, 1.0, 3.0),
    ),
    Case(
        "six short rounds",
        [*[turn(thought(0.2), CALL)] * 5, turn(thought(0.25), ANSWER)],
        everywhere(0.2, 0.2, 0.2, 0.2, 0.2, 0.25),
    ),
    Case(
        "thoughts between texts",
        [
            turn(thought(0.5), ANSWER, thought(0.4), ANSWER, thought(0.7), CALL, CALL),
            turn(thought(0.3), ANSWER),
        ],
        everywhere(0.5, 0.4, 0.7, 0.3),
    ),
    Case(
        "two thoughts in a row",
        [turn(thought(0.8), thought(0.5), CALL), turn(thought(0.4), ANSWER)],
        # One thought in chat completions, which begins with its first word.
        with_events(0.8, 0.5, 0.4, chat=[0.5, 0.4]),
    ),
    Case(
        "word by word",
        [
            turn(thought(0.0, "word" * 20), CALL, speed=WORDS),
            turn(thought(0.0, "word" * 40), ANSWER, speed=WORDS),
        ],
        # The last word ends it, where the protocol says so; in chat completions, the first one of what follows.
        with_events(0.95, 1.95, chat=[1.0, 2.0]),
    ),
    Case(
        "a summary in three parts",
        [turn(thought(0.3, ["One.", "Two.", "Three."], part_delay=0.4), ANSWER)],
        {"responses": [1.1], "messages": [0.3], "chat": [0.3]},
    ),
    Case(
        "hidden thoughts",
        [turn(thought(0.6, []), CALL), turn(thought(0.4, []), ANSWER)],
        with_events(0.6, 0.4),
    ),
    Case(
        "redacted thoughts",
        [
            turn(thought(0.7, redacted=True), thought(0.5, redacted=True), CALL),
            turn(thought(0.9, redacted=True), ANSWER),
        ],
        {"messages": [0.7, 0.5, 0.9]},
    ),
    Case(
        "all in one chunk",
        [turn(thought(), CALL, speed={"head": 0.7}), turn(thought(), ANSWER, speed={"head": 1.5})],
        everywhere(0.7, 1.5),
    ),
    Case(
        "long arguments",
        [
            turn(
                thought(0.0, "word" * 10),
                {"tool": {"name": "get_weather", "args": {"city": "Rome" * 15}}},
                speed=WORDS,
            ),
            turn(thought(0.5), ANSWER),
        ],
        with_events(0.45, 0.5, chat=[0.5, 0.5]),
    ),
    Case(
        "a pause after the thought",
        [turn(thought(0.5), late(CALL, 0.6)), turn(thought(0.3), late(ANSWER, 0.4))],
        # In chat completions nothing else says that the thought is over.
        with_events(0.5, 0.3, chat=[0.6, 0.4]),
    ),
    Case(
        "a busy provider first",
        [
            turn(
                thought(),
                ANSWER,
                speed={"head": 0.6},
                faults=[{"kind": "http", "status": 429, "retry_after": 1, "times": 1}],
            )
        ],
        everywhere(0.6),
    ),
)


@contextmanager
def upstream() -> Iterator[str]:
    """The root address of a fake provider in a process of its own."""
    command = [sys.executable, "-m", "tests.upstream", "--port", "0", "--no-record"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().split()[3].removesuffix("/v1")
        finally:
            process.terminate()


def add_cases(root: str) -> None:
    for case in CASES:
        script = json.dumps({"turns": case.turns, "after_last": "stay"}).encode()
        request = urllib.request.Request(f"{root}/_scenarios/{case.scenario}", script, method="PUT")
        urllib.request.urlopen(request).close()


def catalog_for(root: str) -> Catalog:
    """Official base URLs are kept as they are: each provider has its own path."""
    urls = {"openai": "/v1", "anthropic": "", "deepseek": "", "openrouter": "/api/v1"}
    return Catalog(
        Endpoint(
            name=line.provider, dialect=line.dialect, base_url=root + urls[line.provider], key="sk-org-bench"
        )
        for line in LINES
    )


async def ask(on: Stage, line: Line, case: Case) -> Result:
    row = await on.ask("How long?", model=line.model(case.scenario))
    if row.status != Status.COMPLETE:
        sys.exit(f"{line}, {case.name}: {row.status}: {row.metadata.get('ended')}")
    thoughts = [item for item in await on.items(row.id) if item.kind is Kind.REASONING]
    return Result(line, case, [row.reasoning_ms(item.key) for item in thoughts])


@asynccontextmanager
async def lateness() -> AsyncIterator[list[float]]:
    """How many milliseconds too late this process woke up from short sleeps meanwhile: what the machine adds by itself."""
    found: list[float] = []
    watching = asyncio.create_task(_watch(found))
    yield found
    watching.cancel()


async def _watch(found: list[float]) -> None:
    now = asyncio.get_running_loop().time
    while True:
        before = now()
        await asyncio.sleep(0.02)
        found.append((now() - before - 0.02) * 1000)


async def first_question(on: Stage) -> Result:
    """A thought in one chunk counts from its request, so whatever a process does only for its first one is in it."""
    await on.engine.start()
    case = next(case for case in CASES if case.name == "all in one chunk")
    async with lateness() as late_by:
        result = await ask(on, LINES[2], case)
    result = replace(result, case=replace(case, name="first of the process"))
    show([result], late_by)
    return result


async def all_cases(on: Stage) -> list[Result]:
    """Case by case, the protocols beside each other as they would be in one server."""
    results: list[Result] = []
    for case in CASES:
        asked = [ask(on, line, case) for line in LINES if line.dialect in case.takes]
        async with lateness() as late_by:
            results += await asyncio.gather(*asked)
        show(results[-len(asked) :], late_by)
    return results


async def again(on: Stage, result: Result) -> Result:
    """Up to twice more, alone: an error that does not come back was the machine's."""
    for _ in range(REPEATS):
        if result.is_right():
            break
        async with lateness() as late_by:
            result = await ask(on, result.line, result.case)
        print("once more:")
        show([result], late_by)
    return result


def show(results: Iterable[Result], late_by: list[float]) -> None:
    for result in results:
        have = " ".join(str(ms) for ms in result.stored)
        want = " ".join(str(ms) for ms in result.scripted)
        print(f"{result.line!s:22} {result.case.name:27} {want:27} {have:27} {result.worst:+6.0f}")
    print(f"{'':22} (this process woke up to {max(late_by):.1f} ms late meanwhile)", flush=True)


def show_worst(results: list[Result]) -> None:
    print(f"\nworst error, of {sum(len(result.stored) for result in results)} thoughts:")
    for line in LINES:
        worst = max((result.worst for result in results if result.line is line), key=abs)
        print(f"{line.dialect:10} {line!s:22} {worst:+6.0f} ms {'' if abs(worst) <= MOST_MS else 'TOO MUCH'}")


async def measure(root: str, folder: Path, found: list[Result]) -> None:
    async with stage(catalog_for(root), folder, tools=TOOLS) as on:
        print(f"{'protocol':22} {'case':27} {'scripted ms':27} {'stored ms':27} {'worst':>6}")
        found.append(await first_question(on))
        found += [await again(on, result) for result in await all_cases(on)]


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    found: list[Result] = []
    with upstream() as root, TemporaryDirectory() as folder:
        add_cases(root)
        play(measure(root, Path(folder), found))
    show_worst(found)
    sys.exit(not all(result.is_right() for result in found))


if __name__ == "__main__":
    main()
