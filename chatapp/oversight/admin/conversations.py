"""Conversations, to be looked at: the list of them, and the ways into one."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ModelAdmin, register
from django.urls import path
from django.views.decorators.http import require_POST, require_safe

from ...pages.commands import View
from ...pages.staff.rights import ReadOnly
from ...pages.staff.site import site
from ...store.models import Conversation
from ..views.browsing import as_file, beside, browse
from ..views.finding import find
from ..views.stopping import stop
from ..views.transcript import transcript
from ..views.tree import compare, show_map


@register(Conversation, site=site)
class ConversationAdmin(ReadOnly, ModelAdmin):
    def get_urls(self) -> list[Any]:
        """These are all there are: a page of Django's would name a conversation by its title, and no look would be written down."""

        def seen(view: View) -> View:
            return self.admin_site.admin_view(require_safe(view))

        return [
            path("", seen(browse), name="chatapp_conversation_changelist"),
            path("file/", seen(as_file), name="conversations_file"),
            path("find/", seen(find), name="find"),
            path("beside/", seen(beside), name="beside"),
            path("compare/", seen(compare), name="compare"),
            path("<uuid:pk>/transcript/", seen(transcript), name="transcript"),
            path("<uuid:pk>/map/", seen(show_map), name="tree"),
            path("<uuid:pk>/stop/", self.admin_site.admin_view(require_POST(stop)), name="stop"),
        ]
