"""Administrators add servers of tools and mark their tools; nobody else finds anything there."""

from __future__ import annotations

import re

import pytest

from chatapp.mcp_servers import store as mcp_servers
from chatapp.mcp_servers.models import McpServer, McpTool
from chatapp.mcp_servers.part import GONE, Mcp
from chatapp.tools.at_hand import ToolsAtHand
from chatapp.tools.mcp.offered import Offered
from chatapp.tools.mcp.server_place import ServerCommand
from chatapp.turns.engine import engine

LIST = "/admin/chatapp/mcpserver/"
ADD = f"{LIST}add/"
NEW = {"name": "docs", "url": "https://docs.example.org/mcp", "key_variable": "DOCS_API_KEY", "is_on": "on"}


@pytest.fixture(autouse=True)
def a_file_with_one_command(db, monkeypatch):
    """Nothing is started: the engine of a page does not work."""
    mcp = Mcp(
        {"files": ServerCommand("/bin/canary", ("--canary",), {"FILES_TOKEN": "canary"})}, ToolsAtHand({})
    )
    monkeypatch.setattr(engine(), "_parts", [mcp])
    mcp_servers.register_commands(["files"])


@pytest.fixture
def her(client, dana):
    client.force_login(dana)
    return client


def server(name="docs", **more):
    return McpServer.objects.create(name=name, **({"url": "https://docs.example.org/mcp"} | more))


def offer(name, **tool):
    (row,) = (row for row in mcp_servers.load_servers() if row.name == name)
    offered = {"name": "search", "description": "Finds.", "schema": {"type": "object"}, "hints": "reads only"}
    mcp_servers.save_offered(row, [Offered(**offered | tool)])
    return McpTool.objects.get()


def address(row):
    return f"{LIST}{row.pk}/change/"


def form_of(page):
    """What a browser would send back unchanged."""
    sent = {}
    for tag in re.findall(r"<input[^>]*>", page.text):
        values = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        checked = re.search(r"\schecked\b", tag)
        if values.get("type") != "checkbox" or checked:
            sent[values.get("name")] = values.get("value", "on" if checked else "")
    sent.pop("_addanother", None)
    sent.pop("_continue", None)
    return {name: value for name, value in sent.items() if name and name != "csrfmiddlewaretoken"}


PAGES = ["/admin/", LIST, ADD, f"{LIST}1/change/", f"{LIST}1/delete/", "/admin/jsi18n/", "/admin/no/such/"]


@pytest.mark.parametrize("path", [*PAGES, "/admin/login/", "/admin/logout/", "/admin/password_change/"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_for_everybody_but_staff_nothing_is_there(client, alice, bob, charlie, path, method):
    for person in (alice, bob, charlie):
        client.force_login(person)
        assert getattr(client, method)(path).status_code == 404, person
    dismissed = charlie
    dismissed.is_staff, dismissed.is_active = True, False
    dismissed.save()
    client.force_login(dismissed)
    assert getattr(client, method)(path).status_code in (302, 404)


@pytest.mark.parametrize("path", PAGES)
def test_strangers_are_sent_to_the_one_door(client, path):
    response = client.get(path)
    assert response.status_code == 302
    assert response.headers["location"] == f"/accounts/login/?next={path}"


def test_the_admins_own_door_is_ours(client):
    for path in ("/admin/login/?next=https://elsewhere.example/", "/admin/login/"):
        assert client.get(path).headers["location"] == "/accounts/login/?next=/admin/"
    data = {"username": "dana", "password": "a long enough password"}
    assert client.post("/admin/login/", data).headers["location"] == "/accounts/login/?next=/admin/"
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("path", ["/admin/tables/", LIST, ADD])
def test_pages_need_no_inline_script_and_no_inline_style(her, path):
    server()
    offer("docs")
    for each in (path, address(McpServer.objects.get(name="docs"))):
        page = her.get(each)
        assert page.status_code == 200
        assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)", page.text)
        assert "css/tokens" in page.text and "css/admin" in page.text
        assert "Back to the chat" in page.text


def test_staff_add_a_server(her):
    assert her.post(ADD, {**NEW, "command": "sh", "args": "canary"}).status_code == 302
    row = McpServer.objects.get(name="docs")
    assert (row.url, row.key_variable, row.is_on) == (NEW["url"], "DOCS_API_KEY", True)
    assert not row.private_network


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "Docs", "Enter a valid value"),
        ("name", "d_ocs", "Enter a valid value"),
        ("name", "files", "A command of MCP_SERVERS_FILE has this name."),
        ("url", "", "This field is required"),
        ("url", "docs.example.org", "It must begin with https://"),
        ("url", "file:///etc/passwd", "It must begin with https://"),
        ("url", "https://dana:secret@docs.example.org/", "It must begin with https://"),
        ("url", "https://docs.example.org/mcp?key=canary", "It must begin with https://"),
        ("url", "https://docs.example.org/\u202e", "It must begin with https://"),
        ("url", "http://docs.example.org/mcp", "A key goes only over https"),
        ("key_variable", "SECRET_KEY", "ends with _API_KEY"),
        ("key_variable", "OPENAI_API_KEY", "This is the key of a provider of models"),
    ],
)
def test_what_cannot_be_is_refused_in_words(her, field, value, words):
    page = her.post(ADD, NEW | {field: value})
    assert page.status_code == 200 and words in page.text
    assert not McpServer.objects.exclude(name="files").exists()


