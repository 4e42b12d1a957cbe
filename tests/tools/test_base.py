"""Any function becomes a tool, and whatever goes wrong in it becomes a result."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any

import pytest
from pydantic import Field

from chatapp.core.items import Outcome
from chatapp.tools import TOOLS, Tool, ToolError, ToolOutput
from chatapp.tools.base import CAP, tool


def greet(name: Annotated[str, Field(description="Who it is for.")], times: int = 1) -> str:
    """Greets somebody."""
    return f"Hello {name}! " * times


def run(made: Tool, arguments: str = "{}") -> ToolOutput:
    return asyncio.run(made.run(arguments))


def failure(made: Tool, arguments: str = "{}") -> str:
    output = run(made, arguments)
    assert output.outcome is Outcome.FAILED
    return output.text


def test_the_model_reads_the_functions_name_docstring_and_types():
    made = tool(greet)
    assert (made.name, made.description) == ("greet", "Greets somebody.")
    assert made.schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "description": "Who it is for."},
            "times": {"type": "integer", "default": 1},
        },
    }


def test_a_function_without_a_docstring_is_no_tool():
    def silent() -> str:
        return ""

    with pytest.raises(ValueError, match="silent needs a docstring"):
        tool(silent)


def test_a_tool_asks_and_runs_once_unless_it_says_otherwise():
    made = tool(greet)
    assert (made.safe, made.idempotent) == (False, False)


def test_what_the_function_returns_is_the_result():
    assert run(tool(greet), '{"name": "Ada", "times": 2}') == ToolOutput(
        "Hello Ada! Hello Ada! ", Outcome.DONE
    )


def test_a_coroutine_is_a_tool_too():
    async def later() -> str:
        """Answers."""
        await asyncio.sleep(0)
        return "done"

    assert run(tool(later)) == ToolOutput("done", Outcome.DONE)


@pytest.mark.parametrize("nothing", ["", "  ", "{}", " {} "])
def test_no_arguments_may_be_written_as_nothing(nothing: str):
    def bare() -> str:
        """Answers."""
        return "done"

    assert run(tool(bare), nothing).outcome is Outcome.DONE


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("{", "not valid JSON"),
        ('{"name": NaN}', "not valid JSON"),
        ('{"times": ' + "9" * 5000 + "}", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('{"name": "x", "times": 1e999}', "not valid JSON"),
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        ('"name"', "not a JSON object"),
        ("{}", "name: Field required"),
        ('{"name": 1}', "name: Input should be a valid string"),
        ('{"name": null}', "name: Input should be a valid string"),
        ('{"name": "x", "times": "many"}', "times: Input should be a valid integer"),
        ('{"name": "x", "times": 1.5}', "times: Input should be a valid integer"),
        ('{"name": "x", "more": 1}', "more: Extra inputs are not permitted"),
        ('{"name": "x", "self": 1, "__class__": 2}', "Extra inputs are not permitted"),
        (" " * (CAP + 1), "longer than"),
    ],
)
def test_arguments_that_do_not_fit_are_a_result_that_says_why(arguments: str, words: str):
    assert words in failure(tool(greet), arguments)


def test_the_reason_is_short_whatever_the_arguments_are():
    hostile = "{" + ", ".join(f'"{"k" * 300}{n}": 1' for n in range(500)) + "}"
    assert len(failure(tool(greet), hostile)) <= 1000


def raising(error: BaseException, timeout: float = 5.0) -> Tool:
    async def broken() -> str:
        """Breaks."""
        raise error

    return tool(broken, timeout=timeout)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ToolError("No such page."), "No such page."),
        (RuntimeError("disk full"), "The tool broken failed: disk full"),
        (KeyError(), "The tool broken failed: KeyError"),
        (TimeoutError("the site is slow"), "The tool broken failed: the site is slow"),
        (RecursionError("too deep"), "The tool broken failed: too deep"),
        (ValueError("\x00 \ud800"), "The tool broken failed: � �"),
    ],
)
def test_an_exception_is_a_result(error: Exception, text: str):
    assert failure(raising(error)) == text


def test_a_sync_function_that_raises_is_a_result_too():
    def broken(name: str) -> str:
        """Breaks."""
        raise ValueError(f"no {name}")

    assert failure(tool(broken), '{"name": "x"}') == "The tool broken failed: no x"


def test_a_tool_that_does_not_finish_in_time_is_a_result():
    async def endless() -> str:
        """Never ends."""
        await asyncio.Event().wait()
        return ""

    words = "The tool endless did not finish within 0.01 seconds."
    assert failure(tool(endless, timeout=0.01, idempotent=True)) == words
    unknown = asyncio.run(tool(endless, timeout=0.01).run("{}"))
    assert (unknown.text, unknown.outcome) == (f"{words} Its outcome is unknown.", Outcome.UNKNOWN)


def test_a_sync_function_does_not_hold_up_anything_else_and_has_a_time_out_too():
    may_end = threading.Event()

    def blocking() -> str:
        """Blocks."""
        may_end.wait()
        return "late"

    async def beside() -> tuple[ToolOutput, ToolOutput]:
        ran = asyncio.create_task(tool(blocking).run("{}"))
        late = await tool(blocking, timeout=0.01).run("{}")
        may_end.set()
        return await ran, late

    ran, late = asyncio.run(beside())
    assert ran == ToolOutput("late", Outcome.DONE)
    assert late.outcome is Outcome.UNKNOWN


def test_a_cancelled_turn_cancels_its_tool():
    async def endless() -> str:
        """Never ends."""
        await asyncio.Event().wait()
        return ""

    async def cancelled() -> None:
        task = asyncio.create_task(tool(endless).run("{}"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


def returning(text: Any) -> Tool:
    def given() -> str:
        """Gives text."""
        return text

    return tool(given)


def test_a_result_of_exactly_the_cap_is_whole():
    assert run(returning("x" * CAP)) == ToolOutput("x" * CAP, Outcome.DONE)


def test_a_larger_result_is_cut_between_letters_and_says_so():
    text = failure(returning("ü" * CAP))
    kept, said = text.rsplit("\n", 1)
    assert kept == "ü" * (CAP // 2)
    assert said == "[The result was cut here: it has 524,288 bytes, and only 262,144 may be kept.]"


def test_a_result_is_text_that_any_database_holds():
    assert run(returning("a\x00b\ud800c")).text == "a�b�c"
    assert run(returning(42)).text == "42"


def test_the_built_in_tools_are_named_for_themselves_and_idempotent():
    assert set(TOOLS) == {"clock", "calculator", "read_page"}
    assert all(name == each.name and each.idempotent for name, each in TOOLS.items())
    assert all(each.description and each.schema["type"] == "object" for each in TOOLS.values())


def test_only_what_speaks_to_the_outside_asks_first():
    assert {name for name, each in TOOLS.items() if not each.safe} == {"read_page"}
