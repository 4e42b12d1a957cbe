"""Fills the product with a believable world, for trying and for pictures: people who asked, and what they did with the answers."""

from __future__ import annotations

import asyncio
import logging
import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from chatapp.accounts.store.accounts import start_account
from chatapp.accounts.store.roles import set_roles
from chatapp.insight.store.sums import count_anew
from chatapp.management import tables
from chatapp.management.playing import Stage
from chatapp.management.world import PEOPLE, STORIES, Story
from chatapp.store import Refused
from chatapp.store.models import Conversation

# Nobody gets mail there, and nobody else has such an address.
MARK = "@seeded.invalid"
OTHERS = (
    "This database holds conversations of other people. With --beside the people of the demonstration and their "
    "conversations come beside them; nobody else's are touched."
)


class Command(BaseCommand):
    help = "Fill the product with a believable world, for trying and for pictures."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--beside", action="store_true", help="also where other people have conversations already"
        )
        parser.add_argument(
            "--password", default="", help="with which all of them sign in; a random one when left out"
        )

    def handle(self, *args: Any, beside: bool, password: str, **options: Any) -> None:
        tables.bring_up_to_date()
        try:
            self._seed(beside, password)
        except (Error, OSError) as error:
            raise CommandError(tables.unusable(error)) from None
        except KeyboardInterrupt:
            raise CommandError("It was stopped. The next run goes on from there.", returncode=130) from None

    def _seed(self, beside: bool, password: str) -> None:
        missing = [story for story in STORIES.values() if not story.is_told]
        if not missing:
            self.stdout.write("It is there already: nothing was added, and passwords stay as they are.")
            return
        _refuse_strangers(beside)
        secret = password or secrets.token_urlsafe(12)
        roles = {name: "" if beside and role == "administrator" else role for name, role in PEOPLE.items()}
        new = _start_people(roles, secret, chosen=bool(password))
        people = {user.get_username(): user for user in User.objects.filter(username__in=PEOPLE)}
        self._tell_how_to_sign_in(new, roles, secret)
        many = f"{len(missing)} conversations are" if len(missing) > 1 else "1 conversation is"
        self.stdout.write(f"{many} being made.")
        self.stdout.flush()
        asyncio.run(_tell_stories(missing, people))
        if not beside:
            # The days of the stories; beside others, their sums stay as they are.
            count_anew()
        self.stdout.write("Done.")

    def _tell_how_to_sign_in(self, new: list[str], roles: dict[str, str], secret: str) -> None:
        """At once: a run that is stopped would not come to it."""
        for name in new:
            self.stdout.write(f"  {name:8} {roles[name]}".rstrip())
        words = f"Each of them signs in with the password {secret}"
        self.stdout.write(words if new else "Passwords stay as they are.")


def _refuse_strangers(beside: bool) -> None:
    taken = User.objects.filter(username__in=PEOPLE).exclude(email__endswith=MARK)
    names = sorted(taken.values_list("username", flat=True))
    if names:
        raise CommandError(
            f"The name {names[0]} is taken here by somebody else. Use another database: their account stays theirs."
        )
    if not beside and Conversation.objects.exclude(owner__email__endswith=MARK).exists():
        raise CommandError(OTHERS)


def _start_people(roles: dict[str, str], password: str, *, chosen: bool) -> list[str]:
    """The names of those who were not there."""
    there = set(User.objects.filter(username__in=PEOPLE).values_list("username", flat=True))
    new = [User(username=name, email=f"{name}{MARK}") for name in PEOPLE if name not in there]
    for user in new if chosen else ():
        _refuse_weak(password, user)
    for user in new:
        role = roles[user.username]
        user.set_password(password)
        try:
            start_account(user, by_owner=True)
        except Refused as error:
            raise CommandError(f"{user.username}: {error}") from None
        set_roles(user, active=True, staff=role == "administrator", reviewer=role == "reviewer")
    return [user.username for user in new]


def _refuse_weak(password: str, user: User) -> None:
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from None


async def _tell_stories(stories: list[Story], people: dict[str, Any]) -> None:
    # What a story lets fail is told in its answer.
    logging.getLogger("chatapp").setLevel(logging.CRITICAL)
    stage = Stage(Path(settings.DATA_DIR), people)
    try:
        for story in stories:
            await stage.play(story)
    finally:
        await stage.engine.close()
