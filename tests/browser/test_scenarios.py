"""The providers' own ways to stream, played to a page: its last state is what a reload shows."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.turns.test_scenarios import FAILING, GOOD

from .served import Served, serving
from .steered.strict import SHARED
from .tab import Tab

# Long, or asked again after seconds.
SLOW = {"load", "load-long", "slow-start", "stall", "rate-limited", "overloaded", "http-500"}
NAMES = [name for name in (*GOOD, *FAILING) if name not in SLOW]
SUFFIX = {"openai": "", "anthropic": "", "compatible": "@llamacpp"}
# Every scenario on one protocol, and on the others what is theirs.
PLAYED = [("openai", name) for name in NAMES]
PLAYED += [
    ("anthropic", name)
    for name in ("two-step-tools", "preserved-thinking", "omitted-thinking", "error-midstream")
]
PLAYED += [
    ("compatible", name) for name in ("two-step-tools", "think-tags", "codeblock-tags", "drop-midstream")
]


@pytest.fixture(scope="module")
def fake() -> Iterator:
    if not (SHARED / "upstream").is_dir():
        pytest.skip(
            "SKIPPED LOUDLY: the fake providers (../shared/upstream) are not here, so no scenario was played."
        )
    sys.path.append(str(SHARED))
    from upstream.core import Speed
    from upstream.testing import running

    with running(speed=Speed(delay=0.05, tps=800)) as fake:
        yield fake


@pytest.fixture(scope="module")
def played(fake, tmp_path_factory) -> Iterator[Served]:
    keys = {f"{name}_API_KEY": "sk-org-test" for name in ("OPENAI", "ANTHROPIC", "COMPATIBLE")}
    urls = {"OPENAI_BASE_URL": fake.url, "ANTHROPIC_BASE_URL": fake.root, "COMPATIBLE_BASE_URL": fake.url}
    with serving(tmp_path_factory.mktemp("scenarios"), keys | urls) as served:
        yield served


@pytest.fixture(scope="module")
def tab(browser, played) -> Iterator[Tab]:
    context = browser.new_context()
    person, session = played.person()
    context.add_cookies([{"name": "sessionid", "value": session, "url": played.url}])
    tab = Tab(context, played.url, person)
    yield tab
    context.close()
    assert tab.wrong == []


@pytest.mark.parametrize(("provider", "name"), PLAYED)
def test_the_last_state_that_was_streamed_is_what_a_reload_shows(tab, provider, name):
    tab.open(f"?model={provider}:scenario:{name}{SUFFIX[provider]}")
    tab.ask("Why?")
    tab.expect_as_loaded("failed" if name in FAILING else "complete")
