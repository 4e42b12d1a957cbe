"""A real server dies while it looks through files, writes what is in them, or packs a zip: its successor goes on, and nothing is half there
or twice."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.browser.served import DATABASE, Served, serving, with_tables
from tests.support.patience import PATIENCE
from tests.turns.test_servers import TOKEN, until

from .over_http import LONG, TURNS, chosen, command, is_at, long_file, page

UNSEEN = "1970-01-01"


class House:
    """A server, somebody's browser, and what the rows say."""

    def __init__(self, served: Served, folder: Path) -> None:
        self.served, self._database = served, folder / DATABASE
        self.name, session = served.person()
        self._cookies = {"sessionid": session, "csrftoken": TOKEN}

    def browser(self) -> httpx.Client:
        headers = {"X-CSRFToken": TOKEN, "HX-Request": "true"}
        cookies, url = self._cookies, self.served.url
        return httpx.Client(base_url=url, cookies=cookies, headers=headers, trust_env=False, timeout=PATIENCE)

    def one(self, query: str) -> Any:
        with closing(sqlite3.connect(self._database, timeout=PATIENCE)) as connection:
            return connection.execute(query).fetchone()[0]

    @property
    def hidden(self) -> int:
        """Messages of what nobody sees yet."""
        return int(
            self.one(
                "SELECT COUNT(*) FROM chatapp_message m JOIN chatapp_conversation c ON c.id = m.conversation_id "
                f"WHERE c.deleted_at LIKE '{UNSEEN}%'"
            )
        )

    @property
    def conversations(self) -> list[int]:
        """How many messages those have that are there."""
        counts = self.one(
            "SELECT json_group_array(n) FROM (SELECT COUNT(m.id) AS n FROM chatapp_conversation c "
            "LEFT JOIN chatapp_message m ON m.conversation_id = c.id WHERE c.deleted_at IS NULL GROUP BY c.id ORDER BY n)"
        )
        return list(json.loads(counts))


@pytest.fixture
def house(tmp_path) -> Iterator[House]:
    with serving(with_tables(tmp_path), {}) as served:
        made = House(served, tmp_path)
        yield made
        assert served.clerk("breaches") == []


def test_who_dies_while_files_are_looked_through_has_a_successor_who_looks_through_them(house):
    with house.browser() as she:
        brought = chosen(she, long_file(300, letters=100_000))
        command(she, brought, "check")
        until(lambda: house.one("SELECT runner FROM chatapp_import"))
        house.served.kill()
    assert house.one("SELECT state FROM chatapp_import") == "checking"
    house.served.start()
    with house.browser() as she:
        until(lambda: is_at(she, "checked"))
        assert "Import 3 conversations" in page(she)
        assert house.one("SELECT COUNT(*) FROM chatapp_importedconversation") == 3
        command(she, brought, "end")
        assert is_at(she, "choosing")
    assert (house.conversations, house.one("SELECT COUNT(*) FROM chatapp_importpiece")) == ([], 0)


def test_who_dies_while_it_is_written_has_a_successor_who_writes_all_of_it_once_and_it_can_be_undone(house):
    with house.browser() as she:
        brought = chosen(she, long_file())
        command(she, brought, "check")
        until(lambda: is_at(she, "checked"))
        command(she, brought, "start")
        until(lambda: house.hidden > LONG / 20)
        house.served.kill()
    assert house.conversations == [2] and 0 < house.hidden < LONG
    house.served.start()
    with house.browser() as she:
        assert is_at(she, "coming") and not re.search(rf">[0-9] of {LONG + 4:,} messages", page(she))
        until(lambda: is_at(she, "choosing"))
        assert "Undo the import of kept.json" in page(she)
        assert (house.conversations, house.hidden) == ([2, 2, LONG], 0)
        assert house.one("SELECT messages FROM chatapp_import") == LONG + 4
        assert house.one("SELECT COUNT(*) FROM chatapp_importpiece") == 0
        assert house.served.clerk("breaches") == []
        command(she, brought, "end")
        assert house.conversations == []


def test_who_dies_while_a_zip_is_packed_has_a_successor_who_packs_it_anew(house):
    house.served.clerk("conversation", owner=house.name, turns=TURNS)
    with house.browser() as she:
        assert she.post("/settings/export/").status_code == 200
        until(lambda: house.one("SELECT done FROM chatapp_archive"))
        assert "conversation 0 of 1" in she.get("/settings/export/").text
        house.served.kill()
    assert house.one("SELECT state FROM chatapp_archive") == "making"
    house.served.start()
    with house.browser() as she:
        until(lambda: house.one("SELECT state FROM chatapp_archive") == "ready")
        link = re.search(r'href="(/settings/export/[^"]+)" download', she.get("/settings/export/").text)
        assert link
        packed = zipfile.ZipFile(io.BytesIO(she.get(link[1]).content))
        assert packed.testzip() is None
        (told,) = json.loads(packed.read("conversations.json"))["conversations"]
        assert len(told["messages"]) == 2 * TURNS
