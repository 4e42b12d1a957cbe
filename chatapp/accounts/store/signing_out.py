"""Ends every sign-in of one person. Which there are is kept nowhere: whose a session is stands inside it."""

from __future__ import annotations

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone

from ...store.changes import tell_person

BATCH = 500


def sign_out_everywhere(user: User) -> int:
    """How many there were."""
    rows = Session.objects.filter(expire_date__gt=timezone.now()).order_by()
    theirs = [row.pk for row in rows.iterator(BATCH) if row.get_decoded().get(SESSION_KEY) == str(user.pk)]
    for at in range(0, len(theirs), BATCH):
        Session.objects.filter(pk__in=theirs[at : at + BATCH]).delete()
    # Every socket asks who listens before it tells anything, and ends where that is nobody any more.
    tell_person(user.pk, "roles")
    return len(theirs)
