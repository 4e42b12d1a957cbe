"""The secret key of an installation that was given none: made once, kept in a file that only its owner may read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from .environment import Misconfigured


def kept_in(folder: Path) -> str:
    file = folder / "secret-key"
    try:
        if not file.exists():
            _make_key(file)
        key = file.read_text().strip()
    except OSError as error:
        raise Misconfigured(f"The secret key in {str(file)!r} cannot be used: {error.strerror}.") from error
    if len(key) < 50:
        raise Misconfigured(
            f"The secret key in {str(file)!r} is damaged; delete the file, and everybody signs in again."
        )
    return key


def _make_key(file: Path) -> None:
    """Of several processes that start at once, one makes the key and all read it."""
    draft = file.with_name(f".secret-key-{os.getpid()}")
    draft.touch(mode=0o600)
    try:
        draft.write_text(secrets.token_urlsafe(50))
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
