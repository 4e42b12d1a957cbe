"""The list of wires, by the name of their dialect. No Django here."""

from __future__ import annotations

from . import anthropic_messages, chat_completions, openai_responses
from .base import Wire

WIRES: dict[str, Wire] = {
    wire.dialect: wire for wire in (openai_responses.WIRE, anthropic_messages.WIRE, chat_completions.WIRE)
}
