"""What staff may say of a server and its tools."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings

from ..pages.staff.fields import KeyedForm, is_key_of_another, key_name, web_address
from .models import McpServer, McpTool
from .part import mcp


class ServerForm(KeyedForm):
    """A command has only its switch: it was written into a file by whoever runs this machine, and stays there."""

    ADDRESS = "url"

    class Meta:
        model = McpServer
        fields = ("name", "url", "key_variable", "private_network", "is_on")
        labels = {
            "url": "URL",
            "key_variable": "Key variable",
            "is_on": "On",
            "private_network": "In a private network",
        }
        help_texts = {
            "name": "Its tools are called name.tool. Small letters, digits and hyphens.",
            "url": "Where it speaks MCP over streamable HTTP, like https://docs.example.org/mcp.",
            "key_variable": "The variable of the environment that holds its key, like DOCS_API_KEY; empty if it needs none.",
            "private_network": "It may be on this machine or in this network. Otherwise such addresses are refused.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "url" in self.fields:
            self.fields["url"].required = True

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if mcp().is_command(name):
            raise forms.ValidationError("A command of MCP_SERVERS_FILE has this name.")
        return name

    def clean_url(self) -> str:
        return web_address(str(self.cleaned_data["url"]))

    def clean_key_variable(self) -> str:
        name = key_name(str(self.cleaned_data["key_variable"]))
        if name in settings.PROVIDER_KEYS or (name and is_key_of_another(name, McpServer)):
            raise forms.ValidationError(
                "This is the key of a provider of models, which no other server gets."
            )
        return name

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        open_way = urlsplit(data.get("url") or "").scheme == "http"
        if open_way and data.get("key_variable") and not data.get("private_network"):
            self.add_error("url", "A key goes only over https, unless the server is in a private network.")
        return data


class ToolForm(forms.ModelForm):
    """`seen` is the tool that was looked at when it was marked: of another one nothing is said."""

    seen = forms.CharField(widget=forms.HiddenInput, max_length=64)

    class Meta:
        model = McpTool
        fields = ("safe", "idempotent", "is_on", "in_new_conversations")
        labels = {"is_on": "On", "in_new_conversations": "In new conversations"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        tool = self.instance
        self.initial["seen"] = tool.fingerprint
        if tool.judged != tool.fingerprint:
            self.initial.update(safe=False, idempotent=False)

    def has_changed(self) -> bool:
        return any(name != "seen" for name in self.changed_data)
