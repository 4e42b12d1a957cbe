"""Requests as octets, for what no client would send."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

from .patience import PATIENCE

TOKEN = "t" * 32


def head(
    url: str, path: str, headers: Mapping[str, str], *, method: str = "POST", session: str = ""
) -> bytes:
    cookies = f"csrftoken={TOKEN}" + (f"; sessionid={session}" if session else "")
    usual = {"Host": urlsplit(url).netloc, "Cookie": cookies, "X-CSRFToken": TOKEN}
    lines = [f"{name}: {value}" for name, value in (usual | dict(headers)).items()]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode()


def chunked(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=PATIENCE) as line:
        yield line


def answers(line: socket.socket) -> str:
    """All that comes until the other side closes."""
    return b"".join(iter(lambda: line.recv(65536), b"")).decode("utf-8", "replace")


def answer(line: socket.socket) -> str:
    """One answer, of a connection that stays open."""
    text = b""
    while b"\r\n\r\n" not in text:
        text += _more(line)
    headers, _, body = text.partition(b"\r\n\r\n")
    length = next(
        (int(each[15:]) for each in headers.split(b"\r\n") if each.lower().startswith(b"content-length:")), 0
    )
    while len(body) < length:
        body += _more(line)
    return (headers + b"\r\n\r\n" + body).decode("utf-8", "replace")


def _more(line: socket.socket) -> bytes:
    data = line.recv(65536)
    assert data, "The connection was closed."
    return data


def status(text: str) -> int:
    return int(text.split(" ", 2)[1])


def handshake(url: str, path: str, session: str) -> bytes:
    """Of a listening socket."""
    wish = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    more = {"Sec-WebSocket-Key": "A" * 22 + "==", "Origin": url.rstrip("/")}
    return head(url, path, wish | more, method="GET", session=session)


def close_code(line: socket.socket) -> int:
    """That a socket is closed with, whatever it says before."""
    text = b""
    while b"\r\n\r\n" not in text:
        text += _more(line)
    frames = text.partition(b"\r\n\r\n")[2]
    while True:
        while len(frames) < 4:
            frames += _more(line)
        if frames[0] == 0x88:
            return int.from_bytes(frames[2:4])
        size = frames[1] if frames[1] < 126 else 2 + int.from_bytes(frames[2:4])
        while len(frames) < 2 + size:
            frames += _more(line)
        frames = frames[2 + size :]
