"""How a model is named everywhere: `openai:gpt-5`."""

from __future__ import annotations

from typing import NamedTuple


class ModelName(NamedTuple):
    """Whose it is, and what it is called there; empty where the name does not say."""

    provider: str
    own: str

    @classmethod
    def of(cls, text: str) -> ModelName:
        provider, _, own = text.partition(":")
        return cls(provider, own)

    @property
    def is_whole(self) -> bool:
        return bool(self.provider and self.own)

    def __str__(self) -> str:
        return f"{self.provider}:{self.own}"
