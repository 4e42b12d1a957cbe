"""Who may have keys: as staff said of the first kind of people that fits somebody."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import BooleanField, Case, Exists, IntegerField, OuterRef, Q, Subquery, Value, When
from django.db.models.functions import Coalesce

from ...reviews.store.reviewers import reviewers
from ..models import KeyRule, Who


def are_allowed(owner: str) -> Coalesce:
    """Whether whoever the column `owner` names may have keys."""
    them = User.objects.filter(pk=OuterRef(OuterRef(owner)))
    is_staff = Exists(them.filter(is_staff=True))
    fits = (
        Q(who=Who.PERSON, user=OuterRef(owner))
        | Q(is_staff, who=Who.ADMINISTRATORS)
        | Q(Exists(reviewers().filter(pk=OuterRef(OuterRef(owner)))), who=Who.REVIEWERS)
        | Q(~is_staff, Exists(them.filter(signed_up__isnull=False)), who=Who.STRANGERS)
        | Q(who=Who.EVERYBODY)
    )
    rank = Case(
        *(When(who=who, then=Value(place)) for place, who in enumerate(Who.values)),
        output_field=IntegerField(),
    )
    rules = KeyRule.objects.filter(fits).order_by(rank)
    return Coalesce(Subquery(rules.values("may_have_keys")[:1]), Value(True), output_field=BooleanField())


def may_have_keys(user: User) -> bool:
    rows = User.objects.filter(pk=user.pk).annotate(allowed=are_allowed("pk"))
    return bool(rows.values_list("allowed", flat=True).first())


def save_rule(row: KeyRule) -> None:
    row.save()
