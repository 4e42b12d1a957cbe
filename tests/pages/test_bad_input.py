"""Nonsense of any kind, at every address: a clear refusal in words, nothing half done, and never a failure of ours."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User

from chatapp.pages.models import Preference
from chatapp.store import in_thread
from chatapp.store.models import Conversation, Item, Message
from tests.support.addresses import ADDRESSES, Whose, those
from tests.support.front import HTMX, Visitor, house, visitor
from tests.support.stage import play

from .test_access import Belongings, address

pytestmark = pytest.mark.django_db(transaction=True)

FORM = "application/x-www-form-urlencoded"
WRITABLE = [path for path, row in ADDRESSES.items() if "POST" in row.methods and path.count("<") < 2]
BY_SCRIPT = pytest.mark.parametrize("headers", [{}, HTMX], ids=["browser", "script"])

# What stands in place of the whole body.
BODIES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", FORM),
    "nothing of no kind": (b"", ""),
    "noise": (bytes(range(256)) * 40, FORM),
    "noise of its own kind": (bytes(range(256)), "application/octet-stream"),
    "json": (b'{"text": "x"}', "application/json"),
    "signs without fields": (b"&=&&==%%%zz&%", FORM),
    "another encoding": (b"text=x", f"{FORM}; charset=utf-16"),
    "an unknown encoding": (b"text=x", f"{FORM}; charset=nonsense"),
    "many fields": (b"a=1&" * 5000, FORM),
    "too much": (b"text=" + b"x" * (14 * 1024 * 1024), FORM),
    "parts without a border": (b"text=x", "multipart/form-data"),
    "parts with a broken border": (b"--x\r\nno header", "multipart/form-data; boundary=x"),
    "parts that end early": (
        b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\nhalf',
        "multipart/form-data; boundary=x",
    ),
    "a file for a text": (
        b'--x\r\nContent-Disposition: form-data; name="text"; filename="a"\r\n\r\nfile\r\n--x--\r\n',
        "multipart/form-data; boundary=x",
    ),
}
# What stands in place of the value of a field.
VALUES: dict[str, bytes] = {
    "nothing": b"",
    "spaces": b"+%20%0d%0a%09",
    "U+0000": b"a%00b",
    "only U+0000": b"%00",
    "a lone surrogate": b"%ed%a0%80",
    "no UTF-8": b"%ff%fe%c3",
    "raw bytes": b"\xff\xfe\x00\x80",
    "300 kB": b"x" * 300_000,
    "5 MB": b"x" * 5_000_000,
    "5 MB of wide signs": "漢".encode() * 1_700_000,
    "an id of nothing": str(uuid4()).encode(),
    "an id in another form": uuid4().hex.upper().encode(),
    "a number": b"9" * 400,
    "markup": quote('"><script>alert(1)</script>').encode(),
    "deep brackets": b"[" * 20_000,
    "direction marks": quote("\u202e\u2066\ufeff").encode(),
}
ASKED = ("text", "example", "model", "effort", "parent", "key", "instructions", "leave_out")


async def refused_or_done(response: Any, before: Any) -> bool:
    """Whether it was refused: then in words, and nothing was written."""
    assert response.status_code < 500, response.text[:2000]
    assert "<script>alert" not in response.text
    if response.status_code < 400:
        return False
    assert len(visible(response.text)) > 10, response.text
    assert await in_thread(rows)() == before
    return True


def rows() -> list[Any]:
    """What people made. What a turn that runs adds meanwhile is not theirs."""
    conversations = Conversation.objects.values_list(
        "pk", "title", "instructions", "pinned_at", "archived_at", "deleted_at", "head"
    )
    messages = Message.objects.values_list("pk", "parent", "deletion", "model", "effort", "submission")
    users = User.objects.values_list("username", "email", "password")
    questions = Item.objects.filter(kind="user_message").values_list("message", "text")
    return [*map(sorted_rows, (conversations, messages, users, questions, Preference.objects.values_list()))]


def sorted_rows(query: Any) -> list[str]:
    return sorted(map(repr, query))


def visible(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>|\s+", " ", text.partition("<main")[2] or text)).strip()


async def send(who: Visitor, path: str, body: bytes, kind: str, headers: dict[str, str]) -> Any:
    more = {"X-CSRFToken": who.token} | ({"Content-Type": kind} if kind else {}) | headers
    return await who.send("POST", path, content=body, headers=more)


def places(path: str, hers: Belongings) -> list[str]:
    return [address(path, name, hers) for name in hers.ids_for(path)] if "<" in path else [path]


@pytest.mark.parametrize("path", WRITABLE)
def test_a_body_that_makes_no_sense_is_refused_or_taken_as_empty(alice, path):
    async def story():
        hers = await in_thread(Belongings)(alice)
        async with house():
            for body, kind in BODIES.values():
                she = await visitor(alice)
                for place in places(path, hers):
                    before = await in_thread(rows)()
                    await refused_or_done(await send(she, place, body, kind, {}), before)

    play(story())


@pytest.mark.sampled
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("path", ["/ask/", "/c/<uuid:pk>/ask/", "/m/<uuid:pk>/edit/", "/m/<uuid:pk>/again/"])
def test_a_value_that_makes_no_sense_is_refused_or_taken_as_what_it_may_mean(alice, path, value):
    async def story():
        hers = await in_thread(Belongings)(alice)
        async with house():
            she = await visitor(alice)
            for name in ASKED:
                for place in places(path, hers)[:2]:
                    fields = {"text": b"Hm%3F", "key": str(uuid4()).encode(), name: VALUES[value]}
                    body = b"&".join(key.encode() + b"=" + said for key, said in fields.items())
                    before = await in_thread(rows)()
                    await refused_or_done(await send(she, place, body, FORM, {}), before)
            assert await in_thread(unheld)() == []

    play(story())


def unheld() -> list[str]:
    """Texts with signs that no page can hold."""
    texts = Item.objects.values_list("text", flat=True)
    return [text[:50] for text in texts if "\0" in text or re.search("[\ud800-\udfff]", text)]


OTHER_FORMS = [path for path in WRITABLE if ADDRESSES[path].form and "ask" not in path and "edit" not in path]


@pytest.mark.sampled
@BY_SCRIPT
@pytest.mark.parametrize("path", OTHER_FORMS)
def test_a_value_of_any_other_form_is_refused_or_taken_as_what_it_may_mean(alice, path, headers):
    async def story():
        hers, form = await in_thread(Belongings)(alice), encoded(ADDRESSES[path].form)
        async with house():
            she = await visitor(alice)
            for name in form:
                for value in VALUES.values():
                    body = b"&".join(
                        key.encode() + b"=" + said for key, said in {**form, name: value}.items()
                    )
                    before = await in_thread(rows)()
                    await refused_or_done(await send(she, places(path, hers)[0], body, FORM, headers), before)

    play(story())


def encoded(form: Any) -> dict[str, bytes]:
    return {name: quote(value).encode() for name, value in form.items()}


@pytest.mark.parametrize(
    ("field", "value", "status", "sentence"),
    [
        ("text", "", 400, "Write a question first."),
        ("text", " \r\n\t", 400, "Write a question first."),
        ("text", "x" * 5_000_000, 409, "The question is too long: at most 4 MiB."),
        ("model", "nobody:x", 400, "is not configured"),
        ("model", "nonsense", 400, "names no model"),
        ("model", "demo:other", 400, "There is no model"),
        ("parent", "x", 400, "The page was too old. Reload it and send again."),
        ("key", "x", 400, "The page was too old. Reload it and send again."),
    ],
)
@pytest.mark.parametrize("path", ["/ask/", "/c/<uuid:pk>/ask/", "/m/<uuid:pk>/edit/"])
@BY_SCRIPT
def test_a_refused_question_says_what_is_wrong(alice, path, field, value, status, sentence, headers):
    async def story():
        hers = await in_thread(Belongings)(alice)
        before = await in_thread(rows)()
        place = places(path, hers)[-1]
        async with house():
            response = await (await visitor(alice)).post(
                place, {"text": "Hm?", field: value}, headers=headers
            )
            assert response.status_code == status
            assert sentence in html.unescape(response.text)
            assert await in_thread(rows)() == before

    play(story())


def test_an_effort_that_nobody_knows_is_left_to_the_model(alice):
    async def story():
        async with house():
            response = await (await visitor(alice)).post("/ask/", {"text": "Hm?", "effort": "immense"})
            assert response.status_code == 302
            answer = await in_thread(Message.objects.get)(role="assistant")
            assert answer.effort == ""

    play(story())


QUERIES = {
    "newest": ["0", "1", "-5", "9" * 30, "999999999", "1e3", "²", "٣", "x", "", "\0", "5.5"],
    "at": ["", "x", "\0", "{nothing}", "{{answer}}", "urn:uuid:{nothing}", "9" * 500, "é", "\ud800"],
    "before": [
        "",
        "x",
        "\0",
        "{nothing}",
        "0.0.{nothing}",
        "1." + "9" * 40 + ".{nothing}",
        "...",
        "0.-1.{nothing}",
    ],
    "from": ["x", "-1", "9" * 40, "²", "\0", "999999999"],
    "a": ["x", "\0", "{nothing}", "{answer}", "9" * 500],
    "b": ["{answer}", "x", "\ud800", "{nothing}", "\0"],
    "choose": ["1", "x", "\0"],
    "deleted": ["x", "\0", "{nothing}", "9" * 500],
    "q": ["x" * 30_000, "\0", "%", "_", "\\", "'", '"><script>alert(1)</script>', "\ud800"],
    "model": ["x", "\0", "x" * 30_000, "demo:thinker\0", "demo:"],
    "thoughts": ["x", "2", "-1", "\0", ""],
    "archived": ["x", "\0", "2"],
    "saved": ["x", "\0", '"><script>alert(1)</script>'],
    "next": ["//elsewhere.example", "\0", "javascript:alert(1)", "x" * 30_000],
}


READ = {
    "newest": ["/c/<uuid:pk>/"],
    "at": ["/c/<uuid:pk>/"],
    "before": ["/c/<uuid:pk>/earlier/", "/conversations/"],
    "from": ["/c/<uuid:pk>/map/"],
    "a": ["/compare/", "/c/<uuid:pk>/map/"],
    "b": ["/compare/"],
    "choose": ["/c/<uuid:pk>/map/"],
    "deleted": ["/", "/c/<uuid:pk>/"],
    "q": ["/models/", "/conversations/"],
    "model": ["/"],
    "thoughts": ["/m/<uuid:pk>/copy/"],
    "archived": ["/conversations/"],
    "saved": ["/settings/"],
    "next": ["/accounts/login/", "/accounts/signup/", "/accounts/again/"],
}


@pytest.mark.sampled
@BY_SCRIPT
@pytest.mark.parametrize("name", QUERIES)
def test_a_query_that_makes_no_sense_is_refused_or_ignored(alice, name, headers):
    async def story():
        hers = await in_thread(Belongings)(alice)
        before = await in_thread(rows)()
        async with house():
            for who in (await visitor(alice), await visitor()):
                for path in READ[name]:
                    for value in QUERIES[name]:
                        response = await who.get(asked(path, hers, {name: value}), headers=headers)
                        await refused_or_done(response, before)

    play(story())


@pytest.mark.parametrize("path", [path for path in ADDRESSES if path.count("<") < 2])
def test_every_address_bears_every_query(alice, path):
    async def story():
        hers = await in_thread(Belongings)(alice)
        before = await in_thread(rows)()
        async with house():
            she = await visitor(alice)
            for number in range(5):
                query = {name: values[number % len(values)] for name, values in QUERIES.items()}
                await refused_or_done(await she.get(asked(path, hers, query)), before)

    play(story())


def asked(path: str, hers: Belongings, query: dict[str, str]) -> str:
    ids = {"nothing": uuid4(), "answer": hers.answer}
    said = {name: value.format(**ids) if "{" in value else value for name, value in query.items()}
    place = places(path, hers)[-1].partition("?")[0]
    return f"{place}?{urlencode(said, errors='surrogatepass')}"


STRANGE_IDS = ["x", "1", "-", "%00", "{upper}", "{hex}", "{{{id}}}", "{id}{id}", "é", "%ff", "x" * 3000]


@pytest.mark.parametrize("path", [path for path in ADDRESSES if "<uuid" in path])
def test_an_id_in_another_form_is_nowhere(alice, path):
    async def story():
        hers = await in_thread(Belongings)(alice)
        before = await in_thread(rows)()
        async with house():
            she = await visitor(alice)
            for name in hers.ids_for(path):
                for strange in STRANGE_IDS:
                    said = strange.format(id=name, upper=shouted(name), hex=name.hex)
                    for method in ADDRESSES[path].methods:
                        where = re.sub("<uuid:[a-z]+>", said, path)
                        headers = {"X-CSRFToken": she.token}
                        response = await she.send(method, where, headers=headers)
                        assert response.status_code in (404, 405), where[:100]
        assert await in_thread(rows)() == before

    play(story())


def shouted(name: UUID) -> str:
    """With a letter, so that it is another form."""
    return str(name).upper().replace("0", "A", 1)


HEADERS = {
    "HX-Current-URL": ["x", "http://[", "\0", "http://localhost/c/x/", "/" * 5000, "http://localhost/c/%00/"],
    "HX-Target": ["x", "\0", "conversations"],
    "Referer": ["http://[", "x", "//elsewhere.example/", "http://elsewhere.example/", "javascript:alert(1)"],
    "Cookie": [
        "zone=\0",
        "zone=../../etc/passwd",
        "zone=" + "x" * 3000,
        "sessionid=x; sessionid=y",
        ";;;=",
        "csrftoken=",
    ],
    "X-Forwarded-For": ["x", "1.2.3.4, [", "\0"],
    "X-Forwarded-Host": ["elsewhere.example"],
    "X-CSRFToken": ["", "x", "x" * 5000],
    "Accept": ["", "x"],
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_makes_no_sense_breaks_nothing(alice, name):
    async def story():
        hers = await in_thread(Belongings)(alice)
        async with house():
            for value in HEADERS[name]:
                she = await visitor(alice)
                for path in ("/", "/c/<uuid:pk>/", "/conversations/", "/settings/", "/models/"):
                    for more in ({}, HTMX):
                        place = places(path, hers)[0]
                        response = await she.get(place, headers={**more, name: value.encode()})
                        assert response.status_code < 500
                for action in ("archive", "pin"):
                    where = f"/c/{hers.conversation}/{action}/"
                    response = await she.post(where, headers={name: value.encode(), **HTMX})
                    assert response.status_code < 500
                    assert "elsewhere" not in response.headers.get("location", "")

    play(story())


@pytest.mark.parametrize("path", those(Whose.OWN))
def test_a_head_is_a_get_without_its_body(alice, path):
    if "HEAD" not in ADDRESSES[path].methods:
        return

    async def story():
        hers = await in_thread(Belongings)(alice)
        async with house():
            she = await visitor(alice)
            for place in places(path, hers):
                whole, head = await she.get(place), await she.send("HEAD", place)
                assert (whole.status_code, head.status_code) in ((200, 200), (409, 409))

    play(story())


@pytest.mark.parametrize("body", BODIES)
def test_a_body_sent_to_nowhere_is_told_so(alice, body):
    async def story():
        async with house():
            for who in (await visitor(alice), await visitor()):
                response = await send(who, "/no/such/page/", *BODIES[body], {})
                assert response.status_code in (400, 404, 413)
                assert "css/base" in response.text

    play(story())
