"""What was said before is made ready to be found by a server that runs, in one process or many; one of them does it."""

from __future__ import annotations

import asyncio

import pytest

from chatapp import store
from chatapp.search.models import FoldedItem, FoldingMark, GramSegment
from chatapp.search.part import Searchable
from chatapp.search.store import grams
from chatapp.search.store.everywhere import find_everywhere
from chatapp.search.verify import index_breaches
from chatapp.store import AskedFor, in_thread
from tests.support.front import house
from tests.support.make import text, thought
from tests.support.reviewed import end
from tests.support.stage import play, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both, pytest.mark.across]


def is_ready() -> bool:
    return FoldedItem.objects.count() == 18 and GramSegment.objects.count() >= 2


def test_two_parts_make_it_ready_once(alice, monkeypatch, caplog):
    monkeypatch.setattr(grams, "SIZE", 8)
    for n in range(6):
        started = store.open_conversation(
            alice, f"question {n}", tools=[], asked=AskedFor(model="demo:thinker")
        )
        end(started.answer, [thought(text=f"thought {n}"), text(text=f"answer {n}")])
    FoldedItem.objects.all().delete()

    async def story():
        async with house():
            two = [Searchable(name, soon=0.0, seldom=0.05) for name in ("one", "another")]
            parts = [asyncio.create_task(each.keep()) for each in two]
            await until(in_thread(is_ready))
            for each in parts:
                each.cancel()
            await asyncio.gather(*parts, return_exceptions=True)

    play(story())
    assert FoldingMark.objects.count() == 1 and "could not be made" not in caplog.text
    assert list(index_breaches()) == []
    assert len(find_everywhere(("thought",)).items) == 6
    assert [item.text for item in find_everywhere(("question", "3")).items] == ["question 3"]
