"""Writes accounts. The first one becomes the administrator, and there is only one first."""

from __future__ import annotations

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import User
from django.db import transaction

from ...insight.store import sums as figures
from ...store.database.table_locks import hold_tables
from ...store.models import Conversation, Message
from ...store.refusal import Refused
from ..models import SignedUp
from . import first_account, names
from .first_account import is_empty

TERMINAL_USER = "terminal"
NOT_THE_OWNER = "The first account is made by whoever runs this server."
CLOSED = "Somebody else made the first account a moment ago, and sign-up is closed."


@transaction.atomic
def start_account(user: User, *, by_owner: bool, open_to_all: bool = True) -> None:
    """Stores an account whose password is already set. The first is made by whoever runs the server alone: it becomes the
    administrator, and inherits what was asked from a terminal before."""
    first = is_empty()
    if first:
        hold_tables(User, mode="SHARE ROW EXCLUSIVE")
        first = is_empty()
    if first and not by_owner:
        raise Refused(NOT_THE_OWNER)
    if not first and not open_to_all:
        raise Refused(CLOSED)
    user.is_staff = user.is_superuser = first
    user.save()
    names.refuse_alike(user)
    SignedUp.objects.create(user=user)
    if first:
        first_account.forget_code()
        _inherit(user)


@transaction.atomic
def let_in(name: str, email: str) -> User:
    """An account for somebody who chooses their password later, with a link."""
    user = User(username=name, email=User.objects.normalize_email(email))
    user.set_unusable_password()
    user.save()
    names.refuse_alike(user)
    return user


def set_email(user: User, email: str) -> None:
    User.objects.filter(pk=user.pk).update(email=User.objects.normalize_email(email))


def who_asks_from_a_terminal() -> User:
    """The administrator; before there is one, an account that nobody can sign in to."""
    first = User.objects.filter(is_superuser=True).order_by("pk").first()
    return first or User.objects.get_or_create(username=TERMINAL_USER, defaults={"password": "!"})[0]


def _inherit(user: User) -> None:
    hidden = User.objects.filter(
        username=TERMINAL_USER, password__startswith=UNUSABLE_PASSWORD_PREFIX
    ).exclude(pk=user.pk)
    figures.inherit(user, hidden)
    Conversation.objects.filter(owner__in=hidden).update(owner=user)
    Message.objects.filter(author__in=hidden).update(author=user)
