"""What staff may say of a provider."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings

from ...core.signs.lookalikes import outline
from ...core.signs.visible import hides
from ...net.addresses import is_public
from ...pages.staff.fields import KeyedForm, is_key_of_another, key_name, web_address
from ...tools import ToolError
from ...tools.page.checked_url import checked_url, host_of, is_literal
from ...turns.engine import engine
from ..models import ModelProvider

NOT_PUBLIC = (
    "This does not lead to the public web. Where it is meant to be on this machine or in this network, "
    "tick “In a private network”."
)


class ProviderForm(KeyedForm):
    ADDRESS = "base_url"

    class Meta:
        model = ModelProvider
        fields = ("name", "label", "dialect", "base_url", "key_variable", "private_network", "is_on")
        labels = {
            "dialect": "Protocol",
            "base_url": "Base URL",
            "key_variable": "Key variable",
            "private_network": "In a private network",
            "is_on": "On",
        }
        help_texts = {
            "name": "Its models are called name:model. Small letters, digits and hyphens. It stays: thoughts go back to whoever "
            "has this name, so another provider gets another name.",
            "label": "What people read; the name where it is empty.",
            "base_url": "What its own client would be given, like https://api.example.org/v1. For Anthropic Messages without /v1.",
            "key_variable": "The variable of the environment that holds its key, like ACME_API_KEY; empty if it needs none. "
            "The key itself is never stored here.",
            "private_network": "It may be on this machine or in this network. Otherwise such addresses are refused.",
            "is_on": "Switched off, its models cannot be asked; answers that are being written go on to their end.",
        }

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if name in settings.PROVIDER_NAMES:
            raise forms.ValidationError("This name is kept for a provider of the environment.")
        return name

    def clean_label(self) -> str:
        return plain_label(self.cleaned_data["label"])

    def clean_base_url(self) -> str:
        return web_address(str(self.cleaned_data["base_url"]).rstrip("/"))

    def clean_key_variable(self) -> str:
        name = key_name(str(self.cleaned_data["key_variable"]))
        if name in settings.PROVIDER_KEYS:
            raise forms.ValidationError(
                "This is the key of a provider of the environment, and goes to nobody else."
            )
        if name and is_key_of_another(name, ModelProvider):
            raise forms.ValidationError("This is the key of a server of tools, and goes to nobody else.")
        return name

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        own = data.get("name") or self.instance.name
        if own and _is_taken(data.get("label") or own, own=own):
            self.add_error("label", "Another provider is called so, or looks as if it were.")
        url = data.get("base_url") or ""
        if data.get("key_variable") and _is_of_another(data["key_variable"], _host_in(url), own):
            self.add_error("key_variable", "This is the key of another provider, and goes to nobody else.")
        if url and not data.get("private_network"):
            if not _may_be_public(url):
                self.add_error("base_url", NOT_PUBLIC)
            elif data.get("key_variable") and urlsplit(url).scheme == "http":
                self.add_error(
                    "base_url", "A key goes only over https, unless the provider is in a private network."
                )
        return data


def plain_label(text: str) -> str:
    if hides(text):
        raise forms.ValidationError("It holds signs that nobody sees.")
    return text.strip()


def _is_taken(label: str, *, own: str) -> bool:
    catalog = engine().catalog
    others = (catalog.provider(name).endpoint for name in catalog.names if name != own)
    return outline(label) in {outline(other.who) for other in others}


def _is_of_another(key: str, host: str, own: str) -> bool:
    """One server may speak several protocols, each with a provider of its own."""
    rows = ModelProvider.objects.filter(key_variable=key).exclude(name=own)
    return any(_host_in(url) != host for url in rows.values_list("base_url", flat=True))


def _host_in(url: str) -> str:
    return urlsplit(url).netloc.lower()


def _may_be_public(url: str) -> bool:
    """As it is written; where its name leads is looked at with each connection."""
    try:
        host = host_of(checked_url(url))
    except ToolError:
        return False
    return is_public(host) if is_literal(host) else True
