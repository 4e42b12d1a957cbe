"""Refusals of the many servers, as people reported them: what helps, and what to say."""

from __future__ import annotations

import json

import pytest

from chatapp.core.history import Repair
from chatapp.providers.base import Endpoint, ProviderError, Trouble
from chatapp.providers.chat.completions import WIRE

HERE = Endpoint(name="compatible", dialect="chat", label="My server")


def refusal(status: int, text: str, headers: dict[str, str] | None = None) -> ProviderError:
    return WIRE.refusal(HERE.who, status, headers or {}, text)


def body(message: str, **more: object) -> str:
    return json.dumps({"error": {"message": message, **more}})


def forbidden_extra(field: str) -> str:
    row = {
        "type": "extra_forbidden",
        "loc": ["body", "messages", 2, "assistant", field],
        "msg": "Extra inputs are not permitted",
    }
    return json.dumps({"object": "error", "message": {"detail": [row]}, "type": "invalid_request_error"})


MUST = "The `reasoning_content` in the thinking mode must be passed back to the API."
UNSIGNED = "Function call is missing a thought_signature in functionCall parts."
REPAIRS = [
    (400, body(MUST, code="invalid_request_error"), Repair.REQUIRED),
    (400, 'data:{"error":{"code":"400","message":"Param Incorrect","param":"' + MUST + '","type":""}}', Repair.REQUIRED),
    (400, body("thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"), Repair.REQUIRED),
    (400, body("Missing `reasoning_content` field in the assistant message at message index 96."), Repair.REQUIRED),
    (400, body("property 'messages.2.assistant.reasoning_content' is unsupported", code="wrong_api_format"), Repair.FORBIDDEN),
    (400, body("'messages.1' : the following must be satisfied[('messages.1' : property 'reasoning' is unsupported)]"), Repair.FORBIDDEN),
    (422, forbidden_extra("reasoning_content"), Repair.FORBIDDEN),
    (422, forbidden_extra("reasoning"), Repair.FORBIDDEN),
    (400, body("The `reasoning_content` field is not allowed in the input messages (message index 1)."), Repair.FORBIDDEN),
    (400, body("Unrecognized request argument supplied: reasoning_details"), Repair.FORBIDDEN),
    (400, json.dumps([{"error": {"code": 400, "message": UNSIGNED, "status": "INVALID_ARGUMENT"}}]), Repair.STALE),
    (400, json.dumps([{"error": {"code": 400, "message": "Corrupted thought signature."}}]), Repair.STALE),
    (400, body("Invalid `signature` in `thinking` block"), Repair.STALE),
    (400, body("The encrypted content gAAA could not be verified.", code="invalid_encrypted_content"), Repair.STALE),
    (400, body("Gemini models require OpenRouter reasoning details to be preserved in each request."), Repair.STALE),
]  # fmt: skip


@pytest.mark.parametrize(("status", "text", "repair"), REPAIRS)
def test_a_refusal_that_can_be_repaired_says_how(status: int, text: str, repair: Repair) -> None:
    error = refusal(status, text)
    assert (error.trouble, error.repair, error.again) == (Trouble.REFUSED, repair, False)
    assert error.raw == text


BEYOND_REPAIR = [
    (422, forbidden_extra("name")),
    (422, json.dumps({"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"]}]})),
    (400, body("reasoning_effort is not supported for this model")),
    (400, body("This model does not support reasoning.")),
    (401, body(MUST)),
    (500, body(MUST)),
]


@pytest.mark.parametrize(("status", "text"), BEYOND_REPAIR)
def test_other_refusals_are_not_repaired(status: int, text: str) -> None:
    assert refusal(status, text).repair is None


TROUBLES = [
    (400, body("This model's maximum context length is 8192 tokens.", code="context_length_exceeded"), Trouble.TOO_LONG),
    (400, body("the request exceeds the available context size", type="exceed_context_size_error"), Trouble.TOO_LONG),
    (400, body("Invalid request: Your request exceeded model token limit: 262144"), Trouble.TOO_LONG),
    (400, body("Prompt exceeds max length", code="1261"), Trouble.TOO_LONG),
    (400, body("Range of input length should be [1, 129024]"), Trouble.TOO_LONG),
    (400, body("The input token count (1200000) exceeds the maximum number of tokens allowed"), Trouble.TOO_LONG),
    (400, body("too large for model with 32768 maximum context length"), Trouble.TOO_LONG),
    (400, body("The input (9000 tokens) is longer than the model's context length"), Trouble.TOO_LONG),
    (413, body("Request too large on tokens per minute", code="rate_limit_exceeded"), Trouble.TOO_LONG),
    (402, body("Insufficient Balance"), Trouble.CREDIT),
    (429, body("You exceeded your current quota, please check your plan.", code="insufficient_quota"), Trouble.CREDIT),
    (403, body("Your account balance is insufficient"), Trouble.CREDIT),
    (429, body("Insufficient balance or no resource package", code="1113"), Trouble.CREDIT),
    (429, body("You exceeded your current quota, see billing details", status="RESOURCE_EXHAUSTED"), Trouble.BUSY),
    (429, body("Rate limit reached. Upgrade at https://console.groq.com/settings/billing"), Trouble.BUSY),
    (503, body("The server is overloaded"), Trouble.BUSY),
    (400, body("API key not valid. Please pass a valid API key.", status="INVALID_ARGUMENT"), Trouble.KEY),
    (401, body("Authentication Fails"), Trouble.KEY),
    (400, body("Model Not Exist"), Trouble.NOT_FOUND),
    (400, body("a/b is not a valid model ID", code=400), Trouble.NOT_FOUND),
    (404, "<html>nothing here</html>", Trouble.NOT_FOUND),
    (400, body("Content Exists Risk"), Trouble.FILTERED),
    (400, body("The request was rejected because it was considered high risk"), Trouble.FILTERED),
    (400, body("Input data may contain inappropriate content.", code="data_inspection_failed"), Trouble.FILTERED),
    (400, body("temperature must be below 2"), Trouble.REFUSED),
    (500, "", Trouble.BROKEN),
    (502, "<html>Bad gateway</html>", Trouble.BROKEN),
]  # fmt: skip


@pytest.mark.parametrize(("status", "text", "trouble"), TROUBLES)
def test_the_usual_servers_words_are_understood(status: int, text: str, trouble: Trouble) -> None:
    error = refusal(status, text)
    assert (error.trouble, error.repair, error.status) == (trouble, None, status)


def test_the_sentence_names_the_server() -> None:
    assert refusal(401, "").sentence.startswith("My server ")
    assert WIRE.refusal(Endpoint(name="compatible", dialect="chat").who, 401, {}, "").sentence.startswith(
        "compatible "
    )


def test_a_busy_server_says_how_long_to_wait() -> None:
    error = refusal(429, body("Rate limit reached"), {"retry-after": "7"})
    assert (error.again, error.wait) == (True, 7.0)


def test_a_body_of_any_size_is_read_only_so_far() -> None:
    assert refusal(400, "x" * 100_000 + MUST).repair is None
