"""Several that are started at once on a database in which there is nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.deploy.proxied import databases
from tests.support.shell import Shell


def test_one_makes_the_tables_and_the_others_wait(tmp_path):
    with databases() as shared:
        if not shared:
            pytest.skip("NOT TESTED: several at once on PostgreSQL, which is not here, or Redis")

        def ask(n):
            return Shell(tmp_path / str(n)).run(
                "ask", "Hello", "--model", "demo:thinker", DATABASE_URL=shared["DATABASE_URL"]
            )

        with ThreadPoolExecutor() as together:
            ended = list(together.map(ask, range(3)))
    assert [each.returncode for each in ended] == [0, 0, 0], [each.stderr for each in ended]
