"""Log lines tell what happened, and never a key."""

from __future__ import annotations

import json
import logging
import sys
from uuid import UUID

import pytest

from chatapp.logs import JsonFormatter, TextFormatter

CANARY = 'sk-canary"\\0123456789'


def record(message, *args, exc_info=None, **extra):
    made = logging.makeLogRecord(
        {
            "name": "chatapp.turns",
            "levelname": "INFO",
            "levelno": 20,
            "msg": message,
            "args": args,
            "exc_info": exc_info,
        }
    )
    vars(made).update(extra)
    return made


def failure():
    try:
        raise RuntimeError(f"refused {CANARY}")
    except RuntimeError:
        return sys.exc_info()


@pytest.mark.parametrize("formatter", [TextFormatter, JsonFormatter])
def test_a_key_is_replaced_wherever_it_comes_from(formatter):
    line = formatter([CANARY]).format(
        record("with %s", CANARY, exc_info=failure(), header=f"Bearer {CANARY}")
    )
    assert "sk-canary" not in line
    assert line.count("[secret]") == 3


def test_a_word_too_short_for_a_key_is_left_alone():
    assert "none" in TextFormatter(["none", ""]).format(record("none of it"))


TOKEN = "hU3-canary_8k2mZxQ7pLrTn5vB1dYwEo9sGfJc4iAuR6"


@pytest.mark.parametrize("formatter", [TextFormatter, JsonFormatter])
@pytest.mark.parametrize(
    "path", ["/s/{}/", "/s/{}/fork/", "/s/{}", "/accounts/reset/MQ/{}/", "/accounts/reset/MQ/{}"]
)
def test_a_token_in_an_address_is_in_no_line_whoever_writes_it(formatter, path):
    address = path.format(TOKEN)
    said = record('Forbidden: "%s"', address, next=f"https://chat.example.org{address}?from=2")
    line = formatter([]).format(said)
    assert "canary" not in line and line.count("/[secret]/") == 2 and "?from=2" in line
    assert formatter is TextFormatter or json.loads(line)["message"].endswith('[secret]/"')


def test_other_addresses_and_files_are_written_as_they_are():
    said = 'File "/home/s/thing.py" asked /static/s/a.css, /c/00000000-0000-0000-0000-000000000007/'
    assert said in TextFormatter([]).format(record(said))


def test_json_lines_hold_the_facts_as_they_are():
    turn = UUID(int=7)
    line = JsonFormatter([]).format(record("turn %s", "began", turn=turn, attempt=2, request=object()))
    told = json.loads(line)
    assert (told["message"], told["turn"], told["attempt"]) == ("turn began", str(turn), 2)
    assert (told["level"], told["logger"]) == ("info", "chatapp.turns")
    assert "request" not in told
    assert "\n" not in line


def test_json_lines_keep_the_trace_of_a_failure():
    told = json.loads(JsonFormatter([]).format(record("it broke", exc_info=failure())))
    assert "RuntimeError: refused" in told["trace"]


def test_text_lines_show_the_facts_after_the_sentence():
    assert (
        TextFormatter([])
        .format(record("request", status=200))
        .endswith("INFO chatapp.turns: request status=200")
    )
