"""Keys by the names of their variables, as rows hold them."""

from __future__ import annotations

from ..config.environment import Misconfigured
from ..settings import provider_key


def key_in(variable: str) -> str:
    """LookupError with a sentence where there is none; "" where none is needed."""
    if not variable:
        return ""
    try:
        key = provider_key(variable)
    except (ValueError, Misconfigured):
        raise LookupError(f"{variable} is not the name of a key, or no key is in it.") from None
    if not key:
        raise LookupError(f"{variable} is not set.")
    return key
