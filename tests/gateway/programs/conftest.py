"""A real server in front of the fake providers, as programs elsewhere see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.served import Served, serving, with_tables

Key = Callable[..., str]


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, fake_providers: Any) -> Iterator[Served]:
    keys = ("OPENAI", "ANTHROPIC", "DEEPSEEK", "OPENROUTER", "COMPATIBLE")
    environment = {f"{name}_API_KEY": "sk-org-test" for name in keys} | {
        "OPENAI_BASE_URL": fake_providers.url,
        "ANTHROPIC_BASE_URL": fake_providers.root,
        "DEEPSEEK_BASE_URL": fake_providers.root,
        "OPENROUTER_BASE_URL": f"{fake_providers.root}/api/v1",
        "COMPATIBLE_BASE_URL": fake_providers.url,
    }
    with serving(with_tables(tmp_path_factory.mktemp("gateway")), environment) as served:
        yield served


@pytest.fixture
def key(served: Served, up: Any) -> Key:
    """A new key of somebody new, or of whoever is named."""

    def key(owner: str = "", **chosen: Any) -> str:
        secret: str = served.clerk("key", owner=owner or served.person()[0], **chosen)
        return secret

    return key
