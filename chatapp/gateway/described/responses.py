"""`/v1/responses` and what lies below it: what they take and give."""

from __future__ import annotations

from ..doors.asked import SaidBy
from ..doors.responses.items import ASSISTANT
from .schema import any_object, either, flag, given, number, one_of, or_null, rows, taken, text, whole
from .shared import HOTTEST, MODEL, MOST_OUTPUT, TOP_P, counted

ITEM = taken(
    {},
    {
        "type": text(
            "`message`, `reasoning`, `function_call`, `function_call_output`, `item_reference`, or what a model knows."
        ),
        "id": text(),
        "role": one_of([*SaidBy, ASSISTANT]),
        "content": either(text(), rows(any_object())),
        "call_id": text(),
        "name": text(),
        "namespace": text(),
        "arguments": text("JSON."),
        "encrypted_content": text("As it was given. It may be left out: it is put back."),
    },
    "A message, a thought, a call or its result.",
)
# Kinds of items that are not known here go on as they came.
INPUT = either(text(), rows(either(ITEM, any_object())), about="A question, or the history.")
TOOL = taken({"type": text("`function`, or a kind that models know.", minLength=1)})
CHOICE = either(one_of(["auto", "none", "required"]), any_object())
FORM = any_object("`text`, `json_object` or `json_schema`, with its name and its schema.")
WORDED = taken({}, {"format": FORM})
TRUNCATION = one_of(["auto", "disabled"])
REASONING = taken({}, {"effort": text("How much thought: the nearest that the model has."), "summary": {}})
WINDOW = {
    "input": INPUT,
    "instructions": text(),
    "previous_response_id": text(
        "A response of this key's owner that is kept: its history comes before `input`.", maxLength=200
    ),
    "tools": rows(TOOL),
}
REQUEST = taken(
    {},
    {
        "model": MODEL,
        **WINDOW,
        "tool_choice": CHOICE,
        "parallel_tool_calls": flag(),
        "stream": flag("As it comes, as server-sent events, or whole."),
        "store": flag("Kept, where the key says so, so that others can go on from it."),
        "background": {"type": "boolean", "enum": [False]},
        "reasoning": REASONING,
        "text": WORDED,
        "include": rows(text()),
        "temperature": HOTTEST,
        "top_p": TOP_P,
        "max_output_tokens": MOST_OUTPUT,
        "max_tool_calls": whole(),
        "top_logprobs": number(minimum=0, maximum=20),
        "presence_penalty": number(minimum=-2, maximum=2),
        "frequency_penalty": number(minimum=-2, maximum=2),
        "truncation": TRUNCATION,
        "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
        "user": text(),
        "safety_identifier": text(),
        "prompt_cache_key": text(),
        "service_tier": text(),
        "stream_options": any_object(),
        "generate": flag("False where a connection is only warmed up."),
    },
)
COMPACTING = taken({"model": MODEL}, WINDOW)
COUNTED = taken(
    {},
    {
        "model": MODEL,
        **WINDOW,
        "tool_choice": CHOICE,
        "parallel_tool_calls": flag(),
        "reasoning": REASONING,
        "text": WORDED,
        "truncation": TRUNCATION,
    },
)
USAGE = given(
    input_tokens=counted(),
    input_tokens_details=given(cached_tokens=counted()),
    output_tokens=counted(),
    output_tokens_details=given(reasoning_tokens=counted()),
    total_tokens=counted(),
)
OUTPUT = rows(given(id=text(), type=text()))
ANSWER = given(
    id=text("`resp_…`"),
    object=one_of(["response"]),
    created_at=whole(),
    completed_at=or_null(whole()),
    status=one_of(["completed", "incomplete", "failed", "in_progress"]),
    background=flag(),
    error=or_null(given(code=text(), message=text())),
    incomplete_details=or_null(given(reason=text())),
    model=text(),
    output=OUTPUT,
    usage=or_null(USAGE),
    store=flag(),
    instructions=or_null(text()),
    previous_response_id=or_null(text()),
    tools=rows(any_object()),
    tool_choice=either(text(), any_object()),
    truncation=text(),
    parallel_tool_calls=flag(),
    text=any_object(),
    reasoning=any_object(),
    temperature=number(),
    top_p=number(),
    presence_penalty=number(),
    frequency_penalty=number(),
    top_logprobs=number(),
    max_output_tokens=or_null(whole()),
    max_tool_calls=or_null(whole()),
    service_tier=text(),
    metadata=any_object(),
    safety_identifier=or_null(text()),
    prompt_cache_key=or_null(text()),
)
EVENT = given(
    "One frame of a stream; the last one is `response.completed`, `response.incomplete` or `response.failed`. A socket at the same "
    "address takes `response.create` messages and sends the same events.",
    type=text(),
    sequence_number=whole(minimum=0),
)
INPUT_COUNT = given(
    object=one_of(["response.input_tokens"]), input_tokens=whole("About how many.", minimum=1)
)
COMPACTED = given(
    id=text(),
    object=one_of(["response.compaction"]),
    created_at=whole(),
    output=rows(any_object()),
    usage=USAGE,
)
DELETED = given(id=text(), object=one_of(["response.deleted"]), deleted=flag())
ITEMS = given(
    object=one_of(["list"]),
    data=rows(any_object()),
    first_id=or_null(text()),
    last_id=or_null(text()),
    has_more=flag(),
)
