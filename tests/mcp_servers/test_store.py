"""What servers say of their tools, and what staff say of them."""

from __future__ import annotations

import pytest

from chatapp.mcp_servers import store as mcp_servers
from chatapp.mcp_servers.models import McpServer, McpTool
from chatapp.tools.mcp.offered import Offered

pytestmark = [pytest.mark.django_db, pytest.mark.both]


def offered(name="search", description="Finds.", **schema):
    return Offered(name, description, {"type": "object"} | schema, "reads only")


@pytest.fixture
def docs():
    return McpServer.objects.create(name="docs", url="https://docs.example.org/mcp")


def row():
    (server,) = mcp_servers.load_servers()
    return server


def only() -> McpTool:
    return McpTool.objects.get()


def mark(seen=None, **said):
    told = {"safe": True, "idempotent": True, "is_on": True, "in_new_conversations": False} | said
    return mcp_servers.judge_tool(only().pk, seen=seen or only().fingerprint, **told)


def test_what_is_listed_again_unchanged_changes_nothing(docs):
    mcp_servers.save_offered(row(), [offered()])
    before = row()
    mcp_servers.save_offered(row(), [offered()])
    assert row() == before


def test_a_tool_is_neither_safe_nor_usual_by_itself_whatever_its_server_claims(docs):
    mcp_servers.save_offered(row(), [offered()])
    tool = only()
    assert (tool.safe, tool.idempotent, tool.in_new_conversations, tool.judged) == (False, False, False, "")
    assert tool.hints == "reads only"


@pytest.mark.parametrize("changed", [offered(description="Deletes."), offered(required=["all"])])
def test_what_was_said_of_a_tool_does_not_hold_for_a_changed_one(docs, changed):
    mcp_servers.save_offered(row(), [offered()])
    assert mark()
    mcp_servers.save_offered(row(), [changed])
    assert only().safe and only().judged != only().fingerprint
    mcp_servers.save_offered(row(), [offered()])
    assert only().judged == only().fingerprint


def test_a_mark_for_what_was_seen_says_nothing_of_what_is_there_by_now(docs):
    mcp_servers.save_offered(row(), [offered()])
    seen = only().fingerprint
    mcp_servers.save_offered(row(), [offered(description="Deletes.")])
    assert not mark(seen=seen)
    assert only().judged != only().fingerprint


def test_a_tool_that_is_not_listed_any_more_is_forgotten_unless_staff_said_something(docs):
    mcp_servers.save_offered(row(), [offered("search"), offered("open")])
    switched = McpTool.objects.get(name="open")
    mcp_servers.judge_tool(
        switched.pk, seen="", safe=False, idempotent=False, is_on=False, in_new_conversations=False
    )
    mcp_servers.save_offered(row(), [])
    assert (only().name, only().is_listed) == ("open", False)
    assert mcp_servers.load_tools() == []
    mcp_servers.save_offered(row(), [offered("open")])
    assert only().is_listed and not only().is_on


def test_at_another_address_nothing_has_been_said(docs):
    mcp_servers.save_offered(row(), [offered()])
    mark()
    docs.url = "https://other.example.org/mcp"
    mcp_servers.save_server(docs)
    assert only().judged == ""


def test_what_was_found_at_the_old_address_is_not_stored(docs):
    old = row()
    McpServer.objects.update(url="https://other.example.org/mcp")
    mcp_servers.save_offered(old, [offered()])
    assert not McpTool.objects.exists()


def test_what_a_deleted_server_offered_is_nobodys(docs):
    old = row()
    docs.delete()
    mcp_servers.save_offered(old, [offered()])
    assert not McpTool.objects.exists()


def test_every_change_is_seen_by_other_processes(docs):
    looks = [row()]
    for change in (
        lambda: mcp_servers.save_offered(row(), [offered()]),
        mark,
        lambda: mcp_servers.save_offered(row(), [offered(description="Else.")]),
        lambda: mcp_servers.save_offered(row(), []),
        lambda: mcp_servers.save_server(docs),
    ):
        change()
        looks.append(row())
    assert len(set(looks)) == len(looks)


def test_a_command_gets_its_row_once_and_an_address_keeps_its_own(docs):
    for _ in range(2):
        mcp_servers.register_commands(["docs", "files"])
    assert [(server.name, server.url) for server in mcp_servers.load_servers()] == [
        ("docs", "https://docs.example.org/mcp"),
        ("files", ""),
    ]
