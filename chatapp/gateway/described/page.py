"""The document of all addresses, as OpenAPI 3.1 has it."""

from __future__ import annotations

from collections.abc import Mapping

from ..served.http import DoorConnection, DoorRequest
from . import chat, messages, models, responses, shared
from .schema import Json, any_object, named, text
from .table import DESCRIBED, Described

WORDS = (
    "Every model that is configured here, by three protocols. What a program leaves out of its history of the thoughts of models is "
    "put back before a model is asked. Fields that are not named here go on to models of the same protocol."
)
SCHEMAS: Mapping[str, Json] = {
    "ChatRequest": chat.REQUEST,
    "ChatCompletion": chat.ANSWER,
    "ChatChunk": chat.EVENT,
    "ResponseRequest": responses.REQUEST,
    "Response": responses.ANSWER,
    "ResponseEvent": responses.EVENT,
    "CompactRequest": responses.COMPACTING,
    "Compaction": responses.COMPACTED,
    "CountInputRequest": responses.COUNTED,
    "InputCount": responses.INPUT_COUNT,
    "DeletedResponse": responses.DELETED,
    "InputItems": responses.ITEMS,
    "MessageRequest": messages.REQUEST,
    "Message": messages.ANSWER,
    "MessageEvent": messages.EVENT,
    "CountRequest": messages.COUNTED,
    "TokenCount": messages.TOKENS,
    "Model": models.MODEL,
    "Models": models.MODELS,
    "Error": shared.OPENAI_ERROR,
    "MessageError": shared.ANTHROPIC_ERROR,
    "AnyError": {"anyOf": [named("Error"), named("MessageError")]},
    "Document": any_object("This page."),
}
WAITS = {
    "Retry-After": {"description": "Seconds until it helps to ask again.", "schema": {"type": "integer"}}
}
# Of whatever is refused: what is told beside the error.
REFUSED: Mapping[int, tuple[str, Json]] = {
    400: ("Something in the request is wrong; the sentence says what, and where.", {}),
    401: ("There is no key, or it opens nothing.", {}),
    404: ("There is no such model or response here.", {}),
    408: ("The body took too long to arrive.", WAITS),
    413: ("The body, or what it goes on from, is too large.", {}),
    415: ("The body is compressed.", {}),
    429: ("Too many at once, too many in so short a time, or the day's limit is used.", WAITS),
    500: ("Something broke inside Thoughtline.", {}),
    503: ("The database or the provider cannot be reached at the moment.", WAITS),
}
BY_PROVIDERS: Mapping[int, tuple[str, Json]] = {
    409: ("The run was stopped on its page.", {}),
    502: ("The provider had an error.", {}),
    504: ("The provider said nothing for too long.", {}),
}
TOLD = {
    "x-thoughtline-reasoning": {
        "description": "`restored=2 missed=0 dropped=0`: thoughts that were put back, that are not known here any more, and that the "
        "model may not be given.",
        "schema": {"type": "string"},
    },
    "x-thoughtline-left-out": {
        "description": "What could not be passed on to this model.",
        "schema": {"type": "string"},
    },
}


async def show_page(request: DoorRequest, connection: DoorConnection) -> None:
    await connection.answer(200, PAGE)


def _page() -> Json:
    paths: Json = {}
    for (path, method), described in DESCRIBED.items():
        paths.setdefault(path, {})[method.lower()] = _operation(path, described)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Thoughtline for programs", "version": "1", "description": WORDS},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"key": []}],
        "paths": paths,
        "components": {
            "schemas": dict(SCHEMAS),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
        },
    }


def _operation(path: str, described: Described) -> Json:
    operation: Json = {
        "operationId": described.id,
        "summary": described.summary,
        "responses": _responses(described),
    }
    if parameters := [*_ids(path), *_fields(described.query)]:
        operation["parameters"] = parameters
    if described.takes:
        operation["requestBody"] = _body(described)
    return operation if described.has_key else operation | {"security": []}


def _ids(path: str) -> list[Json]:
    shown = {"name": "id", "in": "path", "required": True, "schema": text(minLength=1)}
    return [shown] if "{id}" in path else []


def _fields(query: Mapping[str, Json]) -> list[Json]:
    return [{"name": name, "in": "query", "schema": schema} for name, schema in query.items()]


def _body(described: Described) -> Json:
    content = {"schema": named(described.takes), "example": dict(described.example)}
    return {"required": True, "content": {"application/json": content}}


def _responses(described: Described) -> Json:
    refused = {**REFUSED, **(BY_PROVIDERS if described.asks else {})} if described.has_key else {}
    content: Json = {"application/json": {"schema": named(described.gives)}}
    if described.event:
        # This version of OpenAPI has no word for what the data of one frame is.
        content["text/event-stream"] = {"x-event": named(described.event)}
    answer = {"description": described.summary, "content": content}
    told = {"headers": TOLD} if described.asks else {}
    return {"200": answer | told} | {
        str(status): _refused(words, headers, described.error)
        for status, (words, headers) in sorted(refused.items())
    }


def _refused(words: str, headers: Json, error: str) -> Json:
    content = {"application/json": {"schema": named(error)}}
    return {"description": words, "content": content} | ({"headers": headers} if headers else {})


PAGE = _page()
