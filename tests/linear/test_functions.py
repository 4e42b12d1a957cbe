"""Whatever text from outside goes through in the server's own process takes time in proportion to its length."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from django.core.exceptions import ValidationError

from chatapp.providers.base import ProviderError
from chatapp.tools.base import ToolError

from .found import readers, takes_text_alone, texts
from .growth import too_steep
from .roads import NOT_ASKED, NOT_WALKED, ROADS, fields
from .shapes import each_pump_once

# How what is no good is refused.
REFUSED = (ValueError, ToolError, ProviderError, ValidationError, LookupError)


def test_every_reader_of_text_is_measured_or_says_why_not():
    """A new function that takes text and nothing else is measured by itself; any other is put on a road, or a reason is given."""
    walked = {name: function for name, function in readers().items() if not name.startswith(NOT_WALKED)}
    unknown = {name for name, function in walked.items() if not takes_text_alone(function)}
    assert unknown - ROADS.keys() - NOT_ASKED == set()
    assert readers().keys() >= NOT_ASKED
    assert {name for name in ROADS if "." in name} <= readers().keys()


def test_no_function_takes_more_time_than_its_text_is_long():
    assert steep({**dict(alone()), **ROADS}) == {}


def test_no_field_of_a_form_takes_more_time_than_what_was_written_into_it():
    assert steep(dict(fields())) == {}


def alone():
    """What takes texts and nothing else, with a shape in each of their places."""
    for name, function in readers().items():
        if name in ROADS or name in NOT_ASKED or name.startswith(NOT_WALKED):
            continue
        for place in texts(function):
            yield f"{name}: {place.name}", partial(_called, function, place)


def _called(function, place, text):
    """The others are short. What is not required is left out, unless it is asked about."""
    given = {each.name: each for each in texts(function) if each.default is each.empty or each is place}
    values = {name: _as_wanted(each, text if name == place.name else "a") for name, each in given.items()}
    return function(**values)


def _as_wanted(parameter, text):
    return text.encode() if "bytes" in parameter.annotation else text


def steep(works):
    """The first shape that is too much for each."""
    found = {}
    for name, work in works.items():
        for what, shape in each_pump_once():
            if told := too_steep(partial(_tried, work), shape):
                found[name] = what, told
                break
    return found


def _tried(work, text):
    with suppress(*REFUSED):
        work(text)
