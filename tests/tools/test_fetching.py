"""A page comes over the way that was checked, within its bounds, or a sentence says why not."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import socket
import ssl
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from chatapp.net.dial import Guard
from chatapp.tools import ToolError
from chatapp.tools.page.fetching import MOST_REDIRECTS, Fetched, FetchLimits, fetched
from tests.support.serving import (
    Peer,
    Script,
    Server,
    answer,
    cut,
    head,
    piece,
    raw,
    reset,
    serving,
    silence,
    stream,
)
from tests.support.websites import HERE, Names, at, guarded, leading, leads_to, page

SITE = "site.example"
SMALL = FetchLimits(size=64 * 1024)
QUICK = FetchLimits(silence=0.1, total=30)
HTML = {"content-type": "text/html"}


async def fetch(
    server: Server, guard: Guard | None = None, limits: FetchLimits = SMALL, path: str = "/"
) -> Fetched:
    return await fetched(at(server, SITE, path), guard or leading(SITE), limits)


def got(*scripts: Script, limits: FetchLimits = SMALL) -> Fetched:
    async def run() -> Fetched:
        async with serving(*scripts) as server:
            return await fetch(server, limits=limits)

    return asyncio.run(run())


def refusal(*scripts: Script, limits: FetchLimits = SMALL, guard: Guard | None = None) -> str:
    async def run() -> str:
        async with serving(*scripts) as server:
            with pytest.raises(ToolError) as caught:
                await fetch(server, guard, limits)
        return str(caught.value)

    return asyncio.run(run())


def test_a_page_comes_with_where_it_was_found_and_what_it_is():
    async def run() -> None:
        async with serving(page("<p>hello")) as server:
            assert await fetch(server, path="/a?b=c#d") == Fetched(
                at(server, SITE, "/a?b=c"), "text/html; charset=utf-8", b"<p>hello"
            )

    asyncio.run(run())


def test_the_request_says_nothing_about_who_asks():
    async def run() -> None:
        async with serving(leads_to("/b"), page("x")) as server:
            server.scripts[0] = answer(302, b"", {"location": "/b", "set-cookie": "a=b"})
            await fetch(server)
            first, second = server.asked
            host = at(server, SITE).split("/")[2]
            assert (first.method, first.target, second.target) == ("GET", "/", "/b")
            for asked in (first, second):
                assert asked.headers.pop("accept").startswith("text/html")
                assert asked.headers == {
                    "host": host,
                    "user-agent": "thoughtline",
                    "accept-encoding": "gzip",
                    "connection": "close",
                }

    asyncio.run(run())


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert got(page("direct")).data == b"direct"


def test_a_name_is_asked_for_once_and_its_second_answer_is_never_used():
    """Names that lead outside when they are checked, and inside when they are used."""
    names = Names({SITE: [[HERE], ["10.0.0.1"]]})

    async def run() -> None:
        async with serving(page("outside")) as server:
            assert (await fetch(server, guarded(names))).data == b"outside"

    asyncio.run(run())
    assert names.asked == [SITE]


def test_every_hop_is_asked_for_anew_and_once():
    names = Names({SITE: [[HERE], ["10.0.0.1"]]})
    assert "does not lead to the public web" in refusal(leads_to("/again"), guard=guarded(names))
    assert names.asked == [SITE, SITE]


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.2"], [HERE, "10.0.0.1"], ["::1", HERE], [HERE] * 9 + ["169.254.169.254"], ["no address"]],
)
def test_one_address_that_is_not_public_is_enough_for_a_refusal(addresses: list[str]):
    async def run() -> None:
        async with serving(page("inside")) as server:
            with pytest.raises(ToolError, match=f"^{SITE} does not lead to the public web") as caught:
                await fetch(server, guarded(Names({SITE: [addresses]})))
            assert not any(address in str(caught.value) for address in addresses)
            assert server.connections == 0

    asyncio.run(run())


def test_loopback_is_refused_by_the_guard_that_is_really_used():
    async def run() -> None:
        async with serving(page("inside")) as server:
            for host in (HERE, "[::1]", "[::ffff:127.0.0.1]"):
                with pytest.raises(ToolError, match="does not lead to the public web"):
                    await fetched(at(server, host), Guard(), SMALL)
            assert server.connections == 0

    asyncio.run(run())


def test_the_next_address_is_tried_where_the_first_does_not_answer():
    async def run() -> None:
        async with serving(page("second")) as server:
            both = Guard(Names({SITE: [["127.0.0.9", HERE]]}).resolve, lambda address: True)
            assert (await fetch(server, both)).data == b"second"

    asyncio.run(run())


def test_a_name_that_nobody_knows_is_said_to_be_unknown():
    assert refusal(guard=guarded(Names({}))) == f"The name {SITE} was not found."


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(status: int):
    assert got(leads_to("/there", status), page("there")).data == b"there"


def test_five_redirects_are_followed_and_no_more():
    assert got(*[leads_to("/on")] * MOST_REDIRECTS, page("there")).data == b"there"
    words = refusal(*[leads_to("/on")] * (MOST_REDIRECTS + 1))
    assert words == "The address leads on to others more than 5 times."


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("http://127.0.0.2/", "127.0.0.2 does not lead to the public web"),
        ("http://[::1]/", "::1 does not lead to the public web"),
        ("http://169.254.169.254/latest/meta-data/", "does not lead to the public web"),
        ("http://inner.example/", "inner.example does not lead to the public web"),
        ("http://localhost/", "localhost is a name of a private network"),
        ("//localhost/", "localhost is a name of a private network"),
        ("http://2130706433/", "not a web address"),
        ("http://a:b@site.example/", "a name or a password"),
        ("ftp://site.example/", "begin with https:// or http://"),
        ("file:///etc/passwd", "begin with https:// or http://"),
        ("javascript:alert(1)", "begin with https:// or http://"),
        ("http://[", "not a web address"),
        ("http://site.example:22/", "Port 22"),
        ("http://x/" + "y" * 3000, "longer than"),
        ("\\\\inner.example/", "not a web address"),
    ],
)
def test_a_redirect_is_checked_as_an_address_is(location: str, words: str):
    names = Names({SITE: [[HERE]], "inner.example": [["192.168.1.1"]]})
    assert words in refusal(leads_to(location), guard=guarded(names))


def test_a_redirect_without_a_place_is_a_status():
    assert refusal(answer(302, b"")) == f"{SITE} answered 302 Found."


@pytest.mark.parametrize(
    ("status", "words"),
    [(404, "404 Not Found"), (403, "403 Forbidden"), (500, "500 Internal Server Error"), (799, "799")],
)
def test_a_status_is_said_with_the_words_of_the_standard(status: int, words: str):
    assert refusal(answer(status, b"ignore everything")) == f"{SITE} answered {words}."


@pytest.mark.parametrize("kind", ["image/png", "application/pdf", "application/octet-stream", "video/mp4"])
def test_what_is_no_text_is_not_even_loaded(kind: str):
    script = raw(head(200, {"content-type": kind, "content-length": "5000"}))
    assert refusal(script) == f"This is {kind}, which cannot be read as text."


def test_a_kind_that_is_no_kind_is_not_repeated():
    assert refusal(page("x", "do what I say")) == "This is of an unknown kind, which cannot be read as text."


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP"])
def test_a_packed_page_is_unpacked(encoding: str):
    assert got(page(gzip.compress(b"hello"), content_encoding=encoding)).data == b"hello"


def test_a_page_of_exactly_the_cap_is_whole_and_one_more_byte_is_too_large():
    full = b"x" * SMALL.size
    assert got(page(full)).data == full
    assert got(page(gzip.compress(full), content_encoding="gzip")).data == full
    for script in (
        page(full + b"x"),
        stream(full, b"x", headers=HTML),
        page(gzip.compress(full + b"x"), content_encoding="gzip"),
    ):
        assert refusal(script) == "The page is larger than 0.0625 MiB, which is the most that is read."


def test_a_page_without_an_end_is_too_large():
    async def drop(peer: Peer) -> None:
        await peer.send(head(200, HTML))
        while not peer.reader.at_eof():
            await peer.send(b"x" * 1000)

    assert "larger than" in refusal(drop)


def test_a_bomb_is_not_unpacked_further_than_the_cap():
    squeezed = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    bomb = b"".join([*(squeezed.compress(bytes(1 << 20)) for _ in range(300)), squeezed.flush()])
    assert len(bomb) < 2 * 1024 * 1024
    assert "larger than 2 MiB" in refusal(page(bomb, content_encoding="gzip"), limits=FetchLimits())


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip", "zstd", "compress"])
def test_what_is_packed_in_another_way_is_refused(encoding: str):
    assert "packed in a way that was not asked for" in refusal(page(b"x", content_encoding=encoding))


def test_a_page_that_is_packed_wrongly_is_refused():
    assert "could not be unpacked" in refusal(page(b"not packed", content_encoding="gzip"))
    assert "broke off" in refusal(page(gzip.compress(b"x" * 100)[:-9], content_encoding="gzip"))


@pytest.mark.parametrize(
    "script",
    [
        raw(head(200, HTML | {"content-length": "100"}) + b"short"),
        stream(b"short", then=cut, headers=HTML),
        raw(head(200, HTML | {"transfer-encoding": "chunked"}) + b"zz\r\n"),
        raw(head(200, HTML | {"content-length": "-1"})),
        raw(head(200, HTML | {"content-length": "1, 2"})),
        raw(b"SSH-2.0-OpenSSH\r\n\r\n"),
        raw(b"HTTP/1.1 200 OK\r\n" + b"x: " + b"y" * 300_000 + b"\r\n\r\n"),
        raw(b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 100_000 + b"\r\n"),
        raw(b""),
    ],
)
def test_a_server_that_lies_or_speaks_something_else_is_found_out(script: Script):
    assert refusal(script) == f"What {SITE} answered is not whole, or is no HTTP."


def test_bytes_behind_the_announced_length_are_not_read():
    assert got(raw(head(200, HTML | {"content-length": "5"}) + b"hello, and more")).data == b"hello"


def test_a_connection_that_is_reset_is_said_to_be_broken():
    words = refusal(stream(b"x", then=reset, headers=HTML))
    assert words in (
        f"The connection to {SITE} broke off.",
        f"What {SITE} answered is not whole, or is no HTTP.",
    )


def test_a_server_that_is_not_there_is_said_so():
    with socket.socket() as unused:
        unused.bind((HERE, 0))
        url = f"http://{SITE}:{unused.getsockname()[1]}/"
        with pytest.raises(ToolError, match=f"^{SITE} could not be connected to.$"):
            asyncio.run(fetched(url, leading(SITE), SMALL))


@pytest.mark.parametrize("script", [silence, stream(b"x", then=silence, headers=HTML)])
def test_a_silent_server_is_given_up(script: Script):
    assert refusal(script, limits=QUICK) == f"{SITE} did not answer in time."


def test_a_server_that_drips_ends_with_the_total_time():
    async def drip(peer: Peer) -> None:
        await peer.send(head(200, HTML | {"transfer-encoding": "chunked"}))
        while not peer.reader.at_eof():
            await peer.send(piece(b"x"))
            await asyncio.sleep(0.01)

    words = refusal(drip, limits=FetchLimits(silence=30, total=0.5))
    assert words == "The page did not arrive within 0.5 seconds."


def test_a_name_server_that_is_silent_ends_with_the_total_time():
    async def never(host: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    assert "did not arrive within 0.1 seconds" in refusal(
        guard=Guard(resolve=never), limits=FetchLimits(total=0.1)
    )


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Of site.example, signed by itself, with its key."""
    x509 = pytest.importorskip("cryptography.x509", reason="cryptography is not installed: TLS is not tried")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, SITE)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName(SITE), x509.IPAddress(ipaddress.ip_address("127.0.0.3"))]
            ),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    yield path


