"""The tests' own house: it dies and comes back where it was, with the people and the rows that the clerk made."""

from __future__ import annotations

from urllib.request import urlopen

import pytest

from tests.support.patience import PATIENCE

from .served import Served, serving, with_tables


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serving(with_tables(tmp_path_factory.mktemp("served")), {}) as served:
        yield served


def answers(served: Served) -> int:
    with urlopen(f"{served.url}health/ready", timeout=PATIENCE) as answer:
        status: int = answer.status
    return status


def test_it_is_back_at_its_address_after_it_was_killed(served):
    address = served.url
    served.kill()
    with pytest.raises(OSError):
        answers(served)
    served.start()
    assert (served.url, answers(served)) == (address, 200)


def test_the_clerk_makes_conversations_that_verify(served):
    name, _ = served.person()
    served.clerk("conversation", owner=name, turns=3)
    assert served.clerk("breaches") == []
    assert served.clerk("running") == 0


def test_two_people_never_share_a_name(served):
    assert served.person()[0] != served.person()[0]
