"""The forms of accounts, worded and marked for our pages."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import (
    AuthenticationForm,
    PasswordChangeForm,
    PasswordResetForm,
    SetPasswordForm,
    UserCreationForm,
)
from django.contrib.auth.models import User
from django.db import IntegrityError

from ...core.signs.visible import hides
from ...pages.dressed import Dressed, PasswordForm
from ...store import Refused
from ..store import accounts, first_account, names

ACCOUNTS_OF_ONE_ADDRESS = 5
TAKEN = "That name is taken. Try another one."
# A server of mail may take seconds, and only those who have an account would wait for it.
sending = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mail")


class SignInForm(Dressed, AuthenticationForm):
    error_messages = {
        "invalid_login": "That name and that password do not belong together. Capital letters count.",
        "inactive": "This account is closed.",
    }


class NewName(forms.BaseForm):
    """A name that nobody has yet. Others read it above what one shares and submits."""

    of_owner = False

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError(TAKEN)
        if hides(name):
            raise forms.ValidationError("It holds signs that nobody sees.")
        if refusal := names.why_no_such_name(name, of_owner=self.of_owner):
            raise forms.ValidationError(refusal)
        return name


class SignUpForm(Dressed, NewName, UserCreationForm):
    """`of_owner`: it makes the first account, and comes from whoever runs this server."""

    labels = {"email": "E-mail"}
    helps = {
        "code": "The server says it on its terminal when it starts.",
        "username": "Letters, digits and @ . + - _",
        "password1": "Eight characters or more.",
        "email": "Not needed. A forgotten password can be reset only with it.",
    }

    class Meta(UserCreationForm.Meta):
        model = User
        fields = ("username", "email")
        error_messages = {"username": {"unique": TAKEN}}
        widgets = {"email": forms.EmailInput(attrs={"autocomplete": "email"})}

    field_order = ("code", "username", "password1", "password2", "email")

    def __init__(self, *args: Any, of_owner: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.of_owner = of_owner

    def validate_password_for_user(self, user: User, password_field_name: str = "password1") -> None:  # noqa: S107
        """What is wrong with a password stands under it, not under its repetition."""
        super().validate_password_for_user(user, password_field_name)  # type: ignore[misc]

    def start_account(self) -> User | None:
        """The new account, or None and an error when somebody was quicker."""
        user: User = self.save(commit=False)
        try:
            accounts.start_account(user, by_owner=self.of_owner, open_to_all=settings.SIGNUP_OPEN)
        except IntegrityError:
            self.add_error("username", TAKEN)
        except names.LooksTaken as error:
            self.add_error("username", str(error))
        except Refused as error:
            self.add_error(None, str(error))
        else:
            return user
        return None


class SignUpWithCodeForm(SignUpForm):
    """From elsewhere than the machine of this server, its owner proves who they are."""

    code = forms.CharField(
        label="Code",
        max_length=100,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "characters"}),
    )

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        if not first_account.is_code(code):
            raise forms.ValidationError("That is not the code.")
        return code


class ChangePasswordForm(Dressed, PasswordChangeForm):
    labels = {"old_password": "Current password"}
    helps = {"new_password1": "Eight characters or more."}


class ChoosePasswordForm(Dressed, SetPasswordForm):
    helps = {"new_password1": "Eight characters or more."}


class EmailForm(PasswordForm):
    email = forms.EmailField(
        label="E-mail",
        max_length=254,
        required=False,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )
    field_order = ("email", "password")
    helps = {
        "email": "Leave it empty to have none.",
        "password": "So that nobody else does this in your name.",
    }

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, user=user, **kwargs)
        self.initial.setdefault("email", user.email)


class ResetForm(Dressed, PasswordResetForm):
    labels = {"email": "E-mail"}

    def get_users(self, email: str) -> Iterable[User]:
        """The oldest few: whoever puts your address on many accounts must not fill your mailbox."""
        return sorted(super().get_users(email), key=lambda user: user.pk)[:ACCOUNTS_OF_ONE_ADDRESS]

    def send_mail(self, *args: Any, **kwargs: Any) -> None:
        sending.submit(super().send_mail, *args, **kwargs).add_done_callback(Future.result)
