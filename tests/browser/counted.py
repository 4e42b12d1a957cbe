"""Figures of some days, and somebody who may see them."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from chatapp.core.spread import bucket
from chatapp.insight.models import ModelDay, PersonDay
from chatapp.insight.store.sums import day_of

MODELS = ("openai:gpt-5", "anthropic:a-model-with-a-name-that-is-rather-long-20251119", "demo:thinker")


def counted(name: str, days: int) -> None:
    """The same days again take the place of those before."""
    today, user = day_of(timezone.now()), User.objects.get(username=name)
    ModelDay.objects.all().delete()
    PersonDay.objects.all().delete()
    for n, model in enumerate(MODELS):
        for back in range(n, days, n + 1):
            ms = 2000 + 700 * (back % 7)
            counts = {f"thought:{bucket(ms * m)}": 5 - m for m in (1, 2, 3)} | {f"first:{bucket(ms // 3)}": 4}
            counts |= {"turns": 9, "answers": 8, "thoughts": 9, "replayed": 5, "dropped:cut turn": 1}
            counts |= {"ended:complete": 6, "ended:failed:busy": 2, "ended:stopped": 1}
            used = {"input": 5000 + ms, "output": 900, "cost": 31_000 * (n < 2), "unpriced": 9 * (n == 2)}
            day = today - timedelta(days=back)
            ModelDay.objects.create(day=day, model=model, counts=counts | used)
            PersonDay.objects.create(day=day, model=model, user=user, turns=9, answers=8, **used)
