"""A body is refused before it is read: at a real server, at every address, in words."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen
from uuid import uuid4

import pytest
from django.urls import get_resolver

from chatapp.asgi import http
from chatapp.pages.door import reception
from chatapp.pages.door.caps import ADMIN, CAPS, LITTLE, PIECE, QUESTION, TEXT, cap_of, size_in_words
from chatapp.pages.door.reception import MOST_OF_ONE, Pool, Refusal
from tests.browser.served import Served, serving, with_tables
from tests.support.addresses import ADDRESSES
from tests.support.wire import answer, answers, chunked, connected, head, status

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
BY_SCRIPT = {"HX-Request": "true"}
NOBODY = ""
# What may be sent where; everywhere else it is LITTLE.
ROWS = {
    "/ask/": QUESTION,
    "/c/<uuid:pk>/ask/": QUESTION,
    "/m/<uuid:pk>/edit/": QUESTION,
    "/m/<uuid:pk>/stop/": QUESTION,
    "/c/<uuid:pk>/instructions/": TEXT,
    "/c/<uuid:pk>/tools/": TEXT,
    "/settings/": TEXT,
    "/m/<uuid:pk>/submit/": TEXT,
    "/review/ask/<uuid:pk>/": TEXT,
    "/review/<uuid:pk>/note/": TEXT,
    "/review/<uuid:pk>/verdict/": TEXT,
    "/review/<uuid:pk>/rate/": TEXT,
    "/review/<uuid:pk>/suggest/": TEXT,
    "/import/files/": PIECE,
    "/import/files/<uuid:pk>/": PIECE,
    "/admin/": ADMIN,
}
WRITABLE = [path for path, row in ADDRESSES.items() if "POST" in row.methods]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serving(with_tables(tmp_path_factory.mktemp("caps")), {}) as server:
        yield server


@pytest.fixture(scope="module")
def session(served):
    return served.person()[1]


def somewhere(path):
    for hole in ("<uuid:pk>", "<uuid:deletion>"):
        path = path.replace(hole, str(uuid4()))
    return path.replace("<token>", "x" * 22).replace("<uidb64>", "MQ")


def said(served, path, headers, body=b"", **more):
    with connected(served.url) as line:
        line.sendall(head(served.url, path, headers, **more) + body)
        return answers(line)


def test_every_row_of_the_table_is_an_address():
    assert set(CAPS) <= set(get_resolver().reverse_dict)
    assert set(ROWS) <= set(WRITABLE)


@pytest.mark.parametrize("path", WRITABLE)
def test_a_body_is_refused_as_soon_as_its_length_is_said(served, session, path):
    cap, place = ROWS.get(path, LITTLE), somewhere(path)
    assert cap_of("POST", place) == cap
    refused = said(served, place, {"Content-Length": str(cap + 1)}, session=session)
    assert status(refused) == 413
    assert f"at most {size_in_words(cap)} can be sent here" in refused
    assert "<!DOCTYPE html>" in refused and "Content-Security-Policy" in refused


@pytest.mark.parametrize("path", WRITABLE)
def test_without_signing_in_a_little_is_all_that_is_taken_anywhere(served, path):
    refused = said(served, somewhere(path), {"Content-Length": str(LITTLE + 1)})
    assert status(refused) == 413
    assert "at most 64 kB can be sent" in refused


@pytest.mark.parametrize(("path", "cap"), [("/ask/", QUESTION), ("/settings/", TEXT), ("/shares/", LITTLE)])
@pytest.mark.parametrize("in_pieces", [False, True])
def test_what_is_as_long_as_it_may_be_is_taken_whole(served, session, path, cap, in_pieces):
    body = b"text=" + b"x" * (cap - 5)
    if in_pieces:
        pieces = (body[at : at + 60_000] for at in range(0, cap, 60_000))
        headers, body = {"Transfer-Encoding": "chunked"}, chunked(*pieces, b"")
    else:
        headers = {"Content-Length": str(cap)}
    with connected(served.url) as line:
        line.sendall(head(served.url, path, FORM | headers | {"Connection": "close"}, session=session) + body)
        text = answers(line)
    assert status(text) in (200, 400, 405, 409), text[:300]
    assert "sent here" not in text
    if path == "/ask/":
        assert "The question is too long: at most 4 MiB." in text


@pytest.mark.parametrize(
    ("path", "cap"), [("/ask/", QUESTION), ("/settings/", TEXT), ("/accounts/login/", LITTLE)]
)
def test_a_body_without_a_length_is_refused_as_soon_as_it_is_too_long(served, session, path, cap):
    """Its end never comes."""
    whole, rest = divmod(cap + 1, 60_000)
    with connected(served.url) as line:
        line.sendall(head(served.url, path, {"Transfer-Encoding": "chunked"}, session=session))
        line.sendall(chunked(*[b"x" * 60_000] * whole, b"x" * rest))
        refused = answers(line)
    assert status(refused) == 413
    assert f"at most {size_in_words(cap)} can be sent here" in refused


def test_a_body_in_too_many_pieces_is_refused(served, session):
    with connected(served.url) as line:
        line.sendall(head(served.url, "/ask/", {"Transfer-Encoding": "chunked"}, session=session))
        line.sendall(chunked(*[b"x"] * 11_000))
        assert status(answers(line)) == 408


def test_a_script_gets_the_words_alone(served, session):
    refused = said(served, "/ask/", BY_SCRIPT | {"Content-Length": "400000000"}, session=session)
    assert refused.endswith("\r\n\r\nThat is too much at once: at most 13 MB can be sent here.")


def test_the_answer_arrives_although_the_body_is_still_being_sent(served):
    """Who would close at once would take it away again."""
    with connected(served.url) as line:
        line.sendall(head(served.url, "/accounts/login/", {"Content-Length": "400000000"}))
        line.sendall(b"x" * 4_000_000)
        assert status(answers(line)) == 413


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "OPTIONS"])
def test_a_body_that_no_method_of_ours_has_is_refused_too(served, session, method):
    refused = said(served, "/ask/", {"Content-Length": str(LITTLE + 1)}, method=method, session=session)
    assert status(refused) == 413
    assert ("<main>" in refused) is (method != "HEAD")


def test_no_socket_is_opened_with_a_body(served, session):
    wish = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    more = {"Sec-WebSocket-Key": "A" * 22 + "==", "Content-Length": "3", "Origin": served.url.rstrip("/")}
    refused = said(served, "/ws/", wish | more, b"abc", method="GET", session=session)
    assert status(refused) == 413


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Length": "-1"},
        {"Content-Length": "+1"},
        {"Content-Length": "1_0"},
        {"Content-Length": "0x10"},
        {"Content-Length": "1, 1"},
        {"Content-Length": "1", "content-length": "1"},
        {"Content-Length": "1", "Transfer-Encoding": "chunked"},
        {"Transfer-Encoding": "chunked", "Content-Length": "1"},
        {"Transfer-Encoding": "gzip, chunked"},
        {f"X-{number}": "x" for number in range(501)},
        {"X-1": "x" * 9000, "X-2": "x" * 9000},
    ],
    ids=lambda headers: " ".join(f"{name} {value[:9]}" for name, value in list(headers.items())[:2]),
)
def test_a_length_that_makes_no_sense_ends_the_connection(served, headers):
    assert status(said(served, "/accounts/login/", headers)) == 400


def test_a_length_of_thousands_of_digits_harms_nobody(served):
    said(served, "/accounts/login/", {"Content-Length": "9" * 5000})
    with urlopen(f"{served.url}health/live", timeout=20) as response:
        assert response.status == 200


def test_who_asks_before_sending_is_told_no_without_sending(served, session):
    waits = {"Expect": "100-continue"}
    refused = said(served, "/ask/", waits | {"Content-Length": "400000000"}, session=session)
    assert refused.startswith("HTTP/1.1 413")


@pytest.mark.parametrize("size", [20, LITTLE + 1])
def test_who_asks_before_sending_is_told_to_go_on(served, session, size):
    body = b"text=" + b"x" * (size - 5)
    waits = FORM | BY_SCRIPT | {"Expect": "100-continue", "Content-Length": str(size)}
    with connected(served.url) as line:
        line.sendall(head(served.url, "/ask/", waits, session=session))
        assert answer(line) == "HTTP/1.1 100 Continue\r\n\r\n"
        line.sendall(body)
        assert "Hx-Redirect" in answer(line)


def test_what_follows_a_refused_request_on_its_connection_is_not_served(served, session):
    second = head(served.url, "/health/live", {"Connection": "close"}, method="GET")
    text = said(served, "/ask/", {"Content-Length": "400000000"}, second, session=session)
    assert text.count("HTTP/1.1") == 1


def test_what_follows_a_long_question_on_its_connection_is_served(served, session):
    body = b"text=" + b"x" * LITTLE
    first = head(served.url, "/ask/", FORM | {"Content-Length": str(len(body))}, session=session)
    second = head(served.url, "/health/live", {"Connection": "close"}, method="GET")
    with connected(served.url) as line:
        line.sendall(first + body + second)
        text = answers(line)
    assert status(text) == 302
    assert text.count("HTTP/1.1 200") == 1


def files_of(pid):
    """What is open without a name: files that were made to be thrown away."""
    places = Path(f"/proc/{pid}/fd").iterdir()
    return [name for place in places if (name := _target(place)).endswith("(deleted)")]


def _target(place):
    try:
        return os.readlink(place)
    except FileNotFoundError:
        return ""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells which files are open")
@pytest.mark.parametrize("headers", [{"Content-Length": "5000000"}, {"Transfer-Encoding": "chunked"}])
def test_nothing_of_a_body_is_written_into_a_file(served, session, headers):
    with connected(served.url) as line, connected(served.url) as other:
        line.sendall(head(served.url, "/ask/", headers, session=session))
        line.sendall(chunked(*[b"x" * 50_000] * 80))
        for _ in range(20):
            other.sendall(head(served.url, "/health/live", {}, method="GET"))
            answer(other)
        assert files_of(served.pid) == []


def test_a_third_long_body_of_one_person_waits_for_the_first_and_others_are_not_kept_out(served, session):
    body = b"text=" + b"x" * LITTLE
    long = FORM | BY_SCRIPT | {"Content-Length": str(len(body)), "Expect": "100-continue"}
    with ExitStack() as stack:
        lines = [stack.enter_context(connected(served.url)) for _ in range(MOST_OF_ONE)]
        for line in lines:
            line.sendall(head(served.url, "/ask/", long, session=session))
            assert status(answer(line)) == 100
        refused = said(served, "/ask/", long, session=session)
        assert status(refused) == 429 and "Retry-After" in refused
        assert "Other long texts of yours are on their way still." in refused
        other = stack.enter_context(connected(served.url))
        other.sendall(head(served.url, "/ask/", long, session=served.person("bob")[1]))
        assert status(answer(other)) == 100
        lines[0].sendall(body)
        assert "Hx-Redirect" in answer(lines[0])
        again = stack.enter_context(connected(served.url))
        again.sendall(head(served.url, "/ask/", long, session=session))
        assert status(answer(again)) == 100


CHANGED = """
import os, sys, time
from pathlib import Path
import django
from django.core.management import execute_from_command_line
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")
django.setup()
from chatapp.pages.door import daphne as daphne_door, reception
{changes}
execute_from_command_line(["manage.py", "serve", "--port", sys.argv[1]])
"""
HASTE = """
reception.PATIENCE = daphne_door.PATIENCE = {seconds}
reception.PACE = 10**9
"""
SMALL_POOL = "reception.little_ones = reception.Pool(2 * reception.LITTLE)"
# Nobody is known before there is such a file.
LOOKS_SLOWLY = """
known = reception.person_of
def slowly(path, header):
    while not Path({gate!r}).exists():
        time.sleep(0.01)
    return known(path, header)
