"""A frame goes from the server under us to the network, and nowhere else."""

from __future__ import annotations

from collections import deque

import daphne.server

import chatapp.asgi  # noqa: F401  (with it the server's protocols become ours)


class Network:
    def __init__(self) -> None:
        self.taken: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.taken.append(data)


class Unasked:
    """A log to which nobody should say anything."""

    def debug(self, *said: object, **more: object) -> None:
        raise AssertionError(said)


def test_no_frame_is_worded_for_a_log():
    protocol = daphne.server.WebSocketFactory.protocol()
    protocol.transport, protocol.log, protocol.send_queue = Network(), Unasked(), deque()
    protocol.sendData(b"a frame")
    assert protocol.transport.taken == [b"a frame"]
