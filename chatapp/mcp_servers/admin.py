"""Servers of tools: added and switched here, and their tools marked."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin, TabularInline, display, register
from django.db import transaction
from django.db.models import Count, Model, Q
from django.forms import BaseInlineFormSet, ModelForm
from django.http import HttpRequest

from ..core.signs.visible import visible
from ..pages.staff.rights import StaffOnly, is_staff
from ..pages.staff.site import site
from . import store as mcp_servers
from .forms import ServerForm, ToolForm
from .models import McpServer, McpTool
from .part import mcp

CHANGED = "Changed since it was marked: it asks again."


class ToolInline(StaffOnly, TabularInline):
    model, form = McpTool, ToolForm
    extra, can_delete = 0, False
    verbose_name_plural = "Tools"
    fields = ("told", "safe", "idempotent", "is_on", "in_new_conversations", "seen")
    readonly_fields = ("told",)
    ordering = ("name",)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    @display(description="Tool")
    def told(self, tool: McpTool) -> str:
        """What it says of itself, what its server claims of it, and what is to be noticed."""
        changed = tool.judged and tool.judged != tool.fingerprint
        notes = [
            f"The server says: {tool.hints}." if tool.hints else "",
            CHANGED if changed else "",
            "" if tool.is_listed else "Not offered by the server any more.",
        ]
        return visible("\n".join(filter(None, (tool.description, *notes))))


@register(McpServer, site=site)
class McpServerAdmin(StaffOnly, ModelAdmin):
    form = ServerForm
    inlines = (ToolInline,)
    actions = None
    ordering = ("name",)
    list_display = ("name", "where", "state", "tools", "switched")
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> Any:
        listed = Count("tools", filter=Q(tools__is_listed=True))
        return super().get_queryset(request).annotate(listed=listed)

    def has_delete_permission(self, request: HttpRequest, obj: McpServer | None = None) -> bool:
        """A command would come back with the next start."""
        kept = obj is not None and _is_command(obj) and mcp().is_command(obj.name)
        return is_staff(request) and not kept

    def get_fields(self, request: HttpRequest, obj: McpServer | None = None) -> tuple[str, ...]:
        if obj is None:
            return ("name", "url", "key_variable", "key_for", "private_network", "is_on")
        if _is_command(obj):
            return ("name", "state", "is_on")
        return ("name", "state", "url", "key_variable", "key_for", "private_network", "is_on")

    def get_readonly_fields(self, request: HttpRequest, obj: McpServer | None = None) -> tuple[str, ...]:
        return () if obj is None else ("name", "state")

    def get_inlines(self, request: HttpRequest, obj: McpServer | None) -> Any:
        return self.inlines if obj is not None else ()

    @display(description="Where")
    def where(self, server: McpServer) -> str:
        return visible(server.url) or "a command"

    @display(description="State")
    def state(self, server: McpServer) -> str:
        return visible(mcp().told(server))

    @display(description="Tools")
    def tools(self, server: Any) -> int:
        return int(server.listed)

    @display(description="On", boolean=True)
    def switched(self, server: McpServer) -> bool:
        return server.is_on

    def save_model(self, request: HttpRequest, obj: McpServer, form: ModelForm, change: bool) -> None:
        mcp_servers.save_server(obj)
        _look_once_it_is_stored()

    def save_formset(
        self, request: HttpRequest, form: ModelForm, formset: BaseInlineFormSet, change: bool
    ) -> None:
        """Only what staff say of tools; everything else of them is the server's."""
        formset.new_objects, formset.changed_objects, formset.deleted_objects = [], [], []
        for each in formset.forms:
            if each.has_changed():
                self._judge(request, each)
                formset.changed_objects.append((each.instance, each.changed_data))
        _look_once_it_is_stored()

    def _judge(self, request: HttpRequest, form: ModelForm) -> None:
        said = {name: form.cleaned_data[name] for name in ToolForm.Meta.fields}
        if not mcp_servers.judge_tool(form.instance.pk, seen=form.cleaned_data["seen"], **said):
            words = f"{visible(form.instance.name)} has changed meanwhile: look at it, and mark it again."
            messages.warning(request, words)

    def delete_model(self, request: HttpRequest, obj: McpServer) -> None:
        super().delete_model(request, obj)
        _look_once_it_is_stored()


def _look_once_it_is_stored() -> None:
    """Before, there is nothing new to see."""
    transaction.on_commit(mcp().look_soon)


def _is_command(server: McpServer) -> bool:
    return not server.url
