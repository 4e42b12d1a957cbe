"""Answers as providers really give them, for referees that know the protocol."""

from __future__ import annotations

from chatapp.core.events import Event, Finish, ItemDelta, ItemDone, ItemStarted, Retrying
from chatapp.core.items import Kind

from .said import call, item, message, thought

WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
ASKED = {
    "instructions": "Be brief.",
    "tools": [WEATHER],
    "tool_choice": "auto",
    "reasoning": {"effort": "high", "summary": "auto"},
    "text": {"format": {"type": "json_schema", "name": "answer", "schema": {"type": "object"}}},
    "metadata": {"run": "7"},
    "include": ["reasoning.encrypted_content"],
    "max_output_tokens": 100,
    "temperature": 0.5,
}
REFUSAL = {"type": "message", "content": [{"type": "refusal", "refusal": "I will not."}]}
CITED = {
    "type": "message",
    "phase": "final_answer",
    "content": [
        {
            "type": "output_text",
            "text": "Warm.",
            "annotations": [
                {
                    "type": "url_citation",
                    "url": "https://a.example",
                    "title": "A",
                    "start_index": 0,
                    "end_index": 4,
                }
            ],
        }
    ],
}

ANSWERS: dict[str, list[Event]] = {
    "nothing": [],
    "words": message("a", "Hel", "lo."),
    "a thought and words": [*thought("t", "Let me ", "see."), *message("a", "Hello.")],
    "a thought without a word": [ItemDone(item("t", Kind.REASONING)), *message("a", "Hello.")],
    "two calls": [
        *thought("t", "Two."),
        *call("a", "get_weather", '{"city":', '"Rome"}'),
        *call("b", "get_weather"),
    ],
    "calls one in the other": [
        ItemStarted("a", Kind.TOOL_CALL, "get_weather", "x"),
        ItemStarted("b", Kind.TOOL_CALL, "get_weather", "y"),
        ItemDelta("b", '{"city":1}'),
        ItemDelta("a", "{}"),
        ItemDone(item("b", Kind.TOOL_CALL, '{"city":1}', name="get_weather")),
        ItemDone(item("a", Kind.TOOL_CALL, "{}", name="get_weather")),
    ],
    "a refusal": [ItemDone(item("a", text="I will not.", wire=REFUSAL, dialect="responses"))],
    "what was cited": [ItemDone(item("a", text="Warm.", wire=CITED, dialect="responses"))],
    "a lost thought": [
        ItemStarted("t", Kind.REASONING),
        ItemDelta("t", "Let me"),
        Retrying(1.0, "again", ("t",)),
        *thought("u", "Once more."),
        *message("a", "Hello."),
    ],
    "no end": [ItemStarted("a", Kind.ASSISTANT_MESSAGE), ItemDelta("a", "Hel")],
}
ENDS = [Finish.STOP, Finish.LENGTH, Finish.FILTER, None]
