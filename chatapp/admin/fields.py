"""What forms of servers and of providers ask of addresses and of names of keys."""

from __future__ import annotations

from django import forms

from ..environment import KEY_NAME, is_web_address


def web_address(text: str) -> str:
    if not (is_web_address(text) and text.isascii()):
        raise forms.ValidationError(
            "It must begin with https:// or http:// and a host, and hold no password, no '?' and no '#'."
        )
    return text


def key_name(text: str) -> str:
    """Empty where no key is needed."""
    if text and not KEY_NAME.fullmatch(text):
        raise forms.ValidationError("Such a name has capital letters and ends with _API_KEY.")
    return text
