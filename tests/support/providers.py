"""Catalogs that ask the fake providers, without waiting between tries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from chatapp.core.contracts import Contract, contract_for
from chatapp.providers import WIRES
from chatapp.providers.base import Endpoint, ModelSpec
from chatapp.providers.configured import Catalog
from chatapp.providers.demo import DemoProvider
from chatapp.providers.http import HttpProvider
from chatapp.providers.reader import StreamLimits
from chatapp.tools.base import Tool, tool

COMPATIBLE = [
    "deepseek-turn",
    "deepseek-v3.2",
    "deepseek-r1",
    "kimi",
    "mimo",
    "glm",
    "qwen",
    "vllm",
    "sglang",
    "llamacpp",
    "think-tags",
    "think-noopen",
    "gemini",
    "openai",
    "groq",
    "mistral",
]


@dataclass(frozen=True)
class Line:
    """A provider as it is asked: what stands before and after the scenario in the model's name. `open`: of a server that
    nobody knows, with no row of its own."""

    provider: str
    dialect: str
    suffix: str = ""
    open: bool = False

    def model(self, scenario: str, variant: str = "") -> str:
        return f"{self.provider}:scenario:{scenario}{self.suffix}{variant}"

    def __str__(self) -> str:
        return f"{self.provider}{self.suffix}"


LINES = [
    Line("openai", "responses"),
    Line("anthropic", "messages"),
    Line("deepseek", "chat", "@deepseek"),
    Line("openrouter", "chat", "@openrouter"),
    Line("ollama", "chat", "@ollama"),
    *(Line("compatible", "chat", f"@{profile}") for profile in COMPATIBLE),
]


# The same scenarios as servers play them of which no row speaks: not by their host, nor by a model's name.
UNKNOWN = [
    Line("stranger", "responses", open=True),
    Line("visitor", "messages", open=True),
    Line("compatible", "chat", open=True),
]
# Whom the fake stands for: rows know these by their hosts.
HOSTS = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "deepseek": "https://api.deepseek.com",
    "openrouter": "https://openrouter.ai/api/v1",
    "ollama": "http://localhost:11434/v1",
}


class StandIn(HttpProvider):
    """Asks the fake as if it were at the address of whom it stands for."""

    @property
    def known(self) -> Endpoint:
        return replace(self.endpoint, base_url=HOSTS.get(self.endpoint.name, self.endpoint.base_url))

    def model(self, name: str) -> ModelSpec:
        return self.wire.model(self.known, {"id": name})

    def contract(self, model: ModelSpec) -> Contract:
        return contract_for(model.dialect, model=model.name, host=self.known.host)


async def at_once(seconds: float) -> None:
    """Instead of waiting."""


def catalog_for(up: Any, *, key: str = "sk-org-test", silence: float = 30.0) -> Catalog:
    urls = {
        "openai": up.url,
        "anthropic": up.root,
        "visitor": up.root,
        "deepseek": up.root,
        "openrouter": up.root + "/api/v1",
    }
    dialects = {
        "openai": "responses",
        "anthropic": "messages",
        "stranger": "responses",
        "visitor": "messages",
    }
    endpoints = [
        Endpoint(
            name=name,
            dialect=dialects.get(name, "chat"),
            base_url=urls.get(name, up.url),
            key=key,
            label=name,
        )
        for name in (*HOSTS, "compatible", "stranger", "visitor")
    ]
    limits = StreamLimits(silence=silence)
    return Catalog(
        endpoints,
        make=lambda it: StandIn(it, WIRES[it.dialect], sleep=at_once, limits=limits),
        demo=DemoProvider(sleep=at_once),
    )


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


def find_city(query: str) -> str:
    """Finds a city."""
    return "Rome"


def get_time() -> str:
    """The time."""
    return "noon"


def search(q: str) -> str:
    """Searches."""
    return f"three pages about {q}"


TOOLS: dict[str, Tool] = {
    each.__name__: tool(each, safe=True, idempotent=True)
    for each in (get_weather, find_city, get_time, search)
}
