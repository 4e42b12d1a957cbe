"""The strict fake of the providers, where it is there: one server for the whole run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"


@pytest.fixture(scope="session")
def upstream():
    if not (SHARED / "upstream").is_dir():
        pytest.skip(
            "SKIPPED LOUDLY: the fake providers (../shared/upstream) are not here, so no scenario was played."
        )
    for name in ("aiohttp", "yaml"):
        pytest.importorskip(
            name, reason=f"SKIPPED LOUDLY: {name} is not installed, so no scenario was played."
        )
    sys.path.append(str(SHARED))
    from upstream.core import Speed
    from upstream.testing import running

    with running(speed=Speed(delay=0)) as up:
        yield up


@pytest.fixture
def up(upstream):
    upstream.clear()
    return upstream
