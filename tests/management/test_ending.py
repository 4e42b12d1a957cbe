"""A server that is told to end while it is asked."""

from __future__ import annotations

import threading
import time
from collections import Counter
from uuid import uuid4

import httpx

from tests.browser.served import serving, with_tables
from tests.support.patience import PATIENCE

TOKEN = "t" * 32
# Later than this it would be killed by whoever told it to end.
SECONDS = 10


def asking(url, session, over, told):
    """Asks as quickly as it can, each time over a connection of its own, as a proxy does."""
    cookies, headers = (
        {"csrftoken": TOKEN, "sessionid": session},
        {"X-CSRFToken": TOKEN, "Connection": "close"},
    )
    with httpx.Client(base_url=url, cookies=cookies, headers=headers, timeout=PATIENCE) as visitor:
        while not over.is_set():
            form = {"text": "Why?", "model": "demo:thinker", "key": str(uuid4())}
            try:
                told[visitor.post("ask/", data=form).status_code] += 1
            except httpx.ConnectError:
                return
            except httpx.TransportError as error:
                told[type(error).__name__] += 1


def test_what_it_has_taken_is_answered_and_it_is_gone_soon(tmp_path):
    with serving(with_tables(tmp_path), {}) as served:
        over, told = threading.Event(), Counter()
        sessions = [served.person()[1] for _ in range(6)]
        asked = [threading.Thread(target=asking, args=(served.url, each, over, told)) for each in sessions]
        for each in asked:
            each.start()
        while sum(told.values()) < 20:
            time.sleep(0.01)
        began = time.monotonic()
        served.stop()
        took = time.monotonic() - began
        over.set()
        for each in asked:
            each.join()
    assert took < SECONDS
    assert told.keys() <= {302, 400, 429}
