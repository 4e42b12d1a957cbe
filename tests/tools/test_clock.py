"""The time, as the clocks of a zone show it."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime
from zoneinfo import available_timezones

import pytest

from chatapp.core.items import Outcome
from chatapp.tools import TOOLS, ToolError, ToolOutput
from chatapp.tools.clock import in_zone

NOON = datetime(2026, 7, 1, 12, 0, 5, 999_999, tzinfo=UTC)
WINTER = datetime(2026, 12, 31, 23, 30, tzinfo=UTC)

knows_zones = pytest.mark.skipif(
    "Europe/Berlin" not in available_timezones(), reason="this machine has no time zones: install tzdata"
)


def ask(**arguments: object) -> ToolOutput:
    return asyncio.run(TOOLS["clock"].run(json.dumps(arguments)))


def test_utc_needs_no_list_of_zones():
    assert in_zone(NOON, "UTC") == "Wednesday, 2026-07-01 12:00:05+00:00 (UTC)"


@knows_zones
@pytest.mark.parametrize(
    ("moment", "zone", "words"),
    [
        (NOON, "Europe/Berlin", "Wednesday, 2026-07-01 14:00:05+02:00 (Europe/Berlin)"),
        (WINTER, "Europe/Berlin", "Friday, 2027-01-01 00:30:00+01:00 (Europe/Berlin)"),
        (WINTER, "America/New_York", "Thursday, 2026-12-31 18:30:00-05:00 (America/New_York)"),
        (NOON, "Asia/Kolkata", "Wednesday, 2026-07-01 17:30:05+05:30 (Asia/Kolkata)"),
    ],
)
def test_a_zone_shows_its_own_day_and_time(moment: datetime, zone: str, words: str):
    assert in_zone(moment, zone) == words


def test_without_a_zone_it_is_utc_and_now():
    output = ask()
    assert output.outcome is Outcome.DONE
    shown = re.fullmatch(r"\w+, (\S+ \S+) \(UTC\)", output.text)
    assert shown and abs((datetime.fromisoformat(shown[1]) - datetime.now(UTC)).total_seconds()) < 60


@pytest.mark.parametrize(
    "zone",
    [
        "",
        " ",
        "Mars/Base",
        "../../../etc/passwd",
        "/etc/localtime",
        "Europe",
        "zone.tab",
        "Europe/Berlin\x00",
        "é",
        ".",
    ],
)
def test_an_unknown_zone_is_said_to_be_unknown(zone: str):
    output = ask(zone=zone)
    assert output.outcome is Outcome.FAILED
    assert output.text.startswith("There is no time zone ")


@knows_zones
@pytest.mark.parametrize(
    ("zone", "meant"),
    [("berlin", "Europe/Berlin"), ("new york", "America/New_York"), ("America/Berlin", "Europe/Berlin")],
)
def test_a_city_gets_its_zone_suggested(zone: str, meant: str):
    with pytest.raises(ToolError, match=rf"Perhaps {meant}\?$"):
        in_zone(NOON, zone)


@pytest.mark.parametrize("zone", [None, 5, ["UTC"], "x" * 101])
def test_a_zone_of_another_type_does_not_fit(zone: object):
    output = ask(zone=zone)
    assert output.outcome is Outcome.FAILED and "do not fit" in output.text
