"""Log lines tell what happened, and never a key."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import subprocess
import sys
from uuid import UUID

import pytest

from chatapp.config.logs import JsonFormatter, TextFormatter

CANARY = 'sk-canary"\\0123456789'


def record(message, *args, name="chatapp.turns", exc_info=None, **extra):
    made = logging.makeLogRecord(
        {
            "name": name,
            "module": "a_module",
            "lineno": 7,
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
    assert line.count("[secret]") == 2


def test_a_word_too_short_for_a_key_is_left_alone():
    assert "none" in TextFormatter(["none", ""]).format(record("none of it"))


TOKEN = "hU3-canary_8k2mZxQ7pLrTn5vB1dYwEo9sGfJc4iAuR6"


@pytest.mark.parametrize("formatter", [TextFormatter, JsonFormatter])
@pytest.mark.parametrize(
    "path",
    [
        "/s/{}/",
        "/s/{}/fork/",
        "/s/{}",
        "/accounts/reset/MQ/{}/",
        "/accounts/reset/MQ/{}",
        "/accounts/once/MQ/{}/",
    ],
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
    assert told["trace"].endswith("\nRuntimeError")


def test_text_lines_show_the_facts_after_the_sentence():
    assert (
        TextFormatter([])
        .format(record("request", status=200))
        .endswith("INFO chatapp.turns: request status=200")
    )


WORDS = "a question of somebody"


def broken():
    """An exception that tells words, and so do the one that it came from and those inside of it."""
    try:
        try:
            int(WORDS)
        except ValueError as error:
            raise ExceptionGroup(
                WORDS, [KeyError(WORDS), OSError(28, "No space left on device", WORDS)]
            ) from error
    except ExceptionGroup:
        return sys.exc_info()


@pytest.mark.parametrize("formatter", [TextFormatter, JsonFormatter])
@pytest.mark.parametrize("name", ["chatapp.turns", "django.request"])
def test_of_an_exception_is_told_what_it_is_and_where_and_not_what_it_says(formatter, name):
    line = formatter([]).format(record("It broke", name=name, exc_info=broken()))
    assert WORDS not in line
    for kind in (
        "ValueError",
        "KeyError",
        "ExceptionGroup",
        "OSError (No space left on device)",
        "in broken",
    ):
        assert kind in line


def test_of_an_exception_of_the_database_its_code_is_told():
    try:
        sqlite3.connect(":memory:").execute("SELECT words FROM nowhere")
    except sqlite3.OperationalError:
        told = TextFormatter([]).format(record("It broke", exc_info=sys.exc_info()))
    assert told.endswith("sqlite3.OperationalError (SQLITE_ERROR)")


@pytest.mark.parametrize("formatter", [TextFormatter, JsonFormatter])
@pytest.mark.parametrize(
    ("message", "args", "told"),
    [
        ("(%.3f) %s; args=%s", (0.1, WORDS, (WORDS,)), "(…) …; args=… (a_module:7)"),
        ("%(method)s %(path)-20s", ({"method": "GET", "path": WORDS},), "… … (a_module:7)"),
        ("Exception while resolving %r: 100%%", (WORDS,), "Exception while resolving …: 100%% (a_module:7)"),
        (f"Task <Task exception=ValueError('{WORDS}')>", (), "(a_module:7)"),
        (ValueError(WORDS), (), "(a_module:7)"),
        ("%s %s", (WORDS,), "… … (a_module:7)"),
    ],
)
def test_of_a_line_of_another_package_only_what_stands_in_its_code_is_written(formatter, message, args, told):
    line = formatter([]).format(record(message, *args, name="django.db.backends", sql=WORDS, params=WORDS))
    assert WORDS not in line
    assert told in (json.loads(line)["message"] if formatter is JsonFormatter else line)


def test_a_package_whose_name_begins_like_ours_is_another():
    assert WORDS not in TextFormatter([]).format(record(WORDS, name="chatapples"))


@pytest.mark.parametrize("level", ["DEBUG", "INFO", "WARNING", "ERROR"])
def test_only_our_own_lines_may_be_chattier_than_warnings(level):
    ended = subprocess.run(
        [sys.executable, "-c", LEVELS],
        env=os.environ | {"LOG_LEVEL": level.lower(), "DJANGO_SETTINGS_MODULE": "chatapp.settings"},
        capture_output=True,
        text=True,
        check=True,
    )
    loudest = max(level, "WARNING", key=logging.getLevelName)
    assert ended.stdout.split() == [level, loudest, loudest, loudest, "False"]


LEVELS = """
import django, logging
django.setup()
names = ("chatapp.turns", "django.template", "django.db.backends", "unknown.package")
print(*(logging.getLevelName(logging.getLogger(name).getEffectiveLevel()) for name in names))
print(any(logging.getLogger(name).handlers for name in ("django", "django.server", "chatapp")))
"""
