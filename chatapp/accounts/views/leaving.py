"""Leaving: the account is deleted with everything that is its owner's."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import logout
from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters

from ...pages.engine_calls import call
from ...pages.form_pages import PASSWORD, ThrottledPage
from ...pages.limiting.throttle import Limit
from ...pages.signed_in import SignedIn
from ...store import Refused
from ...turns.engine import engine
from ..forms.settings import LeaveForm
from ..store import leaving


@method_decorator(sensitive_post_parameters(), name="dispatch")
class LeaveAccount(LoginRequiredMixin, ThrottledPage):
    request: SignedIn
    template_name = "accounts/leave.html"
    form_class = LeaveForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"user": self.request.user}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"why_not": leaving.why_not_leave(self.request.user)}

    def tries(self) -> dict[Limit, str]:
        return {PASSWORD: str(self.request.user.pk)}

    def form_valid(self, form: LeaveForm) -> HttpResponse:
        user = self.request.user
        if leaving.why_not_leave(user):
            return self.form_invalid(form)
        for answer in leaving.load_live_answers(user):
            call(engine().stop, answer, by=str(user.pk))
        try:
            leaving.leave(user)
        except Refused as refusal:
            form.add_error(None, str(refusal))
            return self.form_invalid(form)
        logout(self.request)
        return render(self.request, "accounts/left.html")
