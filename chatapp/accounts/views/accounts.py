"""Signing in and up, and what one may change of one's account: the password and the e-mail address."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unicodedata import normalize

from django.conf import settings
from django.contrib.auth import login, views
from django.contrib.auth.decorators import login_required
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_http_methods, require_safe

from ...pages.form_pages import PASSWORD, FormPage, ThrottledPage, private
from ...pages.limiting import throttle
from ...pages.limiting.throttle import Limit
from ...pages.staff import password_given
from ...pages.visitors import is_of_this_machine, site_of, visitor_address
from ..forms.accounts import (
    ChangePasswordForm,
    ChoosePasswordForm,
    EmailForm,
    ResetForm,
    SignInForm,
    SignUpForm,
    SignUpWithCodeForm,
)
from ..store import accounts, first_account, ways_in

HOUR, QUARTER = timedelta(hours=1), timedelta(minutes=15)
# Many people may share an address: a school, an office.
SIGN_INS_HERE = Limit("sign-ins", 100, QUARTER)
SIGN_IN = Limit("sign-in", 10, QUARTER)
SIGN_UP = Limit("sign-up", 60, HOUR)
CODE = Limit("first-account", 20, QUARTER)
RESET = Limit("reset", 10, HOUR)
RESET_MAIL = Limit("reset-mail", 5, HOUR)


class SignIn(ThrottledPage, views.LoginView):
    template_name = "accounts/login.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Who is sent here while nobody can sign in makes the first account."""
        if "next" in request.GET and first_account.is_empty():
            return redirect(f"{reverse('signup')}?{request.META['QUERY_STRING']}")
        return super().get(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        more = {"signup_open": settings.SIGNUP_OPEN, "first": first_account.is_empty()}
        return super().get_context_data(**kwargs) | more

    def tries(self) -> dict[Limit, str]:
        name, here = self.request.POST.get("username", ""), visitor_address(self.request)
        return {SIGN_INS_HERE: here, SIGN_IN: _name_at(name, here)}

    def form_valid(self, form: SignInForm) -> HttpResponse:
        tries = self.tries()
        throttle.give_back(SIGN_INS_HERE, tries[SIGN_INS_HERE])
        throttle.forget(SIGN_IN, tries[SIGN_IN])
        return super().form_valid(form)


@private
class SignUp(views.RedirectURLMixin, ThrottledPage):
    template_name = "accounts/signup.html"
    next_page = settings.LOGIN_REDIRECT_URL

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return redirect(self.next_page)
        self.first = first_account.is_empty()
        self.needs_code = self.first and not is_of_this_machine(request)
        if not (settings.SIGNUP_OPEN or self.first):
            return render(request, "accounts/closed.html", status=403)
        return super().dispatch(request, *args, **kwargs)

    def get_form_class(self) -> type[SignUpForm]:
        return SignUpWithCodeForm if self.needs_code else SignUpForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"of_owner": self.first}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        more = {"first": self.first, "next": self.get_redirect_url()}
        return super().get_context_data(**kwargs) | more

    def tries(self) -> dict[Limit, str]:
        here = visitor_address(self.request)
        return {SIGN_UP: here} | ({CODE: here} if self.needs_code else {})

    def form_valid(self, form: SignUpForm) -> HttpResponse:
        user = form.start_account()
        if user is None:
            return self.form_invalid(form)
        login(self.request, user)
        return redirect(self.get_success_url())


class ChangePassword(ThrottledPage, views.PasswordChangeView):
    template_name = "accounts/password.html"
    form_class = ChangePasswordForm
    success_url = reverse_lazy("password_done")

    def tries(self) -> dict[Limit, str]:
        return {PASSWORD: str(self.request.user.pk)}

    def form_valid(self, form: ChangePasswordForm) -> HttpResponse:
        throttle.forget(PASSWORD, str(self.request.user.pk))
        password_given.note_given(self.request)
        return super().form_valid(form)


@private
class ChangeEmail(LoginRequiredMixin, ThrottledPage):
    template_name = "accounts/email.html"
    form_class = EmailForm
    success_url = reverse_lazy("email_done")

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"user": self.request.user}

    def tries(self) -> dict[Limit, str]:
        return {PASSWORD: str(self.request.user.pk)}

    def form_valid(self, form: EmailForm) -> HttpResponse:
        throttle.forget(PASSWORD, str(self.request.user.pk))
        accounts.set_email(form.user, form.cleaned_data["email"])
        return super().form_valid(form)


class Reset(ThrottledPage, views.PasswordResetView):
    template_name = "accounts/reset.html"
    form_class = ResetForm
    email_template_name = "accounts/reset_mail.txt"
    subject_template_name = "accounts/reset_subject.txt"
    success_url = reverse_lazy("reset_done")

    def tries(self) -> dict[Limit, str]:
        return {RESET: visitor_address(self.request)}

    def form_valid(self, form: ResetForm) -> HttpResponse:
        """The answer is the same whether a mail goes out or not."""
        if throttle.take(RESET_MAIL, form.cleaned_data["email"].casefold(), timezone.now()):
            return redirect(self.success_url)
        self.extra_email_context = {"site": site_of(self.request)}
        return super().form_valid(form)


@method_decorator(require_http_methods(["GET", "HEAD", "POST"]), name="dispatch")
class ResetConfirm(FormPage, views.PasswordResetConfirmView):
    template_name = "accounts/reset_confirm.html"
    form_class = ChoosePasswordForm
    success_url = reverse_lazy("reset_complete")

    def get_user(self, uidb64: str) -> Any:
        """A link of whoever was deactivated since is no link."""
        user = super().get_user(uidb64)
        return user if user and user.is_active else None

    def render_to_response(self, context: dict[str, Any], **how: Any) -> HttpResponse:
        return super().render_to_response(context, **{"status": 200 if self.validlink else 404} | how)

    def form_valid(self, form: ChoosePasswordForm) -> HttpResponse:
        """Who forgot a password has often tried too many first."""
        throttle.forget(SIGN_IN, _name_at(form.user.get_username(), visitor_address(self.request)))
        return super().form_valid(form)


class UseLink(ResetConfirm):
    """With a link that an administrator made: whoever chooses a password here is signed in."""

    template_name = "accounts/once.html"
    token_generator = ways_in

    def form_valid(self, form: ChoosePasswordForm) -> HttpResponse:
        token = self.request.session.pop(views.INTERNAL_RESET_SESSION_TOKEN, "")
        if not ways_in.choose_password(form.user, token, form.cleaned_data["new_password1"]):
            self.validlink = False
            return self.render_to_response(self.get_context_data())
        throttle.forget(SIGN_IN, _name_at(form.user.get_username(), visitor_address(self.request)))
        login(self.request, User.objects.get(pk=form.user.pk))
        return redirect("home")


@login_required
@require_safe
def password_done(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/password_done.html")


@login_required
@require_safe
def email_done(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/email_done.html")


@require_safe
def reset_done(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/reset_done.html", {"to_terminal": not settings.EMAIL_HOST})


@require_safe
def reset_complete(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/reset_complete.html")


def _name_at(name: str, here: str) -> str:
    """A name as its tries are counted at one address: however it is spelled."""
    return f"{here} {normalize('NFKC', name.strip()[:150]).casefold()}"
