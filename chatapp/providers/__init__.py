"""The list of wires, by the name of their dialect. No Django here."""

from __future__ import annotations

from .anthropic import messages as anthropic_messages
from .base import Wire
from .chat import completions as chat_completions
from .openai import responses as openai_responses

WIRES: dict[str, Wire] = {
    wire.dialect: wire for wire in (openai_responses.WIRE, anthropic_messages.WIRE, chat_completions.WIRE)
}
