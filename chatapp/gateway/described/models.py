"""`/v1/models`: in OpenAI's shape, or in Anthropic's for whoever sends `anthropic-version`."""

from __future__ import annotations

from .schema import either, flag, given, one_of, or_null, rows, text, whole

FOR_OPENAI = given(id=text(), object=one_of(["model"]), created=whole(), owned_by=text())
FOR_ANTHROPIC = given(
    type=one_of(["model"]), id=text(), display_name=text(), created_at=text(format="date-time")
)
MODEL = either(FOR_OPENAI, FOR_ANTHROPIC)
MODELS = either(
    given(object=one_of(["list"]), data=rows(FOR_OPENAI)),
    given(data=rows(FOR_ANTHROPIC), has_more=flag(), first_id=or_null(text()), last_id=or_null(text())),
)
