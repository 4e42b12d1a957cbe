"""What several doors take and give: names of models, numbers that steer, errors in either shape."""

from __future__ import annotations

from ..doors.given import MOST
from .schema import Json, given, number, one_of, or_null, text, whole

MODEL = text(
    "A model as `/v1/models` lists it: `provider:name`, `provider/name`, its name alone where one provider has it, or a name that "
    "the key gives it. Without one the key's own answers, else the server's.",
    examples=["demo:thinker"],
)
HOTTEST = number("How free its choice of words is.", minimum=0, maximum=2)
TOP_P = number(minimum=0, maximum=1)
MOST_OUTPUT = whole("How many tokens the answer may have.", minimum=1, maximum=MOST)


def counted(about: str = "") -> Json:
    return whole(about, minimum=0)


OPENAI_ERROR = given(
    error=given(
        message=text("A sentence for whoever runs the program."),
        type=text(),
        param=or_null(text("The field that is wrong.")),
        code=or_null(text("A fixed word that programs know.")),
    )
)
ANTHROPIC_ERROR = given(
    type=one_of(["error"]),
    error=given(type=text(), message=text("A sentence for whoever runs the program.")),
    request_id=or_null(text()),
)
