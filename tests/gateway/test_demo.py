"""The demo as coding agents meet it: they run what it calls."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from django.contrib.auth.models import User

from tests.support.stage import play

from .knocking import CHAT, asking, key_of, knock, open_house

QUESTIONS = [
    "Why should nobody type `rm -rf ~`?",
    "What happens with $(touch here) and it's `touch there`?",
    "Tell me about ; touch here",
    "touch here",
]
SHELLS: dict[str, Any] = {
    "cmd": {"type": "string"},
    "command": {"type": "string"},
    "script": {"type": "string"},
    "commands": {"type": "array", "items": {"type": "string"}},
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", SHELLS)
def test_what_it_hands_to_a_shell_only_says_what_was_asked(
    alice: User, question: str, name: str, tmp_path: Any
) -> None:
    schema = {"type": "object", "properties": {name: SHELLS[name]}, "required": [name]}
    tool = {"type": "function", "function": {"name": "exec_command", "parameters": schema}}

    handed = list[Any]()

    async def story() -> None:
        async with open_house():
            body = asking(CHAT, words=question, tools=[tool])
            answer = await knock("POST", CHAT, body, key=await key_of(alice))
            [call] = answer.json()["choices"][0]["message"]["tool_calls"]
            found = json.loads(call["function"]["arguments"])[name]
            handed.extend([found] if isinstance(found, str) else found)

    play(story())
    [command] = handed
    assert command.startswith("echo ")
    ran = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert ran.stdout.strip() in question and not ran.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.django_db(transaction=True)
def test_nothing_unfilled_is_left_where_an_answer_has_a_form(alice: User) -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    form = {"type": "json_schema", "json_schema": {"name": "title", "schema": schema}}

    async def story() -> None:
        async with open_house():
            body = asking(CHAT, words="A walk by the sea", response_format=form)
            answer = await knock("POST", CHAT, body, key=await key_of(alice))
            message = answer.json()["choices"][0]["message"]
            assert message["reasoning"] and "«" not in message["reasoning"]
            assert json.loads(message["content"]) == {"title": "A walk by the sea"}

    play(story())
