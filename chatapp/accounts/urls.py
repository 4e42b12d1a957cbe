"""Accounts: the way in, what one may change, the way out."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from .views import accounts, leaving, settings

urlpatterns = [
    path("settings/", settings.settings, name="settings"),
    path("settings/delete/", leaving.LeaveAccount.as_view(), name="leave"),
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
    path("accounts/once/<uidb64>/<token>/", accounts.UseLink.as_view(), name="use_link"),
]
