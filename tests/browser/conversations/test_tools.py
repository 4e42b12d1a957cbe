"""The switches of the tools: below the composer, on a phone, and of a real MCP server, whose calls tell how far they are."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import Error, Locator, Route, expect

from tests.browser.conftest import DEFAULT_MODEL
from tests.browser.looks import on_both
from tests.browser.served import ROOT, Served, serving, with_tables
from tests.browser.steered import Call, Write
from tests.browser.tab import Tab


@pytest.fixture
def own_house(tmp_path, upstream) -> Iterator[Served]:
    """A server with a real MCP server beside it."""
    command = {"command": sys.executable, "args": ["-m", "tests.tools.mcp.a_server", "stdio"]}
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({"mcpServers": {"docs": command | {"env": {"PYTHONPATH": str(ROOT)}}}}))
    environment = upstream.environment | {"DEFAULT_MODEL": DEFAULT_MODEL, "MCP_SERVERS_FILE": str(file)}
    with serving(with_tables(tmp_path), environment) as served:
        yield served
        upstream.settle()


def button(tab: Tab) -> Locator:
    return tab.page.get_by_role("button", name=re.compile(r"^Tools, \d+ on$"))


def switch(tab: Tab, title: str) -> Locator:
    return tab.page.locator("#tools").get_by_role("switch", name=re.compile(f"^{title}"))


def asked(tab: Tab, upstream) -> list[str]:
    """The names of the tools that the model was offered."""
    upstream.plays(Write("Because."))
    before = tab.answers.count()
    tab.composer.fill("Why?")
    tab.press("Send")
    expect(tab.answers).to_have_count(before + 1)
    tab.expect_status("complete")
    return [tool["name"] for tool in upstream.requests[-1].body.get("tools", [])]


def test_a_new_conversation_begins_with_what_is_switched_on(enter, upstream):
    tab = enter().open()
    button(tab).click()
    expect(switch(tab, "Current time")).to_be_checked()
    expect(tab.page.locator("#tools")).to_contain_text("never asks")
    switch(tab, "Current time").click()
    expect(button(tab)).to_have_text(re.compile(r"Tools\s*2"))
    tab.page.keyboard.press("Escape")
    expect(tab.page.locator("#tools")).to_be_hidden()
    assert asked(tab, upstream) == ["calculator", "read_page"]
    button(tab).click()
    expect(switch(tab, "Current time")).not_to_be_checked()


def test_a_switch_is_saved_at_once_and_other_pages_show_it_when_they_look(enter, upstream):
    tab = enter().open()
    asked(tab, upstream)
    other = enter(tab)
    other.page.goto(tab.page.url)
    button(tab).click()
    with tab.page.expect_response("**/tools/") as saved:
        switch(tab, "Calculator").click()
    assert saved.value.status == 200
    button(other).click()
    expect(switch(other, "Calculator")).not_to_be_checked()
    expect(button(other)).to_have_accessible_name("Tools, 2 on")
    with other.page.expect_response("**/tools/"):
        switch(other, "Current time").click()
    tab.reload()
    assert asked(tab, upstream) == ["read_page"]


def test_a_switch_that_is_moved_before_the_list_came_anew_stays_as_it_was_moved(enter, upstream):
    tab, old = enter().open(), []
    asked(tab, upstream)

    def hold(route: Route) -> None:
        if route.request.method == "GET":
            old.append((route, route.fetch()))
        else:
            route.continue_()

    tab.page.route("**/tools/", hold)
    button(tab).click()
    with tab.page.expect_response(lambda answer: answer.request.method == "POST"):
        switch(tab, "Calculator").click()
    for route, response in old:
        # Its request may have been given up meanwhile.
        with suppress(Error):
            route.fulfill(response=response)
    tab.next_frames(3)
    expect(switch(tab, "Calculator")).not_to_be_checked()
    expect(button(tab)).to_have_accessible_name("Tools, 2 on")
    assert len(old) == 1


def test_while_an_answer_is_written_a_switch_goes_back_and_says_why(enter, upstream):
    tab = enter().open()
    tab.forgive("409")
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.write("Half")
    tab.expect_shown("Half")
    button(tab).click()
    switch(tab, "Calculator").click()
    expect(tab.page.locator("#tools-told")).to_contain_text("Change the tools when it has ended.")
    expect(switch(tab, "Calculator")).to_be_checked()
    expect(button(tab)).to_have_accessible_name("Tools, 3 on")
    answer.finish()


def test_escape_closes_the_switches_and_stops_no_answer(enter, upstream):
    tab = enter().open()
    tab.ask("Why?")
    answer = upstream.next_answer()
    answer.write("Half")
    tab.expect_shown("Half")
    button(tab).click()
    tab.page.keyboard.press("Escape")
    expect(tab.page.locator("#tools")).to_be_hidden()
    tab.expect_status("running")
    answer.finish()
    tab.expect_status("complete")


def test_without_scripts_there_is_a_page_with_a_form(enter, upstream):
    tab = enter(java_script_enabled=False).open()
    upstream.plays(Write("Because."))
    tab.composer.fill("Why?")
    tab.press("Send")
    tab.open(f"c/{tab.conversation}/tools/")
    tab.page.get_by_role("switch", name=re.compile("^Calculator")).uncheck()
    tab.press("Save")
    expect(tab.page.get_by_role("switch", name=re.compile("^Calculator"))).not_to_be_checked()
    expect(tab.page.get_by_role("switch", name=re.compile("^Current time"))).to_be_checked()


@on_both
def test_the_switches_fit_and_have_no_grave_fault(enter, upstream, look):
    tab = enter(**look, reduced_motion="reduce").open()
    asked(tab, upstream)
    tab.page.get_by_role("button", name=re.compile("^Tools, ")).click()
    expect(switch(tab, "Read a web page")).to_be_in_viewport(ratio=1)
    box = tab.page.locator("#tools").bounding_box()
    assert box
    assert box["x"] >= 0 and box["x"] + box["width"] <= look["viewport"]["width"]
    assert box["y"] >= 0 and box["y"] + box["height"] <= look["viewport"]["height"]
    assert tab.grave() == []


def opened_with_server(enter) -> Tab:
    tab = enter().open()
    listed = tab.page.locator("#tools-list fieldset", has_text="docs")
    for _ in range(60):
        if listed.count():
            break
        tab.page.wait_for_timeout(500)
        tab.reload()
    button(tab).click()
    return tab


def test_tools_of_a_server_are_found_switched_on_and_show_how_far_they_are(enter, own_house, upstream):
    tab = opened_with_server(enter)
    tab.page.get_by_role("searchbox", name="Find a tool").fill("docs slow")
    expect(tab.page.locator("#tools-list").get_by_role("switch")).to_have_count(1)
    expect(tab.page.locator("#tools-list")).to_contain_text("from the MCP server “docs”, asks each time")
    switch(tab, "slow").click()
    tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("Escape")
    upstream.plays(Call("docs__slow", {"steps": 14}))
    upstream.plays(Write("It is done."))
    tab.ask("Why?")
    group = tab.page.get_by_role("group", name="Permission", exact=True)
    expect(group).to_contain_text("docs.slow wants to run")
    expect(group).to_contain_text("A tool of the MCP server “docs”.")
    group.get_by_text("What this tool says of itself").click()
    expect(group).to_contain_text("Takes its time.")
    tab.press("Allow once", within=group)
    summary = tab.answer.locator("details.call > summary")
    expect(summary.locator(".progress")).to_have_text(re.compile(r"step \d+"))
    expect(summary.locator("time")).to_have_text("2 s")
    late = enter(tab)
    late.page.goto(tab.page.url)
    expect(late.answer.locator("details.call > summary .progress")).to_have_text(re.compile(r"step \d+"))
    for each in (tab, late):
        each.expect_text("It is done.")
        each.expect_as_loaded()
        expect(each.answer.locator("details.call > summary time")).to_have_text(re.compile(r"^[45]\.\d s$"))


def test_a_result_is_read_as_json_and_a_long_one_scrolls_in_its_place(enter, own_house, upstream):
    tab = opened_with_server(enter)
    switch(tab, "describe").click()
    tab.page.keyboard.press("Escape")
    upstream.plays(Call("docs__describe", {"city": "Oslo"}), Call("calculator", {"expression": "7**3000"}))
    upstream.plays(Write("So."))
    tab.ask("Why?")
    tab.press("Allow once")
    tab.expect_text("So.")
    tab.expect_as_loaded()
    calls = tab.answer.locator("details.call")
    for call in calls.all():
        call.locator("summary").click()
    expect(calls.first.locator("[data-kind=tool_result] pre")).to_contain_text('{\n  "city": "Oslo",')
    long = calls.last.locator("[data-kind=tool_result] pre")
    assert long.evaluate("(it) => it.scrollHeight > it.clientHeight && it.scrollWidth <= it.clientWidth")
    assert tab.grave() == []


def test_a_running_call_is_stopped_and_says_so(enter, own_house, upstream):
    tab = opened_with_server(enter)
    switch(tab, "wait ").first.click()
    tab.page.keyboard.press("Escape")
    upstream.plays(Call("docs__wait"))
    tab.ask("Why?")
    tab.press("Allow once")
    expect(tab.answer.locator("details.call")).to_have_attribute("data-outcome", "running")
    tab.press("Stop")
    tab.expect_status("stopped")
    expect(tab.answer.locator("details.call > summary")).to_contain_text("stopped")
    tab.expect_as_loaded("stopped")
