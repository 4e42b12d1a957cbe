"""Pages of administrators in the frame of the chat: in place of the list of conversations stand the places of administration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse

from ...core.signs.visible import Leave, visible

_PLACES = {
    "Administration": {
        "Today": "admin:today",
        "Conversations": "admin:chatapp_conversation_changelist",
        "Looks": "admin:chatapp_look_changelist",
    },
    "People": {
        "People": "admin:auth_user_changelist",
        "Limits": "admin:chatapp_dailylimit_changelist",
        "Gateway keys": "admin:chatapp_apikey_changelist",
    },
    "Models": {
        "Providers": "admin:chatapp_modelprovider_changelist",
        "Models": "admin:chatapp_knownmodel_changelist",
        "Tools": "admin:start_tools",
        "Reasoning cache": "reasoning_cache",
    },
}


@dataclass(frozen=True, slots=True)
class StaffPlace:
    name: str
    address: str
    is_here: bool


def framed(
    request: HttpRequest, template: str, here: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """`here`: the place among whose pages this one is. Words of others leave hidden signs to whoever owns them; here nothing may hide."""
    drawn = render_to_string(template, around(here) | dict(context), request)
    return HttpResponse(visible(drawn, Leave.PROSE), status=status)


def around(here: str) -> dict[str, Any]:
    """What the frame shows, for whoever draws the page otherwise."""
    return {"list_name": "Places", "staff_places": list(_places(here))}


def _places(here: str) -> Iterator[tuple[str, list[StaffPlace]]]:
    for heading, named in _PLACES.items():
        yield heading, [StaffPlace(name, reverse(view), name == here) for name, view in named.items()]
