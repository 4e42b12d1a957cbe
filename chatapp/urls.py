"""Every HTTP address."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from .web.views import (
    accounts,
    asking,
    branches,
    conversations,
    copying,
    deleting,
    errors,
    health,
    home,
    instructions,
    leaving,
    map,
    models,
    settings,
    thread,
)

handler400, handler403 = errors.bad_request, errors.forbidden
handler404, handler500 = errors.not_found, errors.broken
urlpatterns = [
    path("", home.home, name="home"),
    path("models/", models.models, name="models"),
    path("settings/", settings.settings, name="settings"),
    path("settings/delete/", leaving.Leave.as_view(), name="leave"),
    path("ask/", asking.ask_first, name="ask_first"),
    path("c/<uuid:pk>/", thread.conversation, name="conversation"),
    path("c/<uuid:pk>/ask/", asking.ask, name="ask"),
    path("c/<uuid:pk>/earlier/", thread.earlier, name="earlier"),
    path("m/<uuid:pk>/edit/", asking.edit, name="edit"),
    path("m/<uuid:pk>/again/", asking.again, name="again"),
    path("m/<uuid:pk>/stop/", asking.stop, name="stop"),
    path("m/<uuid:pk>/continue/", asking.go_on, name="go_on"),
    path("m/<uuid:pk>/go/", branches.go, name="go"),
    path("c/<uuid:pk>/instructions/", instructions.instructions, name="instructions"),
    path("c/<uuid:pk>/title/", conversations.title, name="title"),
    path("c/<uuid:pk>/pin/", conversations.pin, name="pin"),
    path("c/<uuid:pk>/archive/", conversations.archive, name="archive"),
    path("c/<uuid:pk>/delete/", conversations.delete, name="delete_conversation"),
    path("c/<uuid:pk>/restore/", conversations.restore, name="restore_conversation"),
    path("c/<uuid:pk>/map/", map.show, name="map"),
    path("m/<uuid:pk>/copy/", copying.markdown, name="copy"),
    path("m/<uuid:pk>/delete/", deleting.delete, name="delete"),
    path("undo/<uuid:deletion>/", deleting.undo, name="undo"),
    path("conversations/", conversations.conversations, name="conversations"),
    path("accounts/login/", accounts.SignIn.as_view(), name="login"),
    path("accounts/signup/", accounts.SignUp.as_view(), name="signup"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("accounts/password/", accounts.ChangePassword.as_view(), name="password"),
    path("accounts/password/done/", accounts.password_done, name="password_done"),
    path("accounts/email/", accounts.ChangeEmail.as_view(), name="email"),
    path("accounts/email/done/", accounts.email_done, name="email_done"),
    path("accounts/reset/", accounts.Reset.as_view(), name="reset"),
    path("accounts/reset/done/", accounts.reset_done, name="reset_done"),
    path("accounts/reset/complete/", accounts.reset_complete, name="reset_complete"),
    path("accounts/reset/<uidb64>/<token>/", accounts.ResetConfirm.as_view(), name="reset_confirm"),
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("metrics", health.metrics),
]
