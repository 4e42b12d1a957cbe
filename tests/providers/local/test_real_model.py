"""The real tiny model answers real turns over its three wires, thinking each time, and takes its thoughts back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chatapp.core.items import Kind
from chatapp.providers import WIRES
from chatapp.providers import local as local_model
from chatapp.providers.base import Endpoint
from chatapp.providers.configured import Catalog
from chatapp.providers.local import LocalModel, ProcessState, install
from chatapp.providers.local.provider import LocalProvider
from chatapp.store.models import Status
from tests.support.stage import play, stage

from .test_process import clear, settled

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        bool(install.missing()),
        reason="SKIPPED LOUDLY: the local model is not installed, so it was not asked.",
    ),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Iterator[LocalModel]:
    folder = tmp_path_factory.mktemp("local")
    local_model.start_beside(folder)
    found = settled(folder)
    assert found.state is ProcessState.READY, found.sentence
    yield found
    clear(folder)


def catalog(place: LocalModel, dialect: str) -> Catalog:
    if dialect == "chat":
        return Catalog((), beside=[LocalProvider(lambda: place, WIRES["chat"], label="Local", window=4096)])
    base_url = place.base_url.removesuffix("/v1") if dialect == "messages" else place.base_url
    return Catalog([Endpoint(name="local", dialect=dialect, base_url=base_url, key=place.key, label="Local")])


@pytest.mark.parametrize("dialect", ["chat", "responses", "messages"])
def test_it_thinks_and_answers_and_goes_on(place, tmp_path, dialect):
    async def story():
        async with stage(catalog(place, dialect), tmp_path, model="local:smollm2", tools={}) as on:
            first = await on.ask("Name three colours.")
            assert first.status == Status.COMPLETE, first.metadata.get("ended")
            items = await on.items(first.id)
            assert [item.kind for item in items] == [Kind.REASONING, Kind.ASSISTANT_MESSAGE]
            assert all(item.text.strip() for item in items)
            thought = items[0].key
            assert first.metadata["reasoning_durations_ms"][thought] > 0
            assert "inferred" not in first.metadata["timings_ms"][thought]
            second = await on.ask("And one more?", at=first.id)
            assert second.status == Status.COMPLETE, second.metadata.get("ended")
            assert (
                second.metadata["rounds"][0]["replayed"]
                + sum(second.metadata["rounds"][0]["dropped"].values())
                == 1
            )
            assert "repaired" not in second.metadata["rounds"][0]

    play(story())
