"""How a model is named everywhere."""

from __future__ import annotations

import pytest

from chatapp.core.model_name import ModelName


@pytest.mark.parametrize(
    ("text", "provider", "own"),
    [("openai:gpt-5", "openai", "gpt-5"), ("ollama:qwen3:8b", "ollama", "qwen3:8b")],
)
def test_a_model_is_named_by_its_provider_and_there(text, provider, own):
    name = ModelName.of(text)
    assert (name.provider, name.own, name.is_whole, str(name)) == (provider, own, True, text)


@pytest.mark.parametrize("text", ["", ":", "gpt-5", "openai:", ":gpt-5"])
def test_half_a_name_is_none(text):
    assert not ModelName.of(text).is_whole
