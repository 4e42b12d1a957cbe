"""Schemas of others: whether they are schemas, and whether arguments fit them, in bounded time.

Patterns are not looked at: a regular expression can take for ever, and the server looks at them itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

# Of this thread's own work: on a busy machine nothing is more complicated.
SECONDS = 2.0
MOST_WORDS = 5
SENTENCE = 200
# Each of them asks what the patterns found, or compares everything with everything.
_NOT_ASKED = ("pattern", "patternProperties", "uniqueItems", "unevaluatedProperties", "unevaluatedItems")


class CheckTooLong(Exception):
    """A check did not end in time."""


Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


def schema_problem(schema: Mapping[str, Any]) -> str:
    """Why this is no schema to use, or nothing."""
    try:
        Draft202012Validator.check_schema(schema)
        argument_problems(schema, {})
    except SchemaError:
        return "its schema is not valid"
    except Unresolvable:
        return "its schema refers to what is not in it"
    except (CheckTooLong, RecursionError):
        return "its schema is too complicated"
    except Exception as error:
        return f"its schema cannot be used ({type(error).__name__})"
    return ""


def argument_problems(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    """The first few, in words."""
    validator = _validator(time.thread_time() + SECONDS)(schema, registry=Registry())
    return [_wrong_in_words(error) for error in islice(validator.iter_errors(arguments), MOST_WORDS)]


def _wrong_in_words(error: ValidationError) -> str:
    place = ".".join(map(str, error.absolute_path))
    message = error.message if len(error.message) <= SENTENCE else f"{error.message[:SENTENCE]}…"
    return f"{place}: {message}" if place else message


def _validator(deadline: float) -> Any:
    keywords = {
        name: _timed(keyword, deadline)
        for name, keyword in Draft202012Validator.VALIDATORS.items()
        if name not in _NOT_ASKED
    }
    keywords |= dict.fromkeys(_NOT_ASKED, _unasked)
    keywords["additionalProperties"] = _timed(_additional, deadline)
    return extend(Draft202012Validator, keywords)


def _unasked(validator: Any, value: Any, instance: Any, schema: Any) -> None:
    return None


def _additional(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
    if "patternProperties" in schema:
        return None
    found: Iterator[ValidationError] | None = Draft202012Validator.VALIDATORS["additionalProperties"](
        validator, value, instance, schema
    )
    return found


def _timed(keyword: Keyword, deadline: float) -> Keyword:
    def timed(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
        if time.thread_time() > deadline:
            raise CheckTooLong
        return keyword(validator, value, instance, schema)

    return timed
