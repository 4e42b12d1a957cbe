"""Pages with one form: what is wrong is told with 400, what comes too often with 429 and when to try again."""

from __future__ import annotations

from datetime import timedelta
from math import ceil
from typing import Any

from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters
from django.views.generic import FormView

from .limiting import throttle
from .limiting.throttle import Limit
from .limiting.wholesale import when

# Tries of one person to say their own password.
PASSWORD = Limit("password", 20, timedelta(minutes=15))

private = method_decorator(sensitive_post_parameters(), name="dispatch")


class FormPage(FormView):
    http_method_names = ["get", "head", "post", "options"]

    def form_invalid(self, form: BaseForm) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=400)


class ThrottledPage(FormPage):
    """Each sending is counted before anybody looks at what was sent."""

    def tries(self) -> dict[Limit, str]:
        """Who is counted under which limit."""
        raise NotImplementedError

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        now = timezone.now()
        waits = (throttle.take(limit, who, now) for limit, who in self.tries().items())
        wait = next(filter(None, waits), None)
        return self._refuse(wait) if wait else super().post(request, *args, **kwargs)

    def _refuse(self, wait: timedelta) -> HttpResponse:
        """The form as it was sent, without passwords and without a look at it."""
        unchecked = {"data": None, "files": None, "initial": self.request.POST.dict()}
        form = self.get_form_class()(**self.get_form_kwargs() | unchecked)
        context = self.get_context_data(form=form, refusal=f"Too many tries. Try again {when(wait)}.")
        headers = {"Retry-After": str(ceil(wait.total_seconds()))}
        return self.render_to_response(context, status=429, headers=headers)
