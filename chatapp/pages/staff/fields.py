"""What forms of servers and of providers ask of addresses and of names of keys."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlsplit

from django import forms
from django.apps import apps
from django.db import models
from django.http import QueryDict

from ...config.environment import KEY_NAME, is_web_address


def web_address(text: str) -> str:
    if not (is_web_address(text) and text.isascii()):
        raise forms.ValidationError(
            "It must begin with https:// or http:// and a host, and hold no password, no '?' and no '#'."
        )
    return text


def is_key_of_another(variable: str, besides: type[models.Model]) -> bool:
    """Whether a row of another kind names it: what a key opens goes to nobody else. Whatever has a key names its variable so."""
    kinds = (kind for kind in apps.get_app_config("chatapp").get_models() if kind is not besides)
    holders = (
        kind for kind in kinds if any(field.name == "key_variable" for field in kind._meta.get_fields())
    )
    return any(kind._default_manager.filter(key_variable=variable).exists() for kind in holders)


def key_name(text: str) -> str:
    """Empty where no key is needed."""
    if text and not KEY_NAME.fullmatch(text):
        raise forms.ValidationError("Such a name has capital letters and ends with _API_KEY.")
    return text


PORTS = {"http": 80, "https": 443}


class KeyedForm(forms.ModelForm):
    """Of a server with a key, whose address is in the field `ADDRESS`. A key goes nowhere by a change of the address alone: for another
    scheme, host or port its variable is asked for anew, and `key_for` is the one that it was asked for."""

    ADDRESS = ""
    key_for = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        there, was = server_of(data.get(self.ADDRESS) or ""), server_of(getattr(self.instance, self.ADDRESS))
        name = data.get("key_variable")
        moved = self.instance.pk and there and there != was and name == self.instance.key_variable
        if name and moved and data.get("key_for") != there:
            again = cast(QueryDict, self.data).copy()
            again.update({"key_variable": "", "key_for": there})
            self.data = again
            self.add_error(
                "key_variable",
                f"The address leads to {there} now. Name the variable of the key that may go there.",
            )
        return data


def server_of(url: str) -> str:
    """Scheme, host and port of an address that was checked; "" of none."""
    parts = urlsplit(url)
    return (
        f"{parts.scheme}://{parts.hostname}:{parts.port or PORTS.get(parts.scheme, '')}"
        if parts.hostname
        else ""
    )
