"""The official clients, where ./check has installed them."""

from __future__ import annotations

from pathlib import Path

import pytest

NEEDED = ("aiohttp", "anthropic", "openai", "websockets")


def pytest_pycollect_makemodule(module_path: Path) -> None:
    """Without the tools of ./check all of this is skipped, and said to be."""
    for name in NEEDED:
        pytest.importorskip(name)


@pytest.fixture(scope="module", autouse=True)
def clients():
    from .sdk import close_clients

    yield
    close_clients()
