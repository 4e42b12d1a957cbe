"""Finds out whether the database can be written, by writing: one row, always the same, whoever asks and however often."""

from __future__ import annotations

import time

from django.db import Error
from django.utils import timezone

from ...config.patience import patience
from ..running_models import Throttle
from .trouble import trouble_in

# Strangers may ask too, and each time costs everybody a write.
SECONDS = 1.0
PATIENCE = 1.0
_NAME = "probe"
_found: tuple[float, bool] = (-SECONDS, False)


def probe() -> bool:
    global _found
    asked, can = _found
    if time.monotonic() - asked >= SECONDS:
        can = _can_be_written()
        _found = (time.monotonic(), can)
    return can


def _can_be_written() -> bool:
    try:
        with patience(PATIENCE):
            Throttle.objects.update_or_create(name=_NAME, defaults={"since": timezone.now()})
    except Error as error:
        if trouble_in(error) is None:
            raise
        return False
    return True
