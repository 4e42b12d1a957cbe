"""What models say to the official clients, and the models of each wire that say it."""

from __future__ import annotations

from typing import Any

from .talks import calls, thinks

# By the wire behind the doors.
WIRES = {"responses": "openai:{}", "messages": "anthropic:{}", "chat": "deepseek:{}@deepseek"}
PERSON = {"name": "Ada", "age": 36, "tags": ["a", "ü"]}
SCRIPTS: dict[str, Any] = {
    "weather": {
        "turns": [
            {"items": [thinks("Plan"), calls("get_weather", city="Rome"), calls("get_weather", city="Zürich")]},
            {"items": [thinks("Sum"), {"text": "It says: {{tool_output}}"}]},
        ]
    },
    "person": {"turns": [{"items": [thinks("Who"), {"text": '{"name": "Ada", "age": 36, "tags": ["a", "ü"]}'}]}]},
    "slow": {
        "speed": {"tps": 10, "chunk": 4},
        "turns": [{"items": [thinks("Long"), {"text": "many words, " * 400}]}],
    },
    "busy": {"turns": [{"faults": [{"kind": "http", "status": 429, "retry_after": 1}], "items": [{"text": "no"}]}]},
    "refusing": {"turns": [{"items": [thinks("Weigh"), {"refusal": "I will not."}]}, {"items": [{"text": "Sunny."}]}]},
    "cut": {"turns": [{"items": [thinks("Long"), {"text": "Half an"}], "finish": "incomplete"}]},
}  # fmt: skip


def model(up: Any, wire: str, name: str) -> str:
    """The whole name of a model that says it, or of one of the fake's own scenarios."""
    scenario = up.add(f"mine-sdk-{name}", SCRIPTS[name]) if name in SCRIPTS else f"scenario:{name}"
    return WIRES[wire].format(scenario)


def one_request(up: Any) -> dict[str, Any]:
    (request,) = up.requests()
    found: dict[str, Any] = request
    return found


def thoughts_sent(body: dict[str, Any]) -> int:
    """In whatever words."""
    rows = body.get("input") or body.get("messages") or []
    inside = [row["content"] for row in rows if isinstance(row.get("content"), list)]
    blocks = [block for content in inside for block in content]
    kinds = [row.get("type") for row in [*rows, *blocks]]
    return (
        kinds.count("reasoning")
        + kinds.count("thinking")
        + sum(bool(row.get("reasoning_content")) for row in rows)
    )
