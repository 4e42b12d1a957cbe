"""All addresses, and the one that breaks."""

from __future__ import annotations

import asyncio
import gc
import logging
import warnings
from threading import Thread

from django.db import connection
from django.urls import path

from chatapp.gateway.doors import chat
from chatapp.gateway.served.routes import ROUTES
from chatapp.pages.engine_calls import call
from chatapp.store import in_thread
from chatapp.turns.engine import engine
from chatapp.urls import handler400, handler403, handler404, handler500, urlpatterns

__all__ = ["handler400", "handler403", "handler404", "handler500", "urlpatterns"]


def broken(request):
    words = request.POST["text"]
    warnings.warn(words, stacklevel=1)
    logging.getLogger("a.package").error("%s and %s", words, {"more": words})
    logging.getLogger("a.package").error(f"sent {words}")
    thread = Thread(target=int, args=(words,))
    thread.start()
    thread.join()
    call(forgotten, words)
    Unkept(words)
    gc.collect()
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT '{words}' FROM nowhere")
    finally:
        int(words)


async def forgotten(words):
    """A task whose exception nobody asks for, and a callback that raises."""
    loop = asyncio.get_running_loop()
    loop.call_soon(int, words)
    task = loop.create_task(fail(words))
    await asyncio.wait({task})
    del task
    gc.collect()
    assert engine()


async def fail(words):
    raise ValueError(words)


class Unkept:
    """What happens while something is cleared away reaches nobody."""

    def __init__(self, words):
        self.words = words

    def __del__(self):
        int(self.words)


async def broken_door(request, connection):
    """The same behind a door of programs."""
    words = request.json()["text"]
    logging.getLogger("a.package").error("%s", words)
    await forgotten(words)
    await in_thread(int)(words)


ROUTES["/v1/broken/{id}"] = {"POST": (chat.DOOR, broken_door)}
urlpatterns = [path("broken/", broken), *urlpatterns]
