"""What the composer shows: which models and efforts can be chosen, whom the question follows, and Send or Stop."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.urls import reverse

from ...catalog.page import models_shown
from ...catalog.page.models_shown import EFFORTS, ProviderGroup
from ...pages.models import Preference
from ...pages.preferences import recent_models
from ...pages.stencils import Stencil
from ...providers.base import ModelSpec
from ...providers.configured import Listing
from ...store.models import LIVE, Conversation, Message
from ...turns.engine import engine
from ..forms import AskForm, usual_model

_ASKING, _SEND = Stencil("conversations/asking/_asking.html"), Stencil("conversations/asking/_send.html")


@dataclass(frozen=True, slots=True, kw_only=True)
class Composer:
    """`parent` is the answer that is followed, "" for a first question. `answering`: the answer that is being written.
    `lost` is the model of the last answer where it cannot be asked any more. `asks`, `adds`: what stands in the empty box below an answer,
    and where a question waits already."""

    action: str
    draft: str
    parent: str
    key: str
    groups: tuple[ProviderGroup, ...]
    model: str
    efforts: tuple[tuple[str, str], ...]
    effort: str
    usual_effort: str
    enter_sends: bool
    answering: UUID | None = None
    lost: str = ""
    text: str = ""
    refused: str = ""
    words: str = json.dumps(EFFORTS)
    asks: str = "Ask on, or change direction"
    adds: str = "Add to the waiting question"


def composer_for(
    user: User,
    preference: Preference,
    conversation: Conversation | None,
    last_answer: Message | None,
    listings: Sequence[Listing],
    *,
    form: AskForm | None = None,
    refused: str = "",
    model: str = "",
) -> Composer:
    """`form` was refused: what it says stands in the composer again. `model` was asked for by a link."""
    catalog = engine().catalog
    typed: Mapping[str, Any] = form.data if form else {}
    before = last_answer.model if last_answer else ""
    wanted = models_shown.usable_models(catalog, filter(None, (typed.get("model", ""), model, before)))
    usual = usual_model(preference)
    chosen = wanted[0] if wanted else catalog.find(usual)[1]
    recent = models_shown.usable_models(catalog, (usual, *recent_models(user)))
    effort = typed.get("effort", _effort(chosen, last_answer))
    return Composer(
        action=reverse("ask", args=[conversation.pk]) if conversation else reverse("ask_first"),
        draft=f"{user.pk}/{conversation.pk if conversation else 'new'}",
        parent=str(last_answer.pk) if last_answer else "",
        key=str(uuid4()),
        groups=models_shown.few_models(listings, (chosen, *recent)),
        model=chosen.id,
        efforts=models_shown.efforts(chosen),
        effort=effort if effort in chosen.efforts else "",
        usual_effort=chosen.effort,
        enter_sends=preference.enter_sends,
        answering=being_written(last_answer),
        lost=before if before and not models_shown.find_model(catalog, before) else "",
        text=typed.get("text", ""),
        refused=refused or (form.sentence if form else ""),
    )


def _effort(chosen: ModelSpec, last_answer: Message | None) -> str:
    """As it was, where the conversation goes on with its model or one that knows the word; else as staff propose it."""
    if last_answer and (last_answer.model == chosen.id or last_answer.effort in chosen.efforts):
        return last_answer.effort
    return chosen.effort


def render_asking(parent: UUID | str) -> str:
    """The hidden fields for the next question, with a key of their own."""
    return _ASKING.fill({"beside": False}, {"parent": parent, "key": uuid4()})


def being_written(answer: Message | None) -> UUID | None:
    """Its id, where it can be stopped."""
    return answer.pk if answer and answer.status in LIVE else None


def render_send(answer: UUID | None = None) -> str:
    """Send, or Stop where this answer is being written."""
    return _SEND.fill({}, {"answer": answer})


def render_refused(sentence: str, parent: UUID | str) -> str:
    """For a script: the sentence, and beside it fresh hidden fields, since the refused ones may be used up."""
    asking = {"parent": parent, "key": uuid4(), "beside": True}
    return render_to_string("conversations/asking/_refused.html", {"sentence": sentence, **asking})
