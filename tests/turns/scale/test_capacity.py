"""What `docs/scale.md` says that a crowd needs follows from what was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.capacity.document import DOCUMENT, PEOPLE, documented
from bench.capacity.model import BUS, PLACES, SERVES, WORKS, Crowd, need, reached
from bench.capacity.points import PARTS, PROOF, costs, load_points

POINTS = load_points()
COSTS = costs(POINTS)
# A point that is worked out from others, and one that the costs are worked out from.
FAR, NEAR = 0.25, 0.15
# Below this the clock's ticks say more than the work.
TOLD = 1.0


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("part", PARTS)
def test_costs_say_again_what_was_measured(name, part):
    point = POINTS[name]
    if point.cpu[part] >= TOLD:
        said = COSTS[part].of(point.work, part)
        assert said == pytest.approx(point.cpu[part], rel=FAR if name == PROOF else NEAR)


def test_a_point_that_grows_by_half_is_noticed():
    """So costs do not follow whatever is measured."""
    proof = POINTS[PROOF]
    more = replace(proof, cpu={part: 1.5 * used for part, used in proof.cpu.items()})
    assert costs(POINTS | {PROOF: more}) == COSTS


def test_the_document_says_what_is_worked_out():
    text = DOCUMENT.read_text()
    assert documented(text) == text, "python -m bench.capacity --document writes it."


def test_twice_as_many_people_need_about_twice_as_much():
    one, two = (need(Crowd(people=people), COSTS) for people in (100_000, 200_000))
    assert one
    assert two
    assert 1.9 <= two.cores["redis"] / one.cores["redis"] <= 2.1
    assert 1.9 <= two.web / one.web <= 2.4
    assert 1.9 <= two.gigabytes_a_day / one.gigabytes_a_day <= 2.1


def test_nobody_is_alone_and_nobody_is_needed_twice():
    few = need(Crowd(people=1), COSTS)
    assert few
    assert (few.web, few.work, few.buses) == (2, 2, 1)


def test_where_all_time_goes_into_hearing_there_is_no_number_of_processes():
    assert need(Crowd(people=100_000_000), COSTS) is None


def test_a_limit_is_met_at_as_many_people_as_it_says():
    for people in reached(Crowd(people=0), COSTS).values():
        assert 1_000 < people < 100 * max(PEOPLE)


def test_it_counts_connections_and_turns_as_the_product_has_them():
    pytest.importorskip("procrastinate", reason="SKIPPED LOUDLY: what fetches jobs is not installed.")
    from chatapp.config.databases import _POOL
    from chatapp.turns.scale import jobs, redis, runner

    pool = _POOL["max_size"]
    assert (pool + 1, pool + 1 + jobs.CONNECTIONS) == (SERVES, WORKS)
    assert (BUS, PLACES) == (redis.CONNECTIONS, runner.PLACES)
