"""Names of people. What each looks like is kept, so that no two are taken for one another, whoever is quicker."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from ...core.signs.lookalikes import is_mixed, outline
from ...store.refusal import Refused
from ..models import OUTLINE_CAP, NameOutline

MIXED = "Its letters come from several alphabets. Use those of one."
KEPT = "That name sounds like somebody who runs this server. Try another one."
ALIKE = "That name looks like one that is taken. Try another one."
_APART = re.compile(r"[\W\d_]+")
# As the whole of a name, but for digits; and as any word of it.
_ALONE = (
    *("root", "system", "support", "staff", "help", "helpdesk", "security", "service", "owner", "operator"),
    *(
        "official",
        "info",
        "abuse",
        "postmaster",
        "hostmaster",
        "webmaster",
        "noreply",
        "terminal",
        "anonymous",
    ),
    *("moderator", "reviewer"),
)
_ANYWHERE = ("admin", "admins", "administrator", "administrators", "sysadmin", "superuser", "thoughtline")
_OUTLINES_ALONE, _OUTLINES_ANYWHERE = ({outline(word) for word in words} for words in (_ALONE, _ANYWHERE))


class LooksTaken(Refused):
    """It looks like a name that somebody has."""


def why_no_such_name(name: str, *, of_owner: bool = False) -> str:
    """Why nobody gets this name, in words; "" where somebody may. Whoever runs the server may say so."""
    if is_mixed(name):
        return MIXED
    return KEPT if not of_owner and _sounds_like_staff(name) else ""


def remember(user: User, *, is_new: bool = False) -> None:
    """What the name looks like from now on. Who was there first keeps it."""
    look: dict[str, str | None] = {"outline": outline(user.get_username())[:OUTLINE_CAP]}
    try:
        with transaction.atomic():
            if is_new:
                NameOutline.objects.create(user=user, **look)
            else:
                NameOutline.objects.update_or_create(user=user, defaults=look)
    except IntegrityError:
        NameOutline.objects.update_or_create(user=user, defaults={"outline": None})


def remember_saved(
    sender: type[User],
    instance: User,
    created: bool,
    update_fields: Collection[str] | None = None,
    **_: Any,
) -> None:
    """However an account came about: by a command, by a script, at the door."""
    if update_fields is None or "username" in update_fields:
        remember(instance, is_new=created)


def refuse_alike(user: User) -> None:
    """Of an account that was stored in this transaction."""
    if not NameOutline.objects.filter(user=user, outline__isnull=False).exists():
        raise LooksTaken(ALIKE)


def _sounds_like_staff(name: str) -> bool:
    words = [outline(word) for word in (*_APART.split(name), *re.split(r"[@.+_-]+", name))]
    whole = {outline(name), outline(_APART.sub("", name))}
    return bool(whole & (_OUTLINES_ALONE | _OUTLINES_ANYWHERE) or _OUTLINES_ANYWHERE.intersection(words))
