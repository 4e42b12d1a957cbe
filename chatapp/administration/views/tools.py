"""The tools that new conversations begin with, built in or of MCP servers; everybody switches them for their own conversation."""

from __future__ import annotations

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect

from ...catalog import store as catalog
from ...catalog.part import providers
from ...conversations.page.tools import tools_to_begin_with
from ...mcp_servers import store as mcp_servers
from ...mcp_servers.part import mcp
from ...pages.signed_in import SignedIn
from ...pages.staff.framed import framed
from ...turns.engine import engine


def tools(request: SignedIn) -> HttpResponse:
    if request.method == "POST":
        _save(set(request.POST.getlist("tools")))
        return redirect("admin:start_tools")
    return framed(request, "administration/tools.html", "Tools", {"tools": tools_to_begin_with()})


@transaction.atomic
def _save(chosen: set[str]) -> None:
    own = {name for name, tool in engine().tools.items() if not tool.server}
    catalog.save_not_at_start(own - chosen)
    mcp_servers.save_at_start(chosen)
    # Here at once; the other processes look for themselves.
    transaction.on_commit(lambda: providers().look(anew=True))
    transaction.on_commit(mcp().look_soon)