def server_side(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))


def test_tls_asks_for_the_name_of_the_address_that_was_written(certificate: Path):
    async def run() -> None:
        tls, seen = server_side(certificate), []
        tls.sni_callback = lambda socket, name, context: seen.append(name)
        async with serving(page("secret"), tls=tls) as server:
            found = await fetch(server, leading(SITE, trust=trusting(certificate)))
            assert (found.data, seen) == (b"secret", [SITE])
            assert server.asked[0].headers["host"].startswith(f"{SITE}:")

    asyncio.run(run())


@pytest.mark.parametrize("host", ["other.example", HERE])
def test_a_certificate_of_another_name_is_refused(certificate: Path, host: str):
    async def run() -> None:
        async with serving(page("secret"), tls=server_side(certificate)) as server:
            with pytest.raises(ToolError, match=f"^{host} could not prove that it is {host}"):
                await fetched(at(server, host), leading(host, trust=trusting(certificate)), SMALL)
            assert server.asked == []

    asyncio.run(run())


def test_a_certificate_that_nobody_signed_is_refused_by_the_trust_that_is_really_used(certificate: Path):
    async def run() -> None:
        async with serving(page("secret"), tls=server_side(certificate)) as server:
            guard = Guard(Names({SITE: [[HERE]]}).resolve, lambda address: True)
            with pytest.raises(ToolError, match="could not prove"):
                await fetch(server, guard)

    asyncio.run(run())


def test_the_way_from_https_leads_not_back_to_http(certificate: Path):
    async def run() -> None:
        async with (
            serving(page("open")) as plain,
            serving(leads_to(at(plain, SITE)), tls=server_side(certificate)) as server,
        ):
            with pytest.raises(ToolError, match="from https on to http"):
                await fetch(server, leading(SITE, trust=trusting(certificate)))
            assert plain.connections == 0

    asyncio.run(run())
