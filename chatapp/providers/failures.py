"""Turns what the network does to a request into one sentence that a person can act on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpcore
import httpx

from ..net.dial import NotAllowed, NotFound, NotReached, NotSecure
from .base import Endpoint, ProviderError, Trouble
from .refusals import trouble_error

# Shorter ones (a local server's "none") would tear holes into ordinary words.
SHORTEST_KEY = 6

FAILURES = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpx.HTTPError,
    NotReached,
)


@contextmanager
def failing_in_words(endpoint: Endpoint) -> Iterator[None]:
    """Nothing but a ProviderError leaves, and the key is in none of its words."""
    try:
        yield
    except FAILURES as failure:
        raise _failed(endpoint.who, failure) from None
    except ProviderError as error:
        hide_key(endpoint.key, error)
        raise


def hide_key(key: str, error: ProviderError) -> None:
    """Some servers repeat the key that they refuse."""
    if len(key) >= SHORTEST_KEY:
        error.raw, error.sentence = error.raw.replace(key, "…"), error.sentence.replace(key, "…")


def _failed(label: str, failure: Exception) -> ProviderError:
    match failure:
        case httpcore.ReadTimeout() | httpcore.WriteTimeout():
            return trouble_error(Trouble.SILENT, label)
        case NotSecure():
            sentence = f"{label} could not be reached safely: its certificate or encryption was not accepted."
            return ProviderError(Trouble.UNREACHABLE, sentence, str(failure))
        case NotAllowed():
            sentence = f"{label} is not in the public web, and it was not allowed to be in a private network."
            return ProviderError(Trouble.UNREACHABLE, sentence, str(failure))
        case NotFound() | httpcore.ConnectError() | httpcore.ConnectTimeout():
            return trouble_error(Trouble.UNREACHABLE, label, str(failure), again=True)
        case _:
            sentence = f"The connection to {label} broke. Try again."
            return ProviderError(Trouble.BROKEN, sentence, str(failure), again=True)
