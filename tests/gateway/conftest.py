"""What tests of programs need."""

from __future__ import annotations

import pytest

from chatapp.gateway.served import serving
from chatapp.pages.door.open_sockets import Rate


@pytest.fixture
def as_often_as_they_like(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one key, and with keys that open nothing."""
    for name in ("by_key", "wrong_keys"):
        monkeypatch.setattr(serving, name, Rate(10**9, 0.0))