reception.person_of = slowly
"""


class Changed(Served):
    """With other numbers than ours."""

    def __init__(self, folder, changes):
        super().__init__(folder)
        self._changes = changes

    def command(self, port):
        return [sys.executable, "-c", CHANGED.format(changes=self._changes), str(port)]


def test_a_long_body_takes_no_room_of_the_little_ones(tmp_path):
    server = Changed(with_tables(tmp_path), SMALL_POOL)
    try:
        server.start()
        session = server.person()[1]
        body = chunked(b"text=" + b"x" * 60_000, b"x" * 60_000, b"")
        headers = FORM | BY_SCRIPT | {"Transfer-Encoding": "chunked"}
        with connected(server.url) as line:
            for _ in range(6):
                line.sendall(head(server.url, "/ask/", headers, session=session) + body)
                assert "Hx-Redirect" in answer(line)
    finally:
        server.stop()


def test_who_was_refused_while_they_were_looked_up_is_not_one_of_those_who_send(tmp_path):
    gate = tmp_path / "gate"
    changes = HASTE.format(seconds=2.0) + LOOKS_SLOWLY.format(gate=str(gate))
    server = Changed(with_tables(tmp_path), changes)
    body = b"text=" + b"x" * LITTLE
    long = FORM | BY_SCRIPT | {"Content-Length": str(len(body))}
    try:
        server.start()
        session = server.person()[1]
        with ExitStack() as stack:
            lines = [stack.enter_context(connected(server.url)) for _ in range(MOST_OF_ONE)]
            for line in lines:
                line.sendall(head(server.url, "/ask/", long, session=session))
            assert [status(answers(line)) for line in lines] == [408] * MOST_OF_ONE
        gate.touch()
        for _ in range(5):
            with connected(server.url) as line:
                line.sendall(head(server.url, "/ask/", long, session=session) + body)
                assert "Hx-Redirect" in answer(line)
        with ExitStack() as stack:
            for _ in range(MOST_OF_ONE):
                line = stack.enter_context(connected(server.url))
                line.sendall(head(server.url, "/ask/", long | {"Expect": "100-continue"}, session=session))
                assert status(answer(line)) == 100
    finally:
        server.stop()


def test_who_sends_too_slowly_is_told_and_whoever_never_ends_their_headers_is_left(tmp_path):
    server = Changed(with_tables(tmp_path), HASTE.format(seconds=0.2))
    try:
        server.start()
        with connected(server.url) as slow, connected(server.url) as silent:
            slow.sendall(head(server.url, "/accounts/login/", {"Content-Length": "20"}) + b"name=")
            silent.sendall(b"GET / HTTP/1.1\r\nHost: ")
            late = answers(slow)
            assert status(late) == 408 and "took too long to arrive" in late
            with pytest.raises(ConnectionResetError):
                silent.recv(1)
    finally:
        server.stop()


def test_the_servers_of_development_refuse_it_too(tmp_path):
    class Developing(Served):
        def command(self, port):
            return [sys.executable, "-u", "manage.py", "runserver", "--noreload", str(port)]

        def start(self):
            with self._log.open("w") as log:
                self._process = self._run(self.command(self.port), stdout=subprocess.PIPE, stderr=log)
            while not self._process.stdout.readline().startswith("Quit"):
                assert self._process.poll() is None, self._log.read_text()
            self.url = f"http://127.0.0.1:{self.port}/"

    server = Developing(with_tables(tmp_path))
    try:
        server.start()
        while True:
            try:
                refused = said(server, "/accounts/login/", {"Content-Length": "400000000"})
                break
            except ConnectionRefusedError:
                assert server._process.poll() is None
        assert status(refused) == 413
    finally:
        server.stop()


class Body:
    def __init__(self, pool):
        self.pool, self.refusal = pool, None

    def refuse(self, refusal):
        self.refusal = refusal
        self.pool.leave(self)


def test_where_bodies_are_too_much_together_the_one_that_is_on_its_way_for_longest_makes_room():
    pool = Pool(100)
    read, slow, other, fresh = (Body(pool) for _ in range(4))
    pool.grow(read, 40)
    pool.arrived(read)
    for body in (slow, other):
        pool.grow(body, 20)
    pool.grow(fresh, 30)
    assert [body.refusal for body in (read, slow, other, fresh)] == [None, Refusal.CROWDED, None, None]
    pool.grow(fresh, 70)
    assert other.refusal is fresh.refusal is Refusal.CROWDED and read.refusal is None
    pool.leave(read)
    last = Body(pool)
    pool.grow(last, 100)
    assert last.refusal is None


# The other door, for servers that hand a body over while it comes.


class Loop(asyncio.SelectorEventLoop):
    """Its time can be moved on."""

    ahead = 0.0

    def time(self):
        return super().time() + self.ahead


def at_the_other_door(path, pieces, *, headers=(), session="", method="POST", ends=True, pauses=None):
    """How many pieces were read, and what was answered. `pauses`: how many seconds pass before which piece."""
    read, sent = 0, []

    async def receive():
        nonlocal read
        if pauses and read in pauses:
            asyncio.get_running_loop().ahead += pauses[read]
            # Whoever waits for that moment is served first.
            await asyncio.sleep(0.001)
        if read == len(pieces):
            await asyncio.Event().wait()
        read += 1
        return {"type": "http.request", "body": pieces[read - 1], "more_body": not ends or read < len(pieces)}

    async def send(message):
        sent.append(message)

    cookies = f"csrftoken={'t' * 32}; sessionid={session}".encode()
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"cookie", cookies), (b"x-csrftoken", b"t" * 32), *headers],
        "client": ("127.0.0.1", 1),
    }
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(http(scope, receive, send))
    return read, sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:]).decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("headers", "pieces", "read"),
    [([(b"content-length", b"400000000")], [b""], 0), ([], [b"x" * LITTLE, b"x", b"x"], 2)],
)
def test_the_other_door_refuses_as_early(headers, pieces, read):
    given = [*headers, (b"hx-request", b"true")]
    assert at_the_other_door("/accounts/login/", pieces, headers=given) == (
        read,
        413,
        "That is too much at once: at most 64 kB can be sent here.",
    )


@pytest.mark.django_db(transaction=True)
def test_at_the_other_door_too_only_who_is_signed_in_sends_more_than_a_little(alice):
    from tests.support.front import session_of

    pieces = [b"text=", b"x" * LITTLE, b"x"]
    assert at_the_other_door("/ask/", pieces)[1:2] == (413,)
    form = [(b"content-type", b"application/x-www-form-urlencoded"), (b"hx-request", b"true")]
    # Cookies may come in several headers.
    form.append((b"cookie", b"zone=UTC"))
    _, code, words = at_the_other_door("/settings/", pieces, headers=form, session=session_of(alice))
    assert code != 413, words


@pytest.mark.django_db(transaction=True)
def test_at_the_other_door_whoever_is_slow_holds_no_place(monkeypatch):
    monkeypatch.setattr(reception, "PATIENCE", 0.01)
    monkeypatch.setattr(reception, "PACE", 10**9)
    _, code, words = at_the_other_door("/accounts/login/", [b"name="], ends=False)
    assert code == 408 and "took too long to arrive" in words


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("size", "code"), [(1, 408), (LITTLE, 400)])
def test_at_the_other_door_a_long_text_without_a_length_is_given_longer(alice, size, code):
    from tests.support.front import session_of

    form = [(b"content-type", b"application/x-www-form-urlencoded"), (b"hx-request", b"true")]
    pieces, pauses = [b"theme=", b"x" * size, b"x"], {2: 2 * reception.seconds_for(LITTLE)}
    assert (
        at_the_other_door("/settings/", pieces, headers=form, session=session_of(alice), pauses=pauses)[1]
        == code
    )
