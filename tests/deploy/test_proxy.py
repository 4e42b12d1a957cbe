"""The proxy of `deploy/` in front of two servers: what people and programs get through it."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from uuid import uuid4

import httpx
import pytest

from chatapp.gateway.served.refused import LONGEST_BODY
from chatapp.pages.door.caps import QUESTION
from tests.deploy.proxied import proxied
from tests.support.patience import PATIENCE

client = pytest.importorskip("websockets.sync.client", reason="websockets is not installed")
exceptions = pytest.importorskip("websockets.exceptions")
pytestmark = pytest.mark.skipif(
    not (shutil.which("caddy") and shutil.which("openssl")),
    reason="NOT TESTED: the proxy. Install caddy (Debian: apt-get install caddy) and openssl",
)

# An answer that is drawn anew, since it is whole.
ANSWERED = re.compile(r'data-role="assistant"\s+data-status="complete"')
ENDED = re.compile(r'data-role=\\"assistant\\"[^<>]*data-status=\\"complete\\"')


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    with proxied(tmp_path_factory.mktemp("proxied")) as running:
        yield running


@pytest.fixture
def alice(house):
    name, session = house.servers[0].person()
    with house.visitor(session) as visitor:
        yield name, session, visitor


def ask(visitor, text, path="/ask/"):
    answer = visitor.post(path, data={"text": text, "model": "demo:thinker", "key": str(uuid4())})
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def test_pages_come_with_their_files_encrypted_and_by_https_alone(house):
    with house.visitor() as visitor:
        page = visitor.get("/accounts/login/")
        assert page.status_code == 200 and "max-age" in page.headers["strict-transport-security"]
        for style in re.findall(r'href="(/static/[^"]+\.css)"', page.text):
            assert visitor.get(style).headers["content-type"].startswith("text/css")
    plain = httpx.get(f"{house.plain_url}/accounts/login/")
    assert plain.status_code in (301, 302, 308) and plain.headers["location"].startswith("https://localhost")


@pytest.mark.parametrize("path", ["/metrics", "/health/ready", "/health/live"])
def test_how_the_servers_are_is_not_told_to_visitors(house, path):
    with house.visitor() as visitor:
        assert visitor.get(path).status_code == 404
    assert httpx.get(f"http://localhost:{house.servers[0].port}{path}").status_code == 200


def test_a_visitor_cannot_say_where_they_come_from(house):
    """Ten failed tries for a name and an address, however many addresses are made up."""
    with house.visitor() as visitor:
        tries = [
            visitor.post(
                "/accounts/login/",
                data={"username": "nobody", "password": "wrong"},
                headers={
                    "X-Forwarded-For": f"192.0.2.{n}",
                    "Forwarded": f"for=192.0.2.{n}",
                    "X-Real-IP": f"192.0.2.{n}",
                },
            )
            for n in range(12)
        ]
    assert (tries[0].status_code, tries[-1].status_code) == (400, 429)


def test_a_socket_brings_the_answer_while_it_is_written(house, alice):
    _, session, visitor = alice
    place = ask(visitor, "Tell me about branches")
    address = f"{house.url.replace('https', 'wss')}/ws{place}"
    headers = {"Cookie": f"sessionid={session}"}
    with client.connect(
        address, ssl=house.trust, origin=house.url, additional_headers=headers, open_timeout=PATIENCE
    ) as listening:
        said = []
        while not said or not ENDED.search(said[-1]):
            said.append(listening.recv(PATIENCE))
            listening.send(str(len(said)))
    assert len(said) > 10


def test_a_socket_of_a_page_from_elsewhere_is_refused(house, alice):
    _, session, _ = alice
    with (
        pytest.raises(exceptions.WebSocketException),
        client.connect(
            f"{house.url.replace('https', 'wss')}/ws/",
            ssl=house.trust,
            origin="https://elsewhere.example",
            additional_headers={"Cookie": f"sessionid={session}"},
        ) as listening,
    ):
        listening.recv(PATIENCE)


def streamed(house, secret, text="Tell me about branches"):
    body = {"model": "demo:thinker", "stream": True, "messages": [{"role": "user", "content": text}]}
    return httpx.stream(
        "POST",
        f"{house.url}/v1/chat/completions",
        json=body,
        headers={"Authorization": f"Bearer {secret}"},
        verify=house.trust,
        timeout=PATIENCE,
    )


def test_an_event_stream_arrives_word_by_word(house, alice):
    secret = house.clerk("key", owner=alice[0])
    with streamed(house, secret) as answer:
        moments = [time.monotonic() for line in answer.iter_lines() if line.startswith("data:")]
    assert answer.status_code == 200 and len(moments) > 20
    assert moments[-1] - moments[0] > 1


def test_a_program_that_leaves_is_heard_of(house, alice):
    """The answer would go on for seconds."""
    secret = house.clerk("key", owner=alice[0])
    logs(house)
    with streamed(house, secret) as answer:
        next(answer.iter_lines())
    ends, told = time.monotonic() + 1, ""
    while "/v1/chat/completions" not in (told := told + logs(house)):
        assert time.monotonic() < ends
        time.sleep(0.02)


def logs(house):
    """What the servers wrote since this was last asked; a request is told when it is over."""
    return "".join(server.new_log() for server in house.servers)


@pytest.mark.parametrize(("path", "most"), [("/ask/", QUESTION), ("/v1/chat/completions", LONGEST_BODY)])
def test_what_is_too_long_is_refused(house, alice, path, most):
    name, _, visitor = alice
    headers = {"Authorization": f"Bearer {house.clerk('key', owner=name)}"} if path.startswith("/v1") else {}
    try:
        answer = visitor.post(path, content=b"a" * (most + 1), headers=headers)
    except (httpx.WriteError, httpx.ReadError):
        # It was not listened to to its end.
        return
    assert answer.status_code == 413


class Crowd:
    """People who ask and look, and programs that stream, each as quickly as they can; `told` counts what they got."""

    def __init__(self, house):
        self._house, self._over, self.told, self.asked = house, threading.Event(), Counter(), []
        people = [house.servers[0].person() for _ in range(3)]
        secret = house.clerk("key", owner=people[0][0])
        doing = [partial(self._ask, session) for _, session in people]
        doing += [partial(self._look, people[0][1]), partial(self._stream, secret)]
        self._threads = [threading.Thread(target=self._again_and_again, args=(do,)) for do in doing]

    def __enter__(self):
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        for each in self._threads:
            each.join()

    def _again_and_again(self, do):
        while not self._over.is_set():
            try:
                self.told[do()] += 1
            except httpx.TransportError as error:
                self.told[do.func.__name__, repr(error)] += 1
            self._over.wait(0.2)

    def _ask(self, session):
        with self._house.visitor(session) as visitor:
            form = {"text": "Tell me about branches", "model": "demo:thinker", "key": str(uuid4())}
            answer = visitor.post("/ask/", data=form)
            if answer.status_code == 302:
                self.asked.append((session, answer.headers["location"]))
            # So many answers of one person at once are refused, in words.
            return "asked", answer.status_code in (
                302,
                409,
            ) or f"{answer.status_code} {answer.headers} {answer.text[-700:]}"

    def _look(self, session):
        with self._house.visitor(session) as visitor:
            page = visitor.get("/")
            style = visitor.get(re.search(r'"(/static/css/base\.[^"]+)"', page.text)[1])
            return "looked", (page.status_code, style.status_code) == (200, 200)

    def _stream(self, secret):
        with streamed(self._house, secret) as answer:
            return "streamed", "data: [DONE]" in list(answer.iter_lines())


def test_each_is_started_anew_while_a_crowd_asks_and_everything_ends_right(house):
    if not house.workers:
        pytest.skip("NOT TESTED: a deploy under load. PostgreSQL or Redis is not here")
    with Crowd(house) as crowd:
        for each in (*house.servers, *house.workers):
            before = crowd.told.total()
            each.stop()
            each.start()
            until(lambda before=before: crowd.told.total() > before + 20)
    assert set(crowd.told) == {("asked", True), ("looked", True), ("streamed", True)}, crowd.told
    for session, place in crowd.asked:
        with house.visitor(session) as visitor:
            until(partial(_is_answered, visitor, place))


def test_who_comes_while_each_is_about_to_end_or_not_yet_ready_is_answered(house, alice):
    """The one says that it is about to end before the proxy has asked the other, which has just come."""
    if not house.workers:
        pytest.skip("NOT TESTED: a deploy. PostgreSQL or Redis is not here")
    _, _, visitor = alice
    first, second = house.servers
    with ThreadPoolExecutor(1) as beside:
        for come, goes in ((first, second), (second, first)):
            come.stop()
            come.start()
            ending = beside.submit(goes.stop)
            while not ending.done():
                assert visitor.post("/settings/", data={}).status_code < 500
                assert visitor.get("/accounts/login/").status_code < 500
            goes.start()


def test_while_the_database_is_away_people_are_told_so_in_words_and_nothing_is_lost(house, alice):
    if not house.workers:
        pytest.skip("NOT TESTED: servers that are not ready. PostgreSQL is not here")
    _, _, visitor = alice
    question = {"text": "Is anybody there?", "model": "demo:thinker", "key": str(uuid4())}
    with house.database_away():
        # By then the proxy has asked each more than once.
        ends = time.monotonic() + 4
        while time.monotonic() < ends:
            answers = visitor.get("/"), visitor.post("/ask/", data=question)
            assert [answer.status_code for answer in answers] == [503, 503]
            assert all("The database cannot be reached just now." in answer.text for answer in answers)
            assert "Is anybody there?" in answers[1].text
    until(lambda: visitor.post("/ask/", data=question).status_code == 302)


def _is_answered(visitor, place):
    return ANSWERED.search(visitor.get(place).text)


def until(so):
    ends = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < ends
        time.sleep(0.1)
