"""The messages of a request, and its system prompt, as the history that they tell."""

from __future__ import annotations

from ....core.values import Json
from ..asked import Said, SaidBy, Told, ToldAnswer, ToldCall, ToldResult
from ..given import Given
from .answers import answer_of
from .content import Part, parts_in, parts_of

ROLES = (SaidBy.USER, "assistant", SaidBy.SYSTEM)
RESULT = "tool_result"


def history_of(request: Given) -> tuple[Told, ...]:
    messages = request.must("messages")
    history = _History()
    for message in messages.objects():
        history.hear(message)
    if not history.told:
        raise messages.wrong("is empty: there is nothing to answer")
    return (*_system(request), *history.told)


def _system(request: Given) -> list[Said]:
    system = request.at("system")
    parts = parts_of(system) if system else ()
    wire = {"role": "system", "content": system.value} if system else None
    return [Said(role=SaidBy.SYSTEM, parts=parts, wire=wire)] if any(parts) else []


class _History:
    def __init__(self) -> None:
        self.told: list[Told] = []
        self._called: set[str] = set()

    def hear(self, message: Given) -> None:
        role = message.must("role").one_of(ROLES)
        content = message.must("content")
        if role == "assistant":
            self._answer(answer_of(content))
        elif isinstance(content.value, str):
            self._said(role, parts_of(content), message)
        else:
            self._blocks(role, message, content.objects())

    def _answer(self, answer: ToldAnswer) -> None:
        """Messages of one side behind each other are one, as the API has it."""
        self._called |= {part.id for part in answer.parts if isinstance(part, ToldCall)}
        before = self.told[-1] if self.told else None
        if isinstance(before, ToldAnswer):
            self.told[-1] = ToldAnswer(parts=before.parts + answer.parts)
        elif answer.parts:
            self.told.append(answer)

    def _blocks(self, role: str, message: Given, blocks: list[Given]) -> None:
        """Results stand before what else is said."""
        results = [block for block in blocks if block.value.get("type") == RESULT]
        self.told += [self._result(block) for block in results]
        others = [block for block in blocks if block.value.get("type") != RESULT]
        if others or not results:
            parts = tuple(part for block in others for part in parts_in(block))
            self._said(role, parts, message, [block.value for block in others])

    def _said(
        self, role: str, parts: tuple[Part, ...], message: Given, blocks: list[Json] | None = None
    ) -> None:
        """`blocks`: what is left of its content."""
        if not parts and role == SaidBy.USER:
            raise message.must("content").wrong("is empty")
        wire = message.value if blocks is None else message.value | {"content": blocks}
        self.told.append(Said(role=SaidBy(role), parts=parts, wire=wire))

    def _result(self, block: Given) -> ToldResult:
        given, content = block.must("tool_use_id"), block.at("content")
        if given.text() not in self._called:
            raise given.wrong("names no tool_use of an assistant message before it", "invalid_value")
        failed = block.take("is_error", Given.flag) or False
        return ToldResult(call_id=given.text(), parts=parts_of(content) if content else (), failed=failed)
