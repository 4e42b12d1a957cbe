"""How large a request is about."""

from __future__ import annotations

from typing import Any

import pytest

from chatapp.gateway.doors import chat, messages
from chatapp.gateway.doors.estimate import A_MESSAGE, AN_ATTACHMENT, estimate

from .bodies import CHAT, MESSAGES, PICTURE, SCHEMA, asking, telling


def size(body: Any) -> int:
    return estimate(chat.DOOR.read(body, {}))


def said(content: Any) -> int:
    return size(telling({"role": "user", "content": content}))


def test_four_bytes_are_a_token() -> None:
    assert said("a" * 400) == 100 + A_MESSAGE
    assert said("é" * 400) == 200 + A_MESSAGE


def test_the_smallest_request_is_one() -> None:
    assert said("") >= 1


def test_a_picture_counts_the_same_however_large_it_is() -> None:
    part = {"type": "image_url", "image_url": {"url": PICTURE + "A" * 10_000}}
    assert said([part]) == AN_ATTACHMENT + A_MESSAGE


def test_tools_count() -> None:
    tool = {"type": "function", "function": {"name": "tide", "parameters": SCHEMA}}
    assert size(asking(tools=[tool])) > size(asking())


@pytest.mark.parametrize("door, body", [(chat.DOOR, CHAT), (messages.DOOR, MESSAGES)])
def test_all_that_a_door_reads_can_be_measured(door: Any, body: Any) -> None:
    assert estimate(door.read(body, {})) > AN_ATTACHMENT
