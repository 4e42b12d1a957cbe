"""The messages of a chat completion as the history that they tell."""

from __future__ import annotations

from ..asked import Said, SaidBy, Told, ToldAnswer, ToldCall, ToldResult
from ..given import Given
from .answers import answer_of, of_one_response
from .content import parts_of

ROLES = (*SaidBy, "assistant", "tool", "function")


def history_of(messages: Given) -> tuple[Told, ...]:
    history = _History()
    for message in messages.objects():
        history.hear(message)
    if not history.told:
        raise messages.wrong("is empty: there is nothing to answer")
    return tuple(history.told)


class _History:
    def __init__(self) -> None:
        self.told: list[Told] = []
        self._called: set[str] = set()
        # Calls in the old form have no ids: a result names its function, and means the last call of it.
        self._legacy: dict[str, str] = {}

    def hear(self, message: Given) -> None:
        match message.must("role").one_of(ROLES):
            case "assistant":
                self._answer(answer_of(message, f"function_call_{len(self.told)}"))
            case "tool":
                self.told.append(self._result(message, self._call_id(message)))
            case "function":
                self.told.append(self._result(message, self._legacy_id(message)))
            case role:
                parts = parts_of(message.must("content"))
                self.told.append(Said(role=SaidBy(role), parts=parts, wire=message.value))

    def _answer(self, answer: ToldAnswer) -> None:
        for call in answer.parts:
            if isinstance(call, ToldCall):
                self._called.add(call.id)
                self._legacy[call.name] = call.id
        before = self.told[-1] if self.told else None
        if isinstance(before, ToldAnswer) and of_one_response(before, answer):
            self.told[-1] = ToldAnswer(parts=before.parts + answer.parts)
        elif answer.parts:
            self.told.append(answer)

    def _result(self, message: Given, call_id: str) -> ToldResult:
        content = message.at("content")
        # A tool that had nothing to say.
        parts = parts_of(content) if content and content.value not in ("", []) else ()
        return ToldResult(call_id=call_id, parts=parts)

    def _call_id(self, message: Given) -> str:
        given = message.must("tool_call_id")
        if given.text() not in self._called:
            raise given.wrong("names no call of an assistant message before it", "invalid_value")
        return given.text()

    def _legacy_id(self, message: Given) -> str:
        given = message.must("name")
        if given.text() not in self._legacy:
            raise given.wrong("names no function that was called before it", "invalid_value")
        return self._legacy[given.text()]
