"""The faulty network itself, with a server behind it that speaks enough of a websocket."""

from __future__ import annotations

import gc
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.support.patience import PATIENCE

from .proxy import FaultProxy, between

HANDSHAKE = b"GET /ws/ HTTP/1.1\r\nHost: x\r\n\r\n"
AGREED = b"HTTP/1.1 101 Switching Protocols\r\n\r\n"
PAGE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Echo:
    """Agrees to a websocket, then says everything back."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/"
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self._listening.accept()
            except OSError:
                return
            self._threads.append(threading.Thread(target=self._answer, args=[line]))
            self._threads[-1].start()

    def _answer(self, line: socket.socket) -> None:
        with line:
            try:
                line.recv(4096)
                line.sendall(AGREED)
                while said := line.recv(4096):
                    line.sendall(said)
            except OSError:
                pass

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join(PATIENCE)


@pytest.fixture
def proxy() -> Iterator[FaultProxy]:
    echo = Echo()
    with between(echo.url) as proxy:
        yield proxy
    echo.close()


def connect(proxy: FaultProxy, hello: bytes = HANDSHAKE) -> socket.socket:
    where = urlsplit(proxy.url)
    line = socket.create_connection((where.hostname, where.port), timeout=PATIENCE)
    line.sendall(hello)
    assert heard(line, len(AGREED)) == AGREED
    return line


def heard(line: socket.socket, size: int) -> bytes:
    """So many bytes, or what came before the end."""
    said = b""
    while len(said) < size and (more := line.recv(size - len(said))):
        said += more
    return said


def says(line: socket.socket, words: bytes) -> bytes:
    line.sendall(words)
    return heard(line, len(words))


def is_cut(line: socket.socket) -> bool:
    try:
        return line.recv(1) == b""
    except ConnectionError:
        return True


def test_what_is_said_arrives(proxy):
    with connect(proxy) as line:
        assert says(line, b"x" * 100_000) == b"x" * 100_000


def test_sockets_are_cut_and_pages_are_not(proxy):
    with connect(proxy) as one, connect(proxy) as two, connect(proxy, PAGE) as page:
        proxy.until_sockets(2)
        proxy.cut_sockets()
        assert is_cut(one)
        assert is_cut(two)
        assert says(page, b"hello") == b"hello"
        proxy.cut_everything()
        assert is_cut(page)
        assert proxy.cuts == 2


def test_a_socket_is_cut_after_exactly_so_many_bytes(proxy):
    proxy.cut_the_next([3, 0])
    with connect(proxy) as three, connect(proxy) as none, connect(proxy) as whole:
        assert says(three, b"hello") == b"hel"
        assert says(none, b"hello") == b""
        assert says(whole, b"hello") == b"hello"
    proxy.until_cuts(2)


def test_what_is_held_back_comes_later(proxy):
    with connect(proxy) as line:
        with proxy.held_back():
            line.sendall(b"hello")
            line.settimeout(0.1)
            with pytest.raises(TimeoutError):
                line.recv(5)
        line.settimeout(PATIENCE)
        assert heard(line, 5) == b"hello"


def test_nobody_is_reached_while_it_is_away(proxy):
    with connect(proxy) as line:
        with proxy.away():
            assert is_cut(line)
            with pytest.raises(ConnectionError):
                connect(proxy)
        with connect(proxy) as again:
            assert says(again, b"hello") == b"hello"


def test_whoever_connects_and_says_nothing_leaves_nothing_open_behind():
    """A browser does so, ahead of what it may want; a warning of it would come in the middle of another test."""
    echo = Echo()
    with between(echo.url) as proxy:
        where = urlsplit(proxy.url)
        silent = socket.create_connection((where.hostname, where.port))
        connect(proxy).close()
    with silent:
        assert is_cut(silent)
    echo.close()
    gc.collect()
