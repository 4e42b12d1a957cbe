"""The doors of administrators ask for the password again, so that nobody else goes through them at a browser that was left open."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.models import User
from django.contrib.auth.views import RedirectURLMixin
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import HttpResponseClientRefresh

from ..commands import by_script
from ..dressed import PasswordForm
from ..form_pages import PASSWORD, ThrottledPage, private
from ..limiting import throttle
from ..limiting.throttle import Limit
from . import password_given

View = Callable[..., HttpResponseBase]


def behind_password(view: View) -> View:
    """A door of staff. Whoever is none is left to the view, which has nothing for them."""

    @wraps(view)
    def asked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if password_given.holds(request) or not getattr(request.user, "is_staff", False):
            return view(request, *args, **kwargs)
        if request.method == "POST":
            # What was typed into a form goes through the question, and on.
            return GivePassword.as_view(go_on=lambda: view(request, *args, **kwargs))(request)
        if by_script(request):
            # The page that asks for news of itself asks for the password, and comes back.
            return HttpResponseClientRefresh()
        return redirect(f"{reverse('password_again')}?{urlencode({'next': request.get_full_path()})}")

    return asked


@private
class GivePassword(LoginRequiredMixin, RedirectURLMixin, ThrottledPage):
    """On the way to where one was going: an address, or with `go_on` whatever a form was sent to do."""

    template_name = "accounts/again.html"
    form_class = PasswordForm
    prefix = "again"
    next_page = settings.LOGIN_REDIRECT_URL
    go_on: Callable[[], HttpResponseBase] | None = None

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if self.go_on and self._field not in request.POST:
            form = PasswordForm(prefix=self.prefix, user=cast(User, request.user))
            return self.render_to_response(self.get_context_data(form=form), status=403)
        return super().post(request, *args, **kwargs)

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"user": self.request.user}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"kept": self._kept() if self.go_on else []}

    def tries(self) -> dict[Limit, str]:
        return {PASSWORD: str(self.request.user.pk)}

    def form_valid(self, form: PasswordForm) -> Any:
        throttle.forget(PASSWORD, str(self.request.user.pk))
        password_given.note_given(self.request)
        return self.go_on() if self.go_on else redirect(self.get_success_url())

    @property
    def _field(self) -> str:
        return f"{self.prefix}-password"

    def _kept(self) -> list[tuple[str, str]]:
        """The fields of the form that was sent, to be sent again."""
        sent = self.request.POST.lists()
        ours = ("csrfmiddlewaretoken", self._field)
        return [(name, value) for name, values in sent if name not in ours for value in values]
