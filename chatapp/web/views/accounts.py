"""Signing in and signing up."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters

from ...store import accounts
from ..forms import SignInForm, SignUpForm


class SignIn(LoginView):
    template_name = "accounts/login.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"signup_open": settings.SIGNUP_OPEN}

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=400)


@sensitive_post_parameters()
def sign_up(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect("home")
    if not settings.SIGNUP_OPEN:
        return render(request, "accounts/closed.html", status=403)
    form = SignUpForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and (user := form.start_account()):
        login(request, user)
        return redirect(_next(request))
    context = {"form": form, "first": accounts.is_empty(), "next": request.GET.get("next", "")}
    return render(request, "accounts/signup.html", context, status=400 if form.is_bound else 200)


def _next(request: HttpRequest) -> str:
    """Where one wanted to go before signing up, as long as that is here."""
    wanted = request.GET.get("next", "")
    hosts, https = {request.get_host()}, request.is_secure()
    return (
        wanted
        if url_has_allowed_host_and_scheme(wanted, hosts, require_https=https)
        else settings.LOGIN_REDIRECT_URL
    )
