"""A form becomes a turn: refused in words where it cannot, and the same turn for the same form."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

from ...pages.signed_in import SignedIn, just_proved
from ...providers.configured import UnknownModel
from ...store import Refused, SentAlready, Started
from ...turns.engine import engine
from ...turns.notices import known
from ..forms import AskedQuestion, AskForm

S = TypeVar("S", bound=Started | None)
OTHER_WORDS = "This form was sent before, with other words. Look at what came of it, then send again."


def question_of(form: AskForm) -> AskedQuestion:
    if not form.is_valid():
        raise Refused(form.sentence)
    return form.question


def once(request: SignedIn, write: Callable[..., S], *args: Any, **asked: Any) -> S | Started:
    proved = just_proved(request)
    try:
        with known(*proved) if proved else nullcontext():
            return engine().asked_by_page(write, *args, **asked)
    except SentAlready as error:
        if error.started is None:
            raise Refused(OTHER_WORDS) from error
        return error.started
    except UnknownModel as error:
        raise Refused(str(error)) from error
