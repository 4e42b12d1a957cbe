"""Which addresses are public, by a table of our own, and which spellings of a host are looked at at all."""

from __future__ import annotations

import pytest

from chatapp.net.addresses import is_public
from chatapp.tools import ToolError
from chatapp.tools.page.checked_url import checked_url, host_of, is_literal, port_of

RANGES = """
0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.0 127.255.255.255
169.254.0.0 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.0 192.0.2.255
192.88.99.0 192.88.99.255 192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255
203.0.113.0 203.0.113.255 224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.254 255.255.255.255
:: ::1 ::2 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:8.8.8.8
64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b::1:8.8.8.8 64:ff9b:1::8.8.8.8
100::1 100:0:0:1::1 2001::1 2001:0:808:808:: 2001:2::1 2001:10::1 2001:20::1 2001:1ff:ffff::1
2001:db8::1 2002:7f00:1:: 2002:808:808:: 3fff::1 3fff:fff::1 4000::1 5f00::1 8000::1 fc00:: fd12:3456::1
fdff:ffff::1 fe00::1 fe80::1 fe80::1%eth0 febf::1 fec0::1 feff::1 ff02::1 ffff::1
"""
METADATA = (
    "169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::254 fd20:ce::254"
)
NEIGHBOURS = """
1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255
169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.88.98.255 192.167.255.255 192.169.0.0 198.17.255.255
198.20.0.0 203.0.112.255 203.0.114.0 223.255.255.255 8.8.8.8 168.63.129.17 64:ff9b::8.8.8.8
2000::1 2001:200::1 2001:db7::1 2001:db9::1 2003::1 2606:4700::1111 2a00::1 3ffe::1 3fff:1000::1
"""


@pytest.mark.parametrize("address", f"{RANGES} {METADATA}".split())
def test_what_is_not_handed_out_to_the_public_is_not_public(address: str):
    assert not is_public(address)


@pytest.mark.parametrize("address", NEIGHBOURS.split())
def test_the_neighbours_of_these_ranges_are_public(address: str):
    assert is_public(address)


@pytest.mark.parametrize(
    "text", ["", "localhost", "8.8.8", "8.8.8.8/32", "08.8.8.8", " 8.8.8.8", "134744072", "８.8.8.8"]
)
def test_what_is_no_address_is_not_public(text: str):
    assert not is_public(text)


def may_be_connected_to(url: str) -> bool:
    """Whether the guard would go on, if every name led to the public web."""
    try:
        host = host_of(checked_url(url))
    except ToolError:
        return False
    return is_public(host) if is_literal(host) else True


SPELLINGS = """
127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0x7f.1 0177.0.0.1 017700000001 0177.1 127.0.0.01
127.0.0.0x1 00000127.0.0.1 127.0.0.1. 127.0.0.1.. .127.0.0.1 127..0.1 0 0.0.0.0 0x0 0x 1.2.3.0x 256.256.256.256
4294967296 127.0.0.1.1 1.1 a.1 example.0x7f １２７.0.0.1 ①②⑦.0.0.1 127。0。0。1 127．0．0．1 127｡0｡0｡1
%31%32%37.0.0.1 127%2e0%2e0%2e1 127.0.0.1%00.example.com 127.0.0.1%2f.example.com 127.0.0.1,example.com
[::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::]
[fe80::1%25eth0] [fe80::1%eth0] [::1%25lo] [::1]. [::1 ::1 [127.0.0.1] [v1.127.0.0.1] [fd00:ec2::254]
169.254.169.254 169.254.43518 2852039166 0xa9fea9fe 100.100.100.200
localhost LOCALHOST LocalHost. localhost. localhost.localdomain a.localhost printer.local router.lan db.internal
metadata.google.internal intranet wiki.corp x.home.arpa site.private ⓛocalhost
user@127.0.0.1 user:word@example.com example.com@127.0.0.1 a:b@[::1]
example.com:22 example.com:0 example.com:25 example.com:443443 example.com:-1 example.com:x
example.com. exa*mple.com -.com -a.example a-.example a..example {}.example
"""
WITH_SIGNS_THAT_ARE_NOT_SEEN = [
    "loc\u00adalhost",
    "localhost\u200b",
    "example.com\\@127.0.0.1",
    "127.0.0.1\\.example.com",
    "127.0.0.1\t",
    "exam\tple.com",
    "example.com\n",
    "127.0.0.1\x00",
    " example.com",
    "",
]
OTHERS = """
example.com //example.com http: http:// http:/// http:example.com http:///etc/passwd ftp://example.com
file:///etc/passwd gopher://example.com:70/ data:text/html,x javascript:alert(1) ws://example.com
view-source:http://example.com http+unix://x/ mailto:a@example.com about:blank
"""


@pytest.mark.parametrize("host", SPELLINGS.split() + WITH_SIGNS_THAT_ARE_NOT_SEEN, ids=ascii)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_spelling_of_a_host_leads_inside(scheme: str, host: str):
    assert not may_be_connected_to(f"{scheme}://{host}/page")


@pytest.mark.parametrize("url", ["", *OTHERS.split()])
def test_what_is_no_address_of_the_web_is_refused(url: str):
    assert not may_be_connected_to(url)


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("https://example.com", "example.com", 443),
        ("HTTP://Example.COM/a?b#c", "example.com", 80),
        ("http://example.com:8080/", "example.com", 8080),
        ("http://example.com:443/", "example.com", 443),
        ("https://8.8.8.8/", "8.8.8.8", 443),
        ("https://[2606:4700::1111]:8443/", "2606:4700::1111", 8443),
        ("https://bücher.example/ü", "xn--bcher-kva.example", 443),
        ("https://१२७.example/", "xn--e4bcp.example", 443),
        ("https://a_b-c.1x.example/", "a_b-c.1x.example", 443),
        ("https://localhost.example/", "localhost.example", 443),
        ("https://127.0.0.1.example/", "127.0.0.1.example", 443),
        ("https://0x7f.example/", "0x7f.example", 443),
    ],
)
def test_ordinary_addresses_are_taken_as_they_are_meant(url: str, host: str, port: int):
    checked = checked_url(url)
    assert (host_of(checked), port_of(checked)) == (host, port)
    assert may_be_connected_to(url)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("x" * 2001, "longer than 2,000 characters"),
        ("example.com/page", "begin with https:// or http://"),
        ("https://example.com/a b", "not a web address"),
        ("https://ada:word@example.com/", "a name or a password"),
        ("https://example.com:22/", "Port 22"),
        ("https://printer.local/", "printer.local is a name of a private network"),
    ],
)
def test_a_refusal_says_why(url: str, words: str):
    with pytest.raises(ToolError, match=words):
        checked_url(url)
