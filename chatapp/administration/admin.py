"""The pages of administrators that are of no table: today, each provider, and the tools of the start."""

from __future__ import annotations

from django.views.decorators.http import require_http_methods, require_safe

from ..pages.staff.site import site
from .views.provider import provider
from .views.today import today
from .views.tools import tools

_READ_OR_SENT = require_http_methods(["GET", "HEAD", "POST"])

site.add("", require_safe(today), "today")
site.add("providers/<slug:name>/", _READ_OR_SENT(provider), "try_provider")
site.add("tools/", _READ_OR_SENT(tools), "start_tools")
