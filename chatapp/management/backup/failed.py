"""How a backup says that it could not be made, read or put back."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from django.core.management.base import CommandError
from django.db import Error

from chatapp.management import tables

STOPPED_BY_KEY = 130
RESTORED_WITH_BREACHES = 3


class BackupFailed(Exception):
    """A sentence for whoever runs the server."""


@contextmanager
def told_in_words(when_stopped: str) -> Iterator[None]:
    """Whatever keeps the command from its work becomes its last sentence. It is also stopped by whoever ends it politely."""
    signal.signal(signal.SIGTERM, _as_by_key)
    try:
        yield
    except BackupFailed as error:
        raise CommandError(str(error)) from None
    except (Error, OSError) as error:
        raise CommandError(tables.unusable(error)) from None
    except KeyboardInterrupt:
        raise CommandError(when_stopped, returncode=STOPPED_BY_KEY) from None


def _as_by_key(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
