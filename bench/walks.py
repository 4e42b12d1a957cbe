"""How many files and functions of ours a walk through the house crosses, as the interpreter sees it.

Run it with `python -m bench.walks`; `--name` names them. Each walk is gone once before it is recorded: what is made once does not count."""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import Any
from uuid import UUID

from . import fresh  # isort: skip

from django.contrib.auth.models import User

from chatapp.reviews.models import Submission
from chatapp.store import in_thread
from chatapp.store.models import Message
from tests.conversations.asking_tools import Panels, Toolbox, furnished, send
from tests.support.front import HTMX, Visitor, visitor
from tests.support.listening import Socket
from tests.support.reviewed import reviewer
from tests.support.script import response, text, thought
from tests.support.stage import Stage, play

__all__ = ["fresh"]

HOUSE = f"{Path(__file__).resolve().parents[1] / 'chatapp'}/"
ANSWER = response(thought(), text())


class Recorder:
    """Notes every function of ours that is entered while it is on, in whatever thread."""

    def __init__(self) -> None:
        self.on = False
        self.crossed: set[tuple[str, str]] = set()
        threading.setprofile(self._see)
        sys.setprofile(self._see)

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if self.on and event == "call" and code.co_filename.startswith(HOUSE) and code.co_name[0] != "<":
            self.crossed.add((code.co_filename.removeprefix(HOUSE), code.co_qualname))

    def __enter__(self) -> None:
        self.crossed, self.on = set(), True

    def __exit__(self, *_: object) -> None:
        self.on = False


SEEN = Recorder()


@asynccontextmanager
async def asked() -> AsyncIterator[tuple[Stage, Visitor, UUID]]:
    """A conversation of alice's with one answer."""
    async with furnished(await person("alice"), Toolbox(), ANSWER) as (on, alice):
        yield on, alice, (await on.ask("Why?")).pk


async def ask() -> None:
    """In one open tab, which hears of it all."""
    async with asked() as (on, alice, first):
        place = f"c/{on.conversation.pk}/"
        tab = Socket(f"/ws/{place}?leaf={first}", alice.session)
        await tab.open()
        with SEEN:
            form = {"text": "And?", "parent": str(first), "model": "scripted:model"}
            assert (
                await alice.post(f"/{place}ask/", form, headers=HTMX | {"Listening": "1"})
            ).status_code == 200
            await tab.sees(lambda socket: "Because." in str(socket.said))
            await on.end((await in_thread(Message.objects.filter(role="assistant").latest)("order")).pk)
        await tab.leave()


async def reload() -> None:
    async with asked() as (on, alice, _):
        with SEEN:
            assert (await alice.get(f"/c/{on.conversation.pk}/")).status_code == 200


async def fork() -> None:
    async with asked() as (_, alice, answer):
        with SEEN:
            await done(alice, f"/m/{answer}/fork/", extent="branch")


async def permission() -> None:
    scripts = response(thought(), send()), ANSWER
    async with furnished(await person("alice"), Toolbox(), *scripts) as (on, alice):
        answer = (await on.ask("Send it.")).pk
        panels = await Panels(on, alice).look()
        with SEEN:
            assert (await panels.press("once fc_call_1")).status_code in (302, 303)
            await on.end(answer)


async def verdict() -> None:
    bob = await visitor(await in_thread(reviewer)(await person("bob")))
    async with asked() as (_, alice, answer):
        await done(alice, f"/m/{answer}/submit/", scope="tree", question="Right?")
        review = f"/review/{(await in_thread(Submission.objects.latest)('created_at')).pk}"
        await done(bob, f"{review}/claim/")
        with SEEN:
            await done(bob, f"{review}/verdict/", verdict="approved", reason="Yes.")


async def transcript() -> None:
    dana = await visitor(await person("dana", is_staff=True, is_superuser=True))
    async with asked() as (on, _, _):
        with SEEN:
            page = await dana.get(f"/admin/chatapp/conversation/{on.conversation.pk}/transcript/")
        assert page.status_code == 200


async def person(name: str, **rights: bool) -> User:
    user, _ = await in_thread(User.objects.get_or_create)(username=name, defaults=rights)
    return user


async def done(who: Visitor, path: str, **form: str) -> None:
    answer = await who.post(path, form)
    assert answer.status_code in (302, 303), (path, answer.status_code, answer.text[:500])


WALKS: tuple[Callable[[], Awaitable[None]], ...] = (ask, reload, fork, permission, verdict, transcript)


async def main(named: bool) -> None:
    for walk in WALKS:
        await walk()
        await walk()
        files = {where for where, _ in SEEN.crossed}
        print(f"{walk.__name__:12}{len(files):4} files {len(SEEN.crossed):5} functions", flush=True)
        if named:
            print(*sorted(f"    {where} {function}" for where, function in SEEN.crossed), sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", action="store_true", help="every file and function that was crossed")
    play(main(parser.parse_args().name))
