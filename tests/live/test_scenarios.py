"""Every public scenario of the fake providers as pages watch it: from the start, from the middle, and through breaks of the line."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.providers import LINES, TOOLS, Line, catalog_for
from tests.support.stage import play, stage
from tests.support.tabs import Tab
from tests.turns.test_scenarios import FAILING, GOOD, HEAVY, SILENCE

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

THREE = [LINES[0], LINES[1], LINES[2]]
SCENARIOS = [*(name for name in GOOD if name not in HEAVY), *FAILING, "incomplete", "drop-midstream"]


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("line", THREE, ids=str)
def test_every_scenario_ends_as_a_reload_shows_it(up, tmp_path, line: Line, name: str):
    async def story():
        catalog = catalog_for(up, silence=SILENCE.get(name, 30.0))
        async with stage(catalog, tmp_path, model=line.model(name), tools=TOOLS) as on:
            early, restless, late = Tab(on), Tab(on), Tab(on)
            await early.open()
            await restless.open()
            answer = await on.begin("First question?")
            breaking = asyncio.create_task(_break(restless))
            await early.sees(lambda screen: screen.articles)
            await late.open()
            await on.end(answer)
            breaking.cancel()
            restless.join()
            for tab in (early, restless, late):
                await tab.sees_the_end()
                await tab.looks_as_if_just_loaded()

    play(story())


async def _break(tab: Tab) -> None:
    while True:
        await asyncio.sleep(0.02)
        tab.join()
