"""What a tool is: one typed function. Its docstring and types are what the model reads; its every failure is a result."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from inspect import getdoc, iscoroutinefunction, signature
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema

from ..core.items import Outcome, clean
from ..core.verbatim import dumps, loads

CAP = 256 * 1024
REASON_CAP = 1000

# Of its own, so that a slow tool never keeps anything but tools waiting.
_THREADS = ThreadPoolExecutor(max_workers=8, thread_name_prefix="tool")


# How far a call is, in a few words.
Report = Callable[[str], None]


class ToolError(Exception):
    """Says in words, to the model and to people, why there is no result."""


class OutcomeUnknown(ToolError):
    """Nobody knows whether the call did its work."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    text: str
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """`schema` is the JSON schema of the arguments; `call` checks and takes them, and may report how far it is. `safe`: it
    runs without asking anybody. `idempotent`: it may run again when nobody knows whether it ran. `timeout`: in seconds.
    `server`: the MCP server it is of. `usual`: new conversations have it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    call: Callable[[dict[str, Any], Report], Awaitable[str]]
    title: str = ""
    server: str = ""
    usual: bool = True
    safe: bool = False
    idempotent: bool = False
    timeout: float = 30.0

    @property
    def definition(self) -> dict[str, Any]:
        """What a model reads of it."""
        return {"name": self.name, "description": self.description, "schema": dict(self.schema)}

    @property
    def fingerprint(self) -> str:
        """Of what it says it is: whoever allowed it allowed this."""
        return sha256(dumps(self.definition).encode("utf-8", "surrogatepass")).hexdigest()

    async def run(self, arguments_text: str, report: Report = lambda words: None) -> ToolOutput:
        """Never raises, whatever the arguments are, but for the cancellation of the turn itself."""
        try:
            async with asyncio.timeout(self.timeout) as limit:
                return _within_cap(await self.call(_arguments(arguments_text), report))
        except OutcomeUnknown as error:
            return self._lost(str(error))
        except ToolError as error:
            return _failed(str(error))
        except Exception as error:
            if limit.expired():
                return self._lost(f"The tool {self.name} did not finish within {self.timeout:g} seconds.")
            return _failed(f"The tool {self.name} failed: {str(error) or type(error).__name__}")

    def _lost(self, words: str) -> ToolOutput:
        if self.idempotent:
            return _failed(words)
        return ToolOutput(clean(f"{words[:REASON_CAP]} Its outcome is unknown."), Outcome.UNKNOWN)


def can_be_read(arguments_text: str) -> bool:
    """Whether a tool would get these arguments at all."""
    try:
        _arguments(arguments_text)
    except ToolError:
        return False
    return True


def tool(
    function: Callable[..., str | Awaitable[str]],
    *,
    title: str = "",
    safe: bool = False,
    idempotent: bool = False,
    timeout: float = 30.0,
) -> Tool:
    """A tool with the function's name; `title` is what people call it. A function that is not a coroutine runs in a thread."""
    description = getdoc(function)
    if not description:
        raise ValueError(f"The tool {function.__name__} needs a docstring: it is what the model reads.")
    arguments = _model(function)
    return Tool(
        name=function.__name__,
        description=description,
        schema=_schema(arguments),
        call=_caller(function, arguments),
        title=title,
        safe=safe,
        idempotent=idempotent,
        timeout=timeout,
    )


class _WithoutTitles(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _model(function: Callable[..., Any]) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        name: (hints[name], ... if parameter.default is parameter.empty else parameter.default)
        for name, parameter in signature(function).parameters.items()
    }
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def _schema(arguments: type[BaseModel]) -> dict[str, Any]:
    schema = arguments.model_json_schema(schema_generator=_WithoutTitles)
    return {name: value for name, value in schema.items() if name != "title"}


def _caller(
    function: Callable[..., Any], arguments: type[BaseModel]
) -> Callable[[dict[str, Any], Report], Awaitable[str]]:
    async def call(values: dict[str, Any], report: Report) -> str:
        given = _checked(arguments, values)
        if iscoroutinefunction(function):
            return str(await function(**given))
        loop = asyncio.get_running_loop()
        return str(await loop.run_in_executor(_THREADS, lambda: function(**given)))

    return call


def _checked(arguments: type[BaseModel], values: dict[str, Any]) -> dict[str, Any]:
    try:
        checked = arguments.model_validate(values)
    except ValidationError as error:
        problems = (
            f"{'.'.join(map(str, row['loc']))}: {row['msg']}" for row in error.errors(include_url=False)[:5]
        )
        raise ToolError("The arguments do not fit: " + "; ".join(problems)) from None
    return {name: getattr(checked, name) for name in arguments.model_fields}


def _arguments(text: str) -> dict[str, Any]:
    """What the model wrote. Some models write nothing at all when there is nothing to say."""
    if len(text) > CAP:
        raise ToolError(f"The arguments are longer than {CAP:,} characters.")
    try:
        values = loads(text.strip() or "{}")
    except ValueError as error:
        raise ToolError(f"The arguments are not valid JSON: {error}") from None
    if not isinstance(values, dict):
        raise ToolError("The arguments are not a JSON object.")
    return values


def _within_cap(text: str) -> ToolOutput:
    text = clean(text)
    data = text.encode()
    if len(data) <= CAP:
        return ToolOutput(text, Outcome.DONE)
    kept = data[:CAP].decode(errors="ignore")
    said = f"[The result was cut here: it has {len(data):,} bytes, and only {CAP:,} may be kept.]"
    return ToolOutput(f"{kept}\n{said}", Outcome.FAILED)


def _failed(words: str) -> ToolOutput:
    return ToolOutput(clean(words)[:REASON_CAP], Outcome.FAILED)
