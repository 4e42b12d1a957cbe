"""A model that takes no pictures is told in words that one stood there, and so is the program."""

from __future__ import annotations

import json

import pytest

from chatapp.providers import WIRES
from chatapp.providers.configured import Catalog
from chatapp.providers.local.provider import LocalProvider
from tests.support.front import house
from tests.support.stage import play

from .doors import DOORS
from .house import Program, key_of
from .scripts import model

pytestmark = pytest.mark.django_db(transaction=True)
PARTS = {
    "chat": {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    "responses": {"type": "input_image", "image_url": "https://example.org/a.png"},
    "messages": {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
}


class Place:
    """The tiny model of this machine, for which the fake stands in."""

    def __init__(self, url: str) -> None:
        self.sentence, self.base_url, self.key = "It is ready.", url, "sk-org-local"


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_the_tiny_model_is_told_that_a_picture_stood_there(up, alice, door):
    name = model(up, "responses", "plain").removeprefix("openai:")
    place = Place(up.url)

    async def story():
        async with house() as engine:
            tiny = LocalProvider(lambda: place, WIRES["chat"], label="Tiny", window=4096)
            engine.catalog = Catalog((), beside=[tiny])
            program = Program(await key_of(alice))
            text = "input_text" if door.name == "responses" else "text"
            content = [{"type": text, "text": "What is it?"}, PARTS[door.name]]
            body = door.body(f"local:{name}", [{"role": "user", "content": content}], (), stream=False)
            answered = await program.ask(door, body)
            assert answered.headers["x-thoughtline-left-out"] == "attachments"

    play(story())
    (request,) = up.requests()
    said = json.dumps(request["body"])
    assert "What is it?" in said and "A picture stood here." in said and "example.org" not in said
