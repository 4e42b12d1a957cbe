"""A warning reads what the person sees and what the tool gets: however an address was spelled."""

from __future__ import annotations

import json

import pytest

from chatapp.core.hosts import DEEPEST, FOREIGN, HIDDEN_BEHIND, MOST, Misleading, misleading_hosts

LOOKALIKE = Misleading("gоod.example", FOREIGN, "xn--god-sed.example")


def nested(value: object, times: int) -> str:
    for _ in range(times):
        value = {"inner": json.dumps(value)}
    return json.dumps(value)


@pytest.mark.parametrize(
    "arguments",
    [
        '{"url":"https://gоod.example/"}',
        r'{"url":"https://g\u043eod.example/"}',
        r'{"url":"https://g\u043Eod.example/"}',
        r'{"url":"https:\/\/g\u043eod.example\/a"}',
        r'{"url":"\u0068ttps\u003a\u002f\u002fg\u043eod.example"}',
        r'{"url":"https:\\\\g\u043eod.example"}',
        '{"url":"https:\\t/\\n/gоod.example"}',
        '{"url":"https:/gоod.example"}',
        '{"url":"https:gоod.example"}',
        '{"url":"//gоod.example/x"}',
        '{"url":"HTTPS://gоod.example"}',
        '{"url":"wss://gоod.example"}',
        '{"url":"https://me:word@gоod.example:8443/?a=good.example"}',
        '{"url":"https://a@b@gоod.example"}',
        '{"url":"https://g%D0%BEod.example"}',
        '{"url":"https://good.example","url":"https://gоod.example"}',
        '{"https://gоod.example":1}',
        '{"list":["x",{"deep":"see https://gоod.example."}]}',
        '{"to":"bob@gоod.example"}',
        "https://gоod.example",
        r"half { of it https:\/\/g\u043eod.example",
        '"https://gоod.example"',
        nested({"url": "https://gоod.example"}, 1),
        nested({"url": "https://gоod.example"}, 3),
    ],
)
def test_a_lookalike_is_found_however_it_is_spelled(arguments):
    assert misleading_hosts(arguments) == [LOOKALIKE]


@pytest.mark.parametrize(
    ("host", "real"),
    [
        ("GОOD.EXAMPLE", "xn--god-sed.example"),
        ("good。example", "good.example"),
        ("good．example", "good.example"),
        ("good｡example", "good.example"),
        ("ｇｏｏｄ.example", "good.example"),
        ("go\u200bod.example", "good.example"),
        ("go\u00adod.example", "good.example"),
        ("о" * 80 + ".example", "\\u043e" * 80 + ".example"),
    ],
)
def test_the_real_name_is_the_one_that_the_network_knows(host, real):
    assert misleading_hosts(json.dumps({"url": f"https://{host}/"})) == [Misleading(host, FOREIGN, real)]


@pytest.mark.parametrize("before", ["good.example", "good%2Eexample"])
def test_what_stands_before_an_at_sign_is_no_host(before):
    (found,) = misleading_hosts(json.dumps({"url": f"https://{before}@evil.example/"}))
    assert found == Misleading(f"{before}@", HIDDEN_BEHIND, "evil.example")


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "{}",
        '{"url":"https://good.example:80/ü?ü#ü"}',
        '{"url":"https://me@good.example/"}',
        '{"to":"bob@good.example"}',
        r'{"path":"C:\\neu\\über\\tafel.txt"}',
        '{"code":"x = 1 //größer\\n@größer\\n"}',
        '{"words":"Größe: 漢字。かな http: ja"}',
        "//" * 3,
    ],
)
def test_of_an_address_that_is_what_it_seems_nothing_is_said(arguments):
    assert misleading_hosts(arguments) == []


def test_a_name_is_told_once_and_not_more_than_some_are_told():
    many = " ".join(f"https://{n}ü.example https://{n}ü.example" for n in range(MOST + 5))
    assert len(set(misleading_hosts(many))) == len(misleading_hosts(many)) == MOST


def test_escapes_that_make_escapes_come_to_an_end():
    assert misleading_hosts("\\u005c" + "u005c" * 10_000 + f"https://{'u' * DEEPEST}.example") == []
