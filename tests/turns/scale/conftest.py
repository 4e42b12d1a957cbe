"""Processes that serve and that work, of which any may be killed, and the provider that they ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="package")
def steered() -> Iterator[Any]:
    from tests.browser.steered import running

    with running() as upstream:
        yield upstream


@pytest.fixture(scope="package")
def all_of_them(tmp_path_factory, steered) -> Iterator[Any]:
    from .deployed import deployed

    with deployed(tmp_path_factory.mktemp("deployed"), steered.environment) as made:
        yield made


@pytest.fixture
def house(all_of_them, steered) -> Iterator[Any]:
    steered.open_again()
    all_of_them.heal()
    yield all_of_them
    steered.settle()
