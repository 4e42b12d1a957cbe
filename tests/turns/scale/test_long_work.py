"""What takes long is done by those that work and seen at those that serve: whoever of them dies or freezes at it leaves nothing half and
writes nothing twice."""

from __future__ import annotations

import io
import re
import signal
import zipfile
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings

if not settings.REDIS_URL:
    pytest.skip("Across processes only: ./check tells it Redis' address.", allow_module_level=True)
pytest.importorskip("aiohttp", reason="SKIPPED LOUDLY: aiohttp is not installed, so no processes were tried.")

from tests.exchange.over_http import LONG, TURNS, chosen, command, is_at, long_file, page
from tests.turns.test_servers import until

from .deployed import Deployed, Person, Worker

pytestmark = [pytest.mark.across, pytest.mark.timeout(180)]
# What a busy machine takes besides.
WITHIN = 90
MINE = "FROM chatapp_conversation c JOIN auth_user u ON u.id = c.owner_id WHERE u.username = %s"


class Bringing:
    """Somebody's import, which waits for their word after it was looked through."""

    def __init__(self, house: Deployed, data: bytes) -> None:
        self.house, self.she = house, Person(house.webs[0])
        with self.she.at(house.webs[0]) as client:
            self.brought = chosen(client, data)
            command(client, self.brought, "check")
        self.until_it_is("checked")

    def until_it_is(self, step: str) -> None:
        for web in self.house.webs:
            with self.she.at(web) as client:
                until(lambda client=client: is_at(client, step), within=WITHIN)

    def starts(self) -> Worker:
        """Who is at it, in the middle."""
        with self.she.at(self.house.webs[1]) as client:
            command(client, self.brought, "start")
        until(lambda: self.hidden > LONG / 20)
        return at(self.house, "import", self.brought)

    @property
    def hidden(self) -> int:
        query = f"SELECT COUNT(*) AS n FROM chatapp_message WHERE conversation_id IN (SELECT c.id {MINE} AND c.deleted_at < '1971-01-01')"
        return int(self.house.read(query, self.she.name)[0]["n"])

    @property
    def conversations(self) -> list[int]:
        """How many messages those have that are there."""
        count = "(SELECT COUNT(*) FROM chatapp_message m WHERE m.conversation_id = c.id)"
        query = f"SELECT {count} AS n {MINE} AND c.deleted_at IS NULL ORDER BY n"
        return [row["n"] for row in self.house.read(query, self.she.name)]


def at(house: Deployed, table: str, id: Any) -> Worker:
    (row,) = house.read(f"SELECT runner FROM chatapp_{table} WHERE id = %s", id)
    return next(worker for worker in house.workers if worker.name == row["runner"])


def assert_whole(house: Deployed) -> None:
    verified = house.run("verify_log")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_an_import_goes_on_at_another_worker_when_one_is_killed_and_every_page_shows_how_far_it_is(house):
    hers = Bringing(house, long_file())
    killed = hers.starts()
    killed.kill()
    assert 0 < hers.hidden < LONG
    for web in house.webs:
        with hers.she.at(web) as client:
            assert f"of {LONG + 4:,} messages" in page(client)
    hers.until_it_is("choosing")
    assert (hers.conversations, hers.hidden) == ([2, 2, LONG], 0)
    assert house.read("SELECT messages FROM chatapp_import WHERE id = %s", hers.brought) == [
        {"messages": LONG + 4}
    ]
    assert_whole(house)
    with hers.she.at(house.webs[1]) as client:
        command(client, hers.brought, "end")
    assert hers.conversations == []


def test_a_worker_that_froze_while_it_wrote_and_wakes_writes_nothing_twice(house):
    hers = Bringing(house, long_file())
    frozen = hers.starts()
    frozen.send(signal.SIGSTOP)
    hers.until_it_is("choosing")
    frozen.send(signal.SIGCONT)
    # It takes another one when it has let go of this one, and there is nobody else.
    (other,) = (worker for worker in house.workers if worker is not frozen)
    other.kill()
    his = Bringing(house, long_file(2))
    assert his.conversations == []
    assert (hers.conversations, hers.hidden) == ([2, 2, LONG], 0)
    assert_whole(house)


def test_a_zip_is_packed_by_a_worker_anew_when_one_is_killed_and_fetched_anywhere(house):
    she = Person(house.webs[0])
    house.webs[0].clerk("conversation", owner=she.name, turns=TURNS)
    with she.at(house.webs[0]) as client:
        begun = client.post("/settings/export/").text
        pk = UUID(re.findall(r"/settings/export/([0-9a-f-]{36})/remove/", begun)[0])
    row = "SELECT * FROM chatapp_archive WHERE id = %s"
    until(lambda: house.read(row, pk)[0]["done"])
    at(house, "archive", pk).kill()
    with she.at(house.webs[1]) as client:
        assert "Preparing your zip" in client.get("/settings/export/").text
        until(lambda: house.read(row, pk)[0]["state"] == "ready", within=WITHIN)
        assert zipfile.ZipFile(io.BytesIO(client.get(f"/settings/export/{pk}/").content)).testzip() is None
