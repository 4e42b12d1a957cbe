"""How much of a conversation goes out, and as what."""

from __future__ import annotations

from enum import StrEnum

from django import forms

from ..branches.store.forking import Extent


class Format(StrEnum):
    MARKDOWN = "markdown"
    JSON = "json"
    ASSISTANT_UI = "assistant-ui"


class ExportForm(forms.Form):
    """What stands in an address: what it leaves out is what the dialog has first."""

    format = forms.ChoiceField(choices=[(each, each) for each in Format])
    extent = forms.ChoiceField(choices=[(each, each) for each in Extent], required=False)
    # Without scripts an unchecked box says nothing, so `choose` says that somebody chose.
    thoughts = forms.BooleanField(required=False)
    tools = forms.BooleanField(required=False)
    choose = forms.BooleanField(required=False)

    @property
    def extent_chosen(self) -> Extent:
        return Extent(self.cleaned_data["extent"] or Extent.EVERYTHING)

    @property
    def with_thoughts(self) -> bool:
        return self.cleaned_data["thoughts"] or not self.cleaned_data["choose"]
