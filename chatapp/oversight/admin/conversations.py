"""Conversations, to be looked at: the list of them, and the ways into one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.admin import display, register
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.views.decorators.http import require_safe

from ...core.durations import in_short
from ...core.signs.visible import Leave, visible
from ...pages.commands import View
from ...pages.signed_in import SignedIn
from ...pages.staff.bounded import BoundedAdmin
from ...pages.staff.rights import ReadOnly, may_read
from ...pages.staff.site import site
from ...pages.words.days import zone_of
from ...pages.words.moments import day_and_time
from ...store.models import LIVE, Conversation, Status
from ..store import browsing
from ..views.finding import find
from ..views.transcript import transcript
from .filters import FILTERS, narrow_by_thinking

MOST_WORDS, MOST_OWNERS = 8, 500
CLOSED = "Titles and texts are closed to administrators (ADMIN_CAN_READ_CHATS is 0)."


@register(Conversation, site=site)
class ConversationAdmin(ReadOnly, BoundedAdmin):
    change_list_template = "admin/chatapp/conversation/list.html"
    list_display = (
        "conversation",
        "whose",
        "models",
        "messages",
        "last_activity",
        "state",
        "thinking",
        "review",
    )
    list_filter = FILTERS
    # Any name: it makes the field of the search appear, and `get_search_results` does the searching.
    search_fields = ("owner",)
    ordering = ("-updated_at", "-pk")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        rows = Conversation.objects.filter(deleted_at=None).defer("tools", "instructions")
        # Not joined: SQLite would begin with the people, and sort all that is theirs.
        return rows.prefetch_related("owner")

    def get_urls(self) -> list[Any]:
        def seen(view: View) -> View:
            return self.admin_site.admin_view(require_safe(view))

        return [
            path("", seen(self.changelist_view), name="chatapp_conversation_changelist"),
            path("find/", seen(self.find), name="find"),
            path("<uuid:pk>/transcript/", seen(self.transcript), name="transcript"),
        ]

    def find(self, request: SignedIn) -> HttpResponse:
        return find(request, self.admin_site.each_context(request))

    def transcript(self, request: SignedIn, pk: UUID) -> HttpResponse:
        return transcript(request, pk, self.admin_site.each_context(request))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"closed": "" if may_read() else CLOSED})

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        for word in visible(search_term, Leave.PROSE).split()[:MOST_WORDS]:
            queryset = queryset.filter(_has(word))
        return narrow_by_thinking(request, queryset), False

    def with_figures(self, request: HttpRequest, rows: list[Any]) -> list[Any]:
        figures, zone = browsing.load_figures([row.pk for row in rows]), zone_of(request)
        for row in rows:
            row.figures, row.zone = figures.get(row.pk, browsing.ConversationFigures()), zone
            row.is_mine = row.owner_id == request.user.pk
        return rows

    @display(description="Conversation")
    def conversation(self, row: Conversation) -> str:
        if not may_read():
            return str(row.pk)
        address = reverse("admin:transcript", args=[row.pk])
        return format_html(
            '<a href="{}">{}</a>', address, visible(row.title, Leave.PROSE) or "Without a title"
        )

    @display(description="Owner")
    def whose(self, row: Conversation) -> str:
        address = reverse("admin:auth_user_change", args=[row.owner_id])
        return format_html('<a href="{}">{}</a>', address, visible(row.owner.get_username()))

    @display(description="Models")
    def models(self, row: Any) -> str:
        return visible(", ".join(sorted(row.figures.models)))

    @display(description="Messages")
    def messages(self, row: Any) -> str:
        return f"{row.figures.messages:,}"

    @display(description="Last activity")
    def last_activity(self, row: Any) -> str:
        return day_and_time(row.figures.last or row.updated_at, row.zone)

    @display(description="State")
    def state(self, row: Any) -> str:
        states = row.figures.states
        said = [
            "waits" if Status.WAITING in states else "answering" if states & set(LIVE) else "",
            "has failures" if Status.FAILED in states else "",
        ]
        return ", ".join(filter(None, said))

    @display(description="Thinking time")
    def thinking(self, row: Any) -> str:
        ms = row.figures.thinking
        return "" if ms is None else in_short(ms)

    @display(description="Review")
    def review(self, row: Any) -> str:
        """Nobody asks themselves."""
        if row.is_mine:
            return ""
        address = reverse("ask_to_submit", args=[row.pk])
        return format_html('<a href="{}">Ask to submit</a>', address)


def _has(word: str) -> Q:
    """The owner's name, or the title where that may be read."""
    # SQLite compares letters beyond ASCII without regard to case in patterns alone.
    owners = User.objects.filter(username__icontains=word).values_list("pk", flat=True)[:MOST_OWNERS]
    named = Q(owner__in=list(owners))
    return named | Q(title__icontains=word) if may_read() else named
