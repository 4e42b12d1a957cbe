"""Reads what a composer sent: a question, and how it is to be answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from asgiref.sync import async_to_sync
from django import forms
from django.contrib.auth.models import User
from django.http import QueryDict

from ..catalog.page.models_shown import find_model
from ..core.items import clean
from ..pages.models import Preference
from ..pages.preferences import preference_of
from ..providers.configured import UnknownModel
from ..turns.engine import engine

INSTRUCTIONS_CAP = 32 * 1024
TOO_OLD = {"invalid": "The page was too old. Reload it and send again."}
# Only the demo knows the answer.
ABOUT_US, WHO_KNOWS = "What can Thoughtline do?", "demo:thinker"


class Words(forms.CharField):
    """Any text at all, with the line breaks that a text box shows."""

    def __init__(self, **more: Any) -> None:
        super().__init__(strip=False, required=False, **more)

    def to_python(self, value: Any) -> str:
        return clean(super().to_python(value) or "").replace("\r\n", "\n").replace("\r", "\n")


class Instructions(Words):
    widget = forms.Textarea(attrs={"class": "input", "rows": 4})

    def validate(self, value: str) -> None:
        if len(value.encode()) > INSTRUCTIONS_CAP:
            raise forms.ValidationError("The instructions are too long: at most 32 kB.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """What is asked for. `key` names the form, so that sending it twice asks once. `instructions`, `tools`: None where nobody chose."""

    text: str
    model: str
    effort: str
    parent: UUID | None
    next: UUID | None
    instead: str
    key: UUID
    instructions: str | None
    tools: list[str] | None


class Unchanged(dict[str, forms.Field]):
    """Fields that no form changes: to copy them for each would take as long as to read what was sent."""

    def __deepcopy__(self, _: Any) -> Unchanged:
        return self


class AskForm(forms.Form):
    """`example` is a question of ours that was clicked; it counts before what stands in the box. `next`: the answer for which a question
    waits, which is asked together with what stands in the box, or alone. `instead`: the edition of it that stands in the box itself."""

    text = Words()
    example = Words()
    model = forms.CharField(required=False)
    effort = forms.CharField(required=False)
    parent = forms.UUIDField(required=False, error_messages=TOO_OLD)
    next = forms.UUIDField(required=False, error_messages=TOO_OLD)
    instead = forms.CharField(required=False)
    key = forms.UUIDField(required=False, error_messages=TOO_OLD)
    instructions = Instructions()

    def __init__(self, data: Mapping[str, Any], person: User) -> None:
        super().__init__(data)
        self._person = person

    @property
    def sentence(self) -> str:
        """The first thing that is wrong."""
        return next((str(errors[0]) for errors in self.errors.values()), "")

    @property
    def chosen_tools(self) -> list[str] | None:
        """Names, where the form has the switches; any that were sent."""
        data = self.data
        return data.getlist("tools") if isinstance(data, QueryDict) and "choose_tools" in data else None

    @property
    def question(self) -> AskedQuestion:
        """Of a form that is valid."""
        said = self.cleaned_data
        return AskedQuestion(
            text=said["example"] or said["text"],
            model=said["model"],
            effort=said["effort"],
            parent=said["parent"],
            next=said["next"],
            instead=said["instead"],
            key=said["key"] or uuid4(),
            instructions=said["instructions"],
            tools=self.chosen_tools,
        )

    def clean_model(self) -> str:
        name: str = self.cleaned_data["model"] or usual_model(preference_of(self._person))
        if self.cleaned_data.get("example") == ABOUT_US:
            name = WHO_KNOWS
        try:
            return engine().catalog.offered(name)[1].id
        except UnknownModel as error:
            raise forms.ValidationError(str(error)) from error

    def clean_effort(self) -> str:
        """An effort that the model does not know was meant for another one."""
        spec = find_model(engine().catalog, self.cleaned_data.get("model", ""))
        effort: str = self.cleaned_data["effort"]
        return effort if spec and effort in spec.efforts else ""

    def clean_instructions(self) -> str | None:
        words: str = self.cleaned_data["instructions"]
        return words if "instructions" in self.data else None

    def clean(self) -> None:
        said = self.cleaned_data
        if not (said.get("example") or said.get("text", "")).strip() and not said.get("next"):
            self.add_error("text", "Write a question first.")


AskForm.base_fields = Unchanged(AskForm.base_fields)


def usual_model(preference: Preference) -> str:
    """What is asked when nobody chose for this conversation."""
    if find_model(engine().catalog, preference.default_model):
        return preference.default_model
    return async_to_sync(engine().default_model)(soon=True)
