"""`/v1/chat/completions`: what it takes and gives."""

from __future__ import annotations

from ..doors.chat.history import ROLES
from ..doors.chat.tools import CHOICES
from .schema import Json, any_object, either, flag, given, one_of, or_null, rows, taken, text, whole
from .shared import HOTTEST, MODEL, MOST_OUTPUT, TOP_P, counted

PART = taken({"type": text("`text`, `image_url` or `file`; of a model's own also `refusal` and `thinking`.")})
CALL = taken(
    {"id": text()},
    {
        "type": text(),
        "function": taken({"name": text()}, {"arguments": either(text("JSON"), any_object())}),
        "custom": taken({"name": text()}, {"input": text()}),
    },
)
MESSAGE = taken(
    {"role": one_of(ROLES)},
    {
        "content": either(text(), rows(PART)),
        "reasoning_content": text("Thoughts, as they were given. They may be left out: they are put back."),
        "reasoning": text("The same, by another name."),
        "reasoning_details": rows(any_object()),
        "refusal": text(),
        "tool_calls": rows(CALL),
        "function_call": taken({"name": text()}, {"arguments": either(text(), any_object())}),
        "tool_call_id": text("Of a result: the call that it answers."),
        "name": {},
    },
)
TOOL = taken(
    {"type": text("`function`. Tools of other kinds go to models that know them.")},
    {
        "function": taken(
            {"name": text(minLength=1)},
            {"description": text(), "parameters": any_object("JSON Schema."), "strict": flag()},
        )
    },
)
FORM = taken(
    {"type": one_of(["text", "json_object", "json_schema"])},
    {
        "json_schema": {
            "description": "An object with `name`, and perhaps `description`, `schema` and `strict`."
        }
    },
)
EFFORT = text("How much thought: the nearest that the model has.", examples=["low"])
REQUEST = taken(
    {"messages": rows(MESSAGE, minItems=1)},
    {
        "model": MODEL,
        "stream": flag("As it comes, as server-sent events, or whole."),
        "stream_options": taken({}, {"include_usage": flag("A last chunk tells what was used.")}),
        "tools": rows(TOOL),
        "tool_choice": either(one_of(CHOICES), any_object()),
        "parallel_tool_calls": flag(),
        "functions": rows(any_object(), "Tools in the old form."),
        "function_call": either(text(), any_object()),
        "temperature": HOTTEST,
        "top_p": TOP_P,
        "max_tokens": MOST_OUTPUT,
        "max_completion_tokens": MOST_OUTPUT,
        "stop": either(text(), rows(text())),
        "response_format": FORM,
        "reasoning_effort": EFFORT,
        "reasoning": taken({}, {"effort": EFFORT, "enabled": flag(), "max_tokens": MOST_OUTPUT}),
        "thinking": taken({}, {"type": text(), "budget_tokens": MOST_OUTPUT}),
        "enable_thinking": flag(),
        "n": whole("One answer for each request.", minimum=1, maximum=1),
        "modalities": rows(text("`text`")),
    },
)
USAGE = given(
    prompt_tokens=counted(),
    completion_tokens=counted(),
    total_tokens=counted(),
    prompt_tokens_details=given(cached_tokens=counted()),
    completion_tokens_details=given(reasoning_tokens=counted()),
)
FINISH = one_of(["stop", "tool_calls", "length", "content_filter", "function_call"])


def _head(kind: str) -> Json:
    return {
        "id": text("`chatcmpl-…`"),
        "object": one_of([kind]),
        "created": whole("Seconds of the epoch."),
        "model": text(),
    }


ANSWER = given(
    **_head("chat.completion"),
    choices=rows(
        given(
            index=whole(),
            message=given(
                "With `reasoning_content` and `reasoning` (its thoughts) and `tool_calls`, where it has any.",
                role=one_of(["assistant"]),
                content=or_null(text()),
            ),
            finish_reason=FINISH,
        )
    ),
    usage=USAGE,
)
EVENT = given(
    "One frame of a stream. The last one is the word `[DONE]`; where it fails midway, an error stands in a frame before that.",
    **_head("chat.completion.chunk"),
    choices=rows(given(index=whole(), delta=any_object(), finish_reason=or_null(FINISH))),
)
