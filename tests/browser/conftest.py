"""A server of its own, a provider that tests steer, a faulty network between, and a real browser that looks at it all."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.patience import PATIENCE

from .proxy import FaultProxy, between
from .served import Served, serving, with_tables

if TYPE_CHECKING:
    from .steered import Upstream
    from .tab import Tab

NEEDED = ("playwright.sync_api", "axe_playwright_python", "aiohttp")
DEFAULT_MODEL = "openai:gpt-5"
Enter = Callable[..., "Tab"]


def pytest_pycollect_makemodule(module_path: Path) -> None:
    """Without the tools of ./check all of this is skipped, and said to be."""
    for name in NEEDED:
        pytest.importorskip(name)


@pytest.fixture
def server(tmp_path) -> Iterator[str]:
    """The address of a fresh installation."""
    with serving(tmp_path, {}) as served:
        yield served.url


@pytest.fixture(scope="module")
def browser(request) -> Iterator:
    """Closed with its module: while it is open, nothing else in this process can run a loop."""
    from playwright.sync_api import sync_playwright

    from .chromium import launched

    program = os.environ.get("CHROMIUM")
    if not program:
        pytest.skip("CHROMIUM names no browser; ./check sets it")
    if not request.node.get_closest_marker("whole_browser"):
        program = os.environ.get("HEADLESS_SHELL") or program
    with sync_playwright() as playwright:
        chromium = launched(playwright, program)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def steered_provider() -> Iterator[Upstream]:
    from .steered import running

    with running() as upstream:
        yield upstream


@pytest.fixture(scope="session")
def shared_house(tmp_path_factory, steered_provider) -> Iterator[Served]:
    environment = steered_provider.environment | {"DEFAULT_MODEL": DEFAULT_MODEL}
    with serving(with_tables(tmp_path_factory.mktemp("house")), environment) as served:
        yield served


@pytest.fixture
def upstream(steered_provider) -> Iterator[Upstream]:
    """The provider that the house asks. Nothing it would refuse may have been sent."""
    steered_provider.open_again()
    steered_provider.requests.clear()
    steered_provider.refused.clear()
    yield steered_provider
    assert steered_provider.refused == []


@pytest.fixture
def house(shared_house, upstream) -> Iterator[Served]:
    """A server that other tests use too, each with people of its own; what one of them began ends with it."""
    shared_house.new_log()
    yield shared_house
    upstream.settle()
    _until_nothing_runs(shared_house)
    _check_log(shared_house)


@pytest.fixture
def own_house(tmp_path, upstream) -> Iterator[Served]:
    """A server of this test's own, which may be killed."""
    environment = upstream.environment | {"DEFAULT_MODEL": DEFAULT_MODEL}
    with serving(with_tables(tmp_path), environment) as served:
        yield served
        upstream.settle()
        _until_nothing_runs(served)
        _check_log(served)
        assert served.clerk("breaches") == []


@pytest.fixture
def place(request) -> Served:
    """The server that a test looks at: its own, where it names that."""
    own = "own_house" in request.fixturenames
    served: Served = request.getfixturevalue("own_house" if own else "house")
    return served


@pytest.fixture
def proxy(place) -> Iterator[FaultProxy]:
    """The network on the way there."""
    with between(place.url) as proxy:
        yield proxy


@pytest.fixture
def enter(browser, place) -> Iterator[Enter]:
    """Opens a tab for somebody who is signed in: somebody new, or the person of another tab. Whatever goes wrong in it
    fails the test. `to`: the proxy, where it is in between."""
    from .tab import Tab

    tabs: list[Tab] = []

    def enter(
        again: Tab | None = None,
        *,
        to: FaultProxy | None = None,
        prefers: dict[str, Any] | None = None,
        **look: Any,
    ) -> Tab:
        url = (to or place).url
        if again:
            tab = Tab(again.context, url, again.person)
        else:
            context = browser.new_context(**look)
            person, session = place.person(**(prefers or {}))
            context.add_cookies([{"name": "sessionid", "value": session, "url": url}])
            tab = Tab(context, url, person)
        tabs.append(tab)
        return tab

    yield enter
    wrong = [words for tab in tabs for words in tab.wrong]
    for context in {tab.context for tab in tabs}:
        context.close()
    assert wrong == []


def _until_nothing_runs(served: Served) -> None:
    """A turn that waits to ask its provider again does so before long."""
    until = time.monotonic() + PATIENCE
    while served.clerk("running"):
        assert time.monotonic() < until, "A turn of this test never ended."
        time.sleep(0.02)


def _check_log(served: Served) -> None:
    """No error that nobody saw."""
    log = served.new_log()
    print(log, file=sys.stderr)
    assert " ERROR " not in log
    assert "Traceback" not in log
