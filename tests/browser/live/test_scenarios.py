"""The providers' own ways to stream, played to a page: its last state is what a reload shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.served import Served, serving
from tests.browser.tab import Tab
from tests.turns.test_scenarios import FAILING, GOOD
from tests.upstream.running import Running, running
from tests.upstream.scenario import Speed

# Long, or asked again after seconds.
SLOW = {"load", "load-long", "slow-start", "stall", "rate-limited", "overloaded", "http-500"}
NAMES = [name for name in (*GOOD, *FAILING) if name not in SLOW]
SUFFIX = {"openai": "", "anthropic": "", "compatible": "@llamacpp"}
WITH_TOOLS = ["tool-loop", "two-step-tools", "no-summary", "phases", "omitted-thinking"]
# Every scenario on one protocol, and on the others what is theirs and all that call tools.
PLAYED = [("openai", name) for name in NAMES]
PLAYED += [("anthropic", name) for name in (*WITH_TOOLS, "preserved-thinking", "error-midstream")]
PLAYED += [("compatible", name) for name in (*WITH_TOOLS, "think-tags", "codeblock-tags", "drop-midstream")]
# Each scenario once, on the protocol that has most to do with it; all of them with --whole.
ELSEWHERE = {"tool-loop": "anthropic", "two-step-tools": "compatible", "omitted-thinking": "anthropic"}
ELSEWHERE |= dict.fromkeys(("preserved-thinking", "error-midstream"), "anthropic")
ELSEWHERE |= dict.fromkeys(("think-tags", "codeblock-tags", "drop-midstream"), "compatible")


def _played() -> Iterator[Any]:
    for provider, name in PLAYED:
        marks = () if ELSEWHERE.get(name, "openai") == provider else pytest.mark.whole
        yield pytest.param(provider, name, marks=marks)


LINES = [
    "openai:{}",
    "anthropic:{}",
    "compatible:{}@llamacpp",
    pytest.param("compatible:{}@kimi", marks=pytest.mark.whole),
    pytest.param("compatible:{}@deepseek-turn", marks=pytest.mark.whole),
]


def _calls(name: str, **arguments: str) -> dict[str, Any]:
    return {"tool": {"name": name, "args": arguments}}


def _thinks(words: str) -> dict[str, Any]:
    return {"reasoning": {"summary": f"{words} about {{{{last_user}}}}"}}


# The tools are the real ones, and nobody is let through to that address.
CALLING = {
    "anthropic": {"preserved_thinking": True, "default_thinking": "adaptive", "only_adaptive": True},
    "turns": [
        {"items": [_thinks("First"), _calls("clock", zone="UTC"), _calls("calculator", expression="6*7")]},
        {"items": [_thinks("Then"), {"text": "I look."}, _calls("read_page", url="http://127.0.0.1/")]},
        {"items": [_thinks("Last"), {"text": "It says: {{tool_output}}"}]},
    ],
}


@pytest.fixture(scope="module")
def fake() -> Iterator[Running]:
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


@pytest.mark.parametrize(("provider", "name"), [*_played()])
def test_the_last_state_that_was_streamed_is_what_a_reload_shows(tab, provider, name):
    tab.open(f"?model={provider}:scenario:{name}{SUFFIX[provider]}")
    tab.ask("Why?")
    # Its connection breaks in the words of an answer there, elsewhere in its thought.
    broken = name in FAILING or (provider, name) == ("compatible", "drop-midstream")
    tab.expect_as_loaded("failed" if broken else "complete")


@pytest.mark.parametrize("line", LINES)
def test_tools_run_ask_and_are_denied_on_every_wire_and_every_thought_goes_back(tab, fake, line):
    fake.add("mine-calling", CALLING)
    fake.clear()
    asks = tab.page.get_by_role("group", name="Permission", exact=True)
    tab.open(f"?model={line.format('scenario:mine-calling')}")
    for question, word in (("One?", "Deny"), ("Two?", "Allow for this conversation"), ("Three?", "")):
        tab.ask(question)
        if word:
            tab.press(word, within=asks)
        said = "The person did not allow this call." if word == "Deny" else ".* nothing else is read"
        tab.expect_text(re.compile(f"It says: {said}"))
        tab.expect_as_loaded()
        expect(asks).to_have_count(0)
        stood = tab.answer.locator("details.call").evaluate_all(
            "(all) => all.map((it) => it.dataset.outcome)"
        )
        assert stood == ["done", "done", "denied" if word == "Deny" else "failed"]
    requests = fake.requests("mine-calling")
    assert [(each["status"], each["notes"]) for each in requests] == [(200, [])] * 9
    tab.answer.locator("details.timeline > summary").click()
    tab.answer.locator("details.sent > summary").click()
    expect(tab.answer.locator("details.sent")).to_contain_text("8 thoughts went back")
