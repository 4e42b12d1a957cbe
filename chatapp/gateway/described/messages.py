"""`/v1/messages` and `count_tokens`: what they take and give."""

from __future__ import annotations

from ..doors.messages.history import ROLES
from ..doors.messages.tools import CHOICES
from .schema import any_object, either, flag, given, one_of, or_null, rows, taken, text, whole
from .shared import HOTTEST, MODEL, MOST_OUTPUT, TOP_P, counted

BLOCK = taken(
    {"type": text("`text`, `image`, `document`, `thinking`, `tool_use`, `tool_result`, …", minLength=1)}
)
CONTENT = either(text(), rows(BLOCK))
MESSAGE = taken({"role": one_of(ROLES), "content": CONTENT})
TOOL = taken(
    {"name": text(minLength=1)},
    {"type": text(), "description": text(), "input_schema": any_object(), "strict": flag()},
)
DISPLAY = text("With `omitted` thoughts come without their words.")
COUNTED = taken(
    {"messages": rows(MESSAGE, minItems=1)},
    {
        "model": MODEL,
        "system": CONTENT,
        "tools": rows(either(TOOL, any_object())),
        "tool_choice": taken({"type": one_of(CHOICES)}, {"name": {}, "disable_parallel_tool_use": flag()}),
        "thinking": taken({}, {"type": text(), "budget_tokens": MOST_OUTPUT, "display": DISPLAY}),
        "output_config": taken({}, {"effort": text(), "format": any_object()}),
        "output_format": any_object(),
        "betas": rows(text()),
    },
)
MORE = {
    "stream": flag("As it comes, as server-sent events, or whole."),
    "max_tokens": MOST_OUTPUT,
    "temperature": HOTTEST,
    "top_p": TOP_P,
    "stop_sequences": rows(text()),
}
REQUEST = COUNTED | {
    "properties": COUNTED["properties"] | {name: or_null(schema) for name, schema in MORE.items()}
}
ANSWER = given(
    id=text("`msg_…`"),
    type=one_of(["message"]),
    role=one_of(["assistant"]),
    model=text(),
    content=rows(given(type=text())),
    stop_reason=one_of(["end_turn", "tool_use", "max_tokens", "refusal", "pause_turn"]),
    stop_sequence=or_null(text()),
    usage=given(
        input_tokens=counted(),
        cache_creation_input_tokens=counted(),
        cache_read_input_tokens=counted(),
        output_tokens=counted(),
    ),
)
EVENT = given(
    "One frame of a stream; the last one is `message_stop`, or `error` where it failed midway.", type=text()
)
TOKENS = given(input_tokens=whole("About how many.", minimum=1))
