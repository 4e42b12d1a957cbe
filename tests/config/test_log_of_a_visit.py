"""A whole visit to a server that tells as much as it can: nothing of what was said, asked or sent stands in its log."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import closing
from uuid import uuid4

import httpx
import pytest

aiohttp = pytest.importorskip("aiohttp")

from tests.browser.served import Served, serving, with_tables  # noqa: E402
from tests.browser.steered import Call, Refuse, Think, Upstream, Write, running  # noqa: E402
from tests.support.patience import PATIENCE  # noqa: E402

KEY = "sk-canarykey-0123456789"
# Each once: a word that is found says where it came from.
WORDS = (
    *(
        "question",
        "thought",
        "answer",
        "title",
        "search",
        "address",
        "note",
        "submitted",
        "instructions",
        "broken",
    ),
    *("argument", "result", "refusal", "typed", "program", "key"),
)
CANARY = {what: f"canary{what}x" for what in WORDS}
PASSWORD, OTHER_PASSWORD = "a kestrel over one field", "a kestrel over two fields"
TOLD = (
    "/broken/",
    "/v1/broken/{id}",
    "a.package",
    "asyncio",
    "a thread",
    "cleared away",
    "ValueError",
    "SQLITE_ERROR",
    "[secret]",
)
STATUS = re.compile(r'data-role="assistant"[^>]*data-status="(\w+)"')
MESSAGE = re.compile(r'data-message-id="([0-9a-f-]{36})"[^>]*data-role="assistant"')


class Browser:
    """Somebody's browser without scripts. `secrets`: what opened something to it."""

    def __init__(self, house: Served) -> None:
        self.house, self.secrets = house, set[str]()
        self.http = httpx.Client(base_url=house.url, follow_redirects=True, timeout=PATIENCE)

    def get(self, path: str) -> str:
        return self._kept(self.http.get(path)).text

    def post(self, path: str, wanted: int = 200, **form: str) -> str:
        answer = self._kept(self.http.post(path, data={"csrfmiddlewaretoken": self.token, **form}))
        assert answer.status_code == wanted, (path, answer.status_code, answer.text)
        return answer.text

    def close(self) -> None:
        self.http.close()

    @property
    def token(self) -> str:
        return self.http.cookies["csrftoken"]

    def _kept(self, answer: httpx.Response) -> httpx.Response:
        self.secrets |= {value for value in self.http.cookies.values() if value}
        self.secrets |= set(re.findall(r'csrfmiddlewaretoken" value="(\w+)"', answer.text))
        return answer

    async def listen(self, path: str) -> str:
        """The first frame that a socket brings."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        headers = {"Origin": self.house.url.rstrip("/"), "Cookie": cookies}
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(self.house.url + path, headers=headers) as socket,
        ):
            frame: str = await socket.receive_str(timeout=PATIENCE)
            await socket.send_str("1")
            return frame


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with running() as it:
        yield it


def ended(browser: Browser, place: str, status: str) -> str:
    """The page, once its last answer has come to this."""
    while True:
        page = browser.get(place)
        now = STATUS.findall(page)[-1]
        if now == status:
            return page
        assert now in ("queued", "running", "waiting"), page


def asked(browser: Browser, words: str, status: str) -> tuple[str, str]:
    """A conversation of its own: its address, and its last answer."""
    browser.post("ask/", text=words, key=str(uuid4()), model="openai:gpt-5")
    listed = browser.get("conversations/")
    place = re.search(r'href="/(c/[0-9a-f-]{36}/)"', listed)[1]
    return place, MESSAGE.findall(ended(browser, place, status))[-1]


def visit(house: Served, upstream: Upstream) -> set[str]:
    """Everything that one can do with words. All that may stand in no log."""
    with closing(Browser(house)) as dana, closing(Browser(house)) as reader:
        _visit(dana, reader, upstream)
        return dana.secrets | reader.secrets


def _visit(dana: Browser, reader: Browser, upstream: Upstream) -> None:
    dana.get("health/live")
    dana.get("accounts/signup/")
    dana.post(
        "accounts/signup/",
        username="dana",
        password1=PASSWORD,
        password2=PASSWORD,
        email="dana@canaryaddressx.org",
    )
    dana.post("accounts/logout/")
    dana.post("accounts/login/", 400, username="dana", password=f"{CANARY['typed']} {PASSWORD}")
    dana.post("accounts/login/", username="dana", password=PASSWORD)
    upstream.plays(
        Think(CANARY["thought"]),
        Call("clock", {"zone": CANARY["argument"]}),
        Call("read_page", {"url": f"http://127.0.0.1/{CANARY['argument']}"}),
    )
    upstream.plays(Think(CANARY["thought"]), Write(CANARY["answer"]))
    place, answer = asked(dana, CANARY["question"], "waiting")
    page = dana.get(place)
    allow = re.search(r'value="(once [^"]+)"', page)[1]
    seen = re.search(r'name="seen" value="([^"]+)"', page)[1]
    dana.post(f"m/{answer}/decide/", decision=allow, seen=seen)
    ended(dana, place, "complete")
    assert CANARY["answer"] in dana.get(place)
    assert asyncio.run(dana.listen(f"ws/{place}?leaf={answer}"))
    dana.post(f"{place}instructions/", instructions=CANARY["instructions"])
    dana.post(f"{place}title/", title=CANARY["title"])
    dana.get(f"conversations/?q={CANARY['search']}")
    dana.get(f"c/{uuid4()}/?at={CANARY['search']}")
    dana.get(f"{place}?deleted={CANARY['search']}")
    upstream.plays(Refuse(400, CANARY["refusal"]))
    asked(dana, CANARY["question"], "failed")
    shared = re.search(
        r"/s/([\w-]{20,})/", dana.post(f"m/{answer}/share/", thoughts="on", tools="on", expires="week")
    )[1]
    reader.get(f"s/{shared}/")
    reader.get(f"accounts/login/?next=/s/{shared}/")
    reader.post("accounts/signup/", username="charlie", password1=PASSWORD, password2=PASSWORD)
    reader.get(f"s/{shared}/")
    reader.post(f"s/{shared}/fork/", until="")
    dana.post(f"m/{answer}/submit/", scope="tree", question=CANARY["submitted"])
    review = re.search(r'href="/(review/[0-9a-f-]{36}/)', dana.get("review/"))[1]
    dana.get(f"admin/chatapp/conversation/?q={CANARY['search']}")
    dana.get(f"admin/{place.replace('c/', 'chatapp/conversation/')}")
    dana.get(review)
    dana.post(f"{review}note/", 404, text=CANARY["note"])
    dana.get("admin/auth/user/add/")
    let_in = dana.post("admin/auth/user/add/", username="bob", email="bob@canaryaddressx.org")
    once = re.search(r"/(accounts/once/\w+/([\w-]{20,})/)", let_in)
    assert "Choose a password" in reader.get(once[1])
    dana.secrets.add(once[2])
    dana.get("accounts/again/?next=/admin/")
    dana.post("accounts/again/", 400, **{"again-password": CANARY["typed"]})
    dana.get("accounts/password/")
    dana.post(
        "accounts/password/",
        old_password=PASSWORD,
        new_password1=OTHER_PASSWORD,
        new_password2=OTHER_PASSWORD,
    )
    dana.get("accounts/reset/")
    dana.post("accounts/reset/", email="dana@canaryaddressx.org")
    _program(dana, upstream)
    dana.post("ask/", 403, csrfmiddlewaretoken=CANARY["broken"], text=CANARY["question"])
    dana.post("broken/", 500, text=CANARY["broken"])
    dana.secrets.add(shared)


def _program(dana: Browser, upstream: Upstream) -> None:
    """Through every door: answered, refused, broken, and in the middle of it."""
    page = dana.post("settings/keys/", name=CANARY["key"], expires="", keeps_responses="on")
    key = re.search(r"tl_[\w-]{43}", page)[0]
    dana.secrets |= {key, key[3:]}
    headers = {"User-Agent": f"{CANARY['program']}/1", "Authorization": f"Bearer {key}"}
    words = [{"role": "user", "content": CANARY["question"]}]
    bodies = {
        "v1/chat/completions": {"messages": words},
        "v1/messages": {"messages": words, "max_tokens": 500},
        "v1/responses": {"input": CANARY["question"], "instructions": CANARY["instructions"]},
    }
    with closing(httpx.Client(base_url=dana.house.url, headers=headers, timeout=PATIENCE)) as program:
        for path, body in bodies.items():
            upstream.plays(Think(CANARY["thought"]), Write(CANARY["answer"]))
            asked = body | {"model": "openai:gpt-5", "user": CANARY["program"]}
            answer = program.post(path, json=asked)
            assert CANARY["answer"] in answer.text
            upstream.plays(Refuse(400, CANARY["refusal"]))
            assert program.post(path, json=asked | {"stream": True}).status_code == 400
            for wrong in (asked | {"stream": CANARY["broken"]}, asked | {"model": CANARY["broken"]}):
                assert program.post(path, json=wrong).status_code in (400, 404)
            assert program.post(path, content=f"{{{CANARY['broken']}").status_code == 400
            assert program.post(path, json=asked, headers={"Authorization": key[:-1]}).status_code == 401
            program.get(f"{path}/{CANARY['broken']}?after={CANARY['search']}")
        assert (
            program.post(f"v1/broken/{CANARY['broken']}", json={"text": CANARY["broken"]}).status_code == 500
        )
        program.request(CANARY["broken"], "v1/models")
    asyncio.run(_over_a_socket(dana, key))


async def _over_a_socket(dana: Browser, key: str) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{dana.house.url}v1/responses", headers={"x-api-key": key}) as socket,
    ):
        for message in (
            CANARY["broken"],
            {"type": CANARY["broken"]},
            {"type": "response.create", "input": []},
        ):
            await socket.send_str(message if isinstance(message, str) else json.dumps(message))
            assert "error" in await socket.receive_str(timeout=PATIENCE)
        await socket.send_bytes(CANARY["broken"].encode())
        assert "error" in await socket.receive_str(timeout=PATIENCE)


@pytest.mark.parametrize("form", ["text", "json"])
def test_nothing_that_was_said_asked_or_sent_stands_in_the_log_however_much_it_tells(
    tmp_path, upstream, form
):
    environment = upstream.environment | {
        "DEFAULT_MODEL": "openai:gpt-5",
        "OPENAI_API_KEY": KEY,
        "LOG_LEVEL": "debug",
    }
    environment |= {"DEBUG": "1", "LOG_FORMAT": form, "DJANGO_SETTINGS_MODULE": "tests.breaking.settings"}
    with serving(with_tables(tmp_path), environment) as house:
        secrets = visit(house, upstream)
    log = house.new_log()
    found = {each for each in ("canary", "kestrel", KEY, *secrets) if each in log}
    assert found == set(), [line for line in log.splitlines() if any(each in line for each in found)][:5]
    if form == "json":
        assert {json.loads(line)["level"] for line in log.splitlines()} >= {
            "debug",
            "info",
            "warning",
            "error",
        }
    # What it may tell, it tells.
    assert {told for told in TOLD if told not in log} == set()
