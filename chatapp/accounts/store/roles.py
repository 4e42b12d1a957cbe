"""What a person is besides somebody who chats: an administrator (`is_staff`; the first account is one), whose rights are in
`pages/staff/rights.py` and `only_staff` of `pages/access.py`, or a reviewer (a group), whose rights are in `reviews/access.py`."""

from __future__ import annotations

from django.contrib.auth.models import Group, User
from django.db import transaction

from ...reviews.store.reviewers import REVIEWERS
from ...store.changes import tell_person
from . import ways_in


@transaction.atomic
def set_roles(user: User, *, active: bool, staff: bool, reviewer: bool) -> None:
    """Nothing else of the account changes."""
    User.objects.filter(pk=user.pk).update(is_active=active, is_staff=staff)
    if reviewer:
        user.groups.add(Group.objects.get_or_create(name=REVIEWERS)[0])
    else:
        user.groups.remove(*Group.objects.filter(name=REVIEWERS))
    if not active:
        ways_in.end(user)
    # Every socket asks who listens before it tells anything, and ends where that is nobody any more.
    tell_person(user.pk, "roles")
