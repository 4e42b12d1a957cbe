"""The list of a provider's models: what is asked, what is believed, and how it fails."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from chatapp.providers.base import ModelSpec, ProviderError, Trouble
from chatapp.providers.http import LIST_LIMITS, HttpProvider
from chatapp.providers.reader import StreamLimits
from chatapp.providers.whole_answers import MOST_MODELS, NAME_CAP
from tests.support.serving import Asked, Script, answer, cut, forever, raw, serving, silence

from .asking import KEY, endpoint, run
from .fake_wire import FakeWire


def listed(
    script: Script, limits: StreamLimits = LIST_LIMITS
) -> tuple[list[ModelSpec], Asked | None, ProviderError | None]:
    kept: list[Any] = [[], None, None]

    async def main() -> None:
        async with serving(script) as server:
            try:
                kept[0] = await HttpProvider(
                    endpoint(server.url), FakeWire(), list_limits=limits
                ).list_models()
            except ProviderError as error:
                kept[2] = error
            kept[1] = server.asked[0] if server.asked else None

    run(main)
    return kept[0], kept[1], kept[2]


def rows(*values: object) -> Script:
    return answer(200, json.dumps({"object": "list", "data": values}).encode())


def trouble_of(script: Script, limits: StreamLimits = LIST_LIMITS) -> Trouble | None:
    error = listed(script, limits)[2]
    assert error is not None
    assert error.sentence.startswith("Fake") or "Fake" in error.sentence
    return error.trouble


def test_models_come_in_the_order_of_the_provider():
    specs, asked, _ = listed(rows({"id": "b", "window": 8}, {"id": "a"}))
    assert [(spec.id, spec.window) for spec in specs] == [("fake:b", 8), ("fake:a", None)]
    assert asked and (asked.method, asked.target, asked.body) == ("GET", "/v1/models?limit=1000", b"")
    assert asked.headers["authorization"] == f"Bearer {KEY}"


def test_the_newest_come_first_where_the_provider_tells_their_age():
    specs, _, _ = listed(rows({"id": "old", "created": 1}, {"id": "new", "created": 9}, {"id": "untold"}))
    assert [spec.name for spec in specs] == ["new", "old", "untold"]


def test_what_cannot_talk_is_left_out():
    names = [
        "text-embedding-3-large",
        "gpt-5",
        "whisper-1",
        "tts-1",
        "gpt-image-2",
        "omni-moderation-latest",
        "ttsnow",
    ]
    specs, _, _ = listed(rows(*({"id": name} for name in names)))
    assert [spec.name for spec in specs] == ["gpt-5", "ttsnow"]


def test_rows_without_a_usable_name_are_left_out():
    odd = [
        None,
        7,
        [],
        {},
        {"id": None},
        {"id": 3},
        {"id": ""},
        {"id": "a\x00b"},
        {"id": "x" * (NAME_CAP + 1)},
    ]
    assert [spec.name for spec in listed(rows(*odd, {"id": "ok"}))[0]] == ["ok"]


def test_a_name_counts_once():
    assert [spec.window for spec in listed(rows({"id": "a", "window": 1}, {"id": "a", "window": 2}))[0]] == [
        1
    ]


def test_a_list_has_a_limit():
    assert len(listed(rows(*({"id": f"m{n}"} for n in range(MOST_MODELS + 5))))[0]) == MOST_MODELS


def test_an_empty_list_is_a_list():
    assert listed(rows())[0::2] == ([], None)


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b'{"data": {}}', b'{"models": []}', b"<html>", b'{"data": [NaN]}', b"[" * 9999],
)
def test_another_shape_is_garbage(body: bytes):
    assert trouble_of(answer(200, body)) is Trouble.GARBAGE


@pytest.mark.parametrize(
    ("status", "trouble"),
    [(401, Trouble.KEY), (404, Trouble.NOT_FOUND), (500, Trouble.BROKEN), (302, Trouble.UNREACHABLE)],
)
def test_a_refusal_is_told(status: int, trouble: Trouble):
    assert trouble_of(answer(status, b"no")) is trouble


def test_a_list_that_breaks_off_is_broken():
    assert trouble_of(cut) is Trouble.BROKEN
    assert trouble_of(raw(b'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"data": [')) is Trouble.BROKEN


def test_a_silent_provider_is_given_up():
    assert trouble_of(silence, replace(LIST_LIMITS, silence=0.05)) is Trouble.SILENT


def test_a_provider_that_never_comes_to_an_end_is_given_up():
    assert trouble_of(forever(b" "), replace(LIST_LIMITS, total=0.1)) is Trouble.SILENT


def test_a_list_without_bounds_is_too_large():
    assert trouble_of(forever(b" " * 1000), replace(LIST_LIMITS, answer=50_000)) is Trouble.TOO_LARGE