def test_a_command_has_its_switch_and_nothing_else_to_write_or_to_read(her):
    row = McpServer.objects.get(name="files")
    page = her.get(address(row))
    names = set(form_of(page))
    assert "is_on" in names and not names & {"name", "url", "key_variable", "private_network", "command"}
    more = {
        "url": "https://evil.example/",
        "command": "sh",
        "args": "-c",
        "name": "other",
        "private_network": "on",
    }
    sent = {name: value for name, value in form_of(page).items() if name != "is_on"} | more
    assert her.post(address(row), sent).status_code == 302
    row.refresh_from_db()
    assert (row.name, row.url, row.private_network, row.is_on) == ("files", "", False, False)
    for path in (LIST, address(row), f"{address(row)}../history/"):
        assert "canary" not in her.get(path, follow=True).text


def test_a_command_cannot_be_deleted_until_its_entry_is_gone(her):
    row, left = McpServer.objects.get(name="files"), server("gone", url="")
    assert her.post(f"{LIST}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    assert GONE in her.get(LIST).text
    assert her.post(f"{LIST}{left.pk}/delete/", {"post": "yes"}).status_code == 302
    assert [each.name for each in McpServer.objects.all()] == ["files"]


def test_a_server_is_deleted_with_its_tools(her):
    row = server()
    offer("docs")
    assert her.post(f"{LIST}{row.pk}/delete/", {"post": "yes"}).status_code == 302
    assert not McpTool.objects.exists()


def test_no_key_is_shown(her, monkeypatch):
    monkeypatch.setenv("DOCS_API_KEY", "sk-canary")
    row = server(key_variable="DOCS_API_KEY")
    for path in (LIST, address(row)):
        page = her.get(path)
        assert "canary" not in page.text
    assert "DOCS_API_KEY" in page.text


@pytest.mark.parametrize(
    ("url", "moved"),
    [
        ("https://docs.example.org/other", False),
        ("https://DOCS.example.org:443/mcp", False),
        ("https://docs.example.com/mcp", True),
        ("https://docs.example.org:8443/mcp", True),
        ("http://docs.example.org/mcp", True),
        ("https://docs.example.org.evil.example/mcp", True),
    ],
)
def test_a_changed_host_of_a_server_asks_for_its_keys_variable_anew(her, url, moved):
    row = server(key_variable="DOCS_API_KEY", private_network=True)
    answer = her.post(address(row), form_of(her.get(address(row))) | {"url": url})
    row.refresh_from_db()
    if not moved:
        assert (answer.status_code, row.url, row.key_variable) == (302, url, "DOCS_API_KEY")
        return
    assert (answer.status_code, row.url) == (200, "https://docs.example.org/mcp")
    assert "Name the variable of the key that may go there." in answer.text
    sent = form_of(answer)
    assert (sent["url"], sent["key_variable"]) == (url, "")
    assert her.post(address(row), sent | {"key_variable": "DOCS_API_KEY"}).status_code == 302
    row.refresh_from_db()
    assert (row.url, row.key_variable) == (url, "DOCS_API_KEY")


def test_what_a_tool_says_is_text_and_hides_nothing(her):
    row = server()
    offer("docs", description="<script>alert(1)</script> \u202eevil \u200b")
    text = her.get(address(row)).text
    assert "<script>alert" not in text and "&lt;script&gt;alert(1)" in text
    assert "⟨U+202E⟩evil ⟨U+200B⟩" in text and "\u202e" not in text
    assert "The server says: reads only." in text


def test_a_mark_holds_for_the_tool_that_was_seen(her):
    row = server()
    tool = offer("docs")
    sent = form_of(her.get(address(row))) | {"tools-0-safe": "on"}
    assert her.post(address(row), sent).status_code == 302
    tool.refresh_from_db()
    assert tool.safe and not tool.idempotent and tool.judged == tool.fingerprint


def test_a_mark_for_a_tool_that_changed_meanwhile_does_not_hold(her):
    row = server()
    offer("docs")
    sent = form_of(her.get(address(row))) | {"tools-0-safe": "on"}
    tool = offer("docs", description="Deletes.")
    page = her.post(address(row), sent, follow=True)
    assert "has changed meanwhile" in page.text
    tool.refresh_from_db()
    assert tool.judged != tool.fingerprint


def test_a_tool_that_changed_is_shown_unmarked_and_says_so(her):
    row = server()
    tool = offer("docs")
    her.post(address(row), form_of(her.get(address(row))) | {"tools-0-safe": "on"})
    offer("docs", description="Deletes.")
    page = her.get(address(row))
    assert "Changed since it was marked" in page.text
    assert "tools-0-safe" not in form_of(page)
    her.post(address(row), form_of(page))
    tool.refresh_from_db()
    assert tool.judged != tool.fingerprint


def test_nothing_of_a_tool_but_its_marks_can_be_written(her):
    row = server()
    tool = offer("docs")
    more = {
        "tools-0-description": "Mine.",
        "tools-0-fingerprint": "f",
        "tools-0-schema": "{}",
        "tools-0-is_on": "on",
    }
    more |= {"tools-0-name": "mine", "tools-0-judged": "j", "tools-0-in_new_conversations": "on"}
    her.post(address(row), form_of(her.get(address(row))) | more)
    before, now = tool, McpTool.objects.get()
    assert now.in_new_conversations
    assert (now.name, now.description, now.schema) == (before.name, before.description, before.schema)
    assert (now.fingerprint, now.judged) == (before.fingerprint, before.fingerprint)


def test_a_tool_of_another_server_cannot_be_marked_from_here(her):
    row, other = server(), server("other")
    offer("docs")
    sent = form_of(her.get(address(row))) | {"tools-0-safe": "on"}
    her.post(address(other), sent)
    assert not McpTool.objects.get().safe


def test_a_server_with_two_hundred_marked_tools_can_be_saved(her):
    row = server()
    (known,) = (each for each in mcp_servers.load_servers() if each.name == "docs")
    mcp_servers.save_offered(known, [Offered(f"t{n}", "", {"type": "object"}) for n in range(200)])
    marks = {
        f"tools-{n}-{mark}": "on"
        for n in range(200)
        for mark in ("safe", "idempotent", "in_new_conversations")
    }
    assert her.post(address(row), form_of(her.get(address(row))) | marks).status_code == 302
    assert McpTool.objects.filter(safe=True).count() == 200


def test_signing_out_and_the_password_are_our_own_pages(her):
    assert her.get("/admin/password_change/").headers["location"] == "/accounts/password/"
    assert her.post("/admin/logout/").headers["location"] == "/accounts/login/"
