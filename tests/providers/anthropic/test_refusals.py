"""What Anthropic's refusals mean, and which of them a changed request gets past."""

from __future__ import annotations

import pytest

from chatapp.core.contracts import Repair
from chatapp.core.verbatim import dumps
from chatapp.providers.anthropic.messages import WIRE
from chatapp.providers.anthropic.refusals import failure
from chatapp.providers.base import Endpoint, ProviderError, Trouble

ENDPOINT = Endpoint(name="anthropic", dialect="messages", label="Anthropic")
BAD = "invalid_request_error"


def body(type_: str, message: str) -> str:
    return dumps({"type": "error", "error": {"type": type_, "message": message}, "request_id": "req_1"})


def refused(status: int, text: str, **headers: str) -> ProviderError:
    return WIRE.refusal(ENDPOINT.who, status, headers, text)


@pytest.mark.parametrize(
    ("status", "type_", "message", "trouble", "again"),
    [
        (401, "authentication_error", "invalid x-api-key", Trouble.KEY, False),
        (403, "permission_error", "not allowed", Trouble.FORBIDDEN, False),
        (404, "not_found_error", "model: claude-x", Trouble.NOT_FOUND, False),
        (429, "rate_limit_error", "slow down", Trouble.BUSY, True),
        (529, "overloaded_error", "Overloaded", Trouble.BUSY, True),
        (500, "api_error", "Internal server error", Trouble.BROKEN, True),
        (504, "timeout_error", "took too long", Trouble.BROKEN, True),
        (413, "request_too_large", "Request exceeds the maximum size", Trouble.TOO_LONG, False),
        (403, "billing_error", "no payment", Trouble.CREDIT, False),
        (400, BAD, "Your credit balance is too low to access the Anthropic API.", Trouble.CREDIT, False),
        (400, BAD, "prompt is too long: 210000 tokens > 200000 maximum", Trouble.TOO_LONG, False),
        (
            400,
            BAD,
            "input length and `max_tokens` exceed context limit: 190000 + 32000",
            Trouble.TOO_LONG,
            False,
        ),
        (400, BAD, "tools.0.name: String should match pattern", Trouble.REFUSED, False),
    ],
)
def test_every_error_has_its_trouble(
    status: int, type_: str, message: str, trouble: Trouble, again: bool
) -> None:
    error = refused(status, body(type_, message))
    assert (error.trouble, error.again, error.repair, error.status) == (trouble, again, None, status)
    assert message.partition("`")[0] in error.raw


def test_the_provider_says_how_long_to_wait() -> None:
    text = body("rate_limit_error", "slow down")
    assert refused(429, text, **{"retry-after": "7"}).wait == 7


def test_the_sentence_names_the_provider() -> None:
    assert "Anthropic" in refused(401, body("authentication_error", "invalid x-api-key")).sentence


@pytest.mark.parametrize(
    "message",
    [
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
        "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
        "messages.5.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
        "messages.1.content.0: When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.",
        "messages.1: The final block in an assistant message cannot be `thinking`.",
    ],
)
def test_refused_thoughts_are_repaired_by_leaving_them_out(message: str) -> None:
    assert refused(400, body(BAD, message)).repair is Repair.STALE
    assert refused(400, message).repair is Repair.STALE
    assert refused(500, body(BAD, message)).repair is None
    assert failure("Anthropic", body(BAD, message)).repair is Repair.STALE


@pytest.mark.parametrize(
    "message",
    [
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".',
        "adaptive thinking is not supported on this model",
        "This model does not support the effort parameter.",
    ],
)
def test_a_model_that_cannot_be_asked_to_think_so_is_asked_plainly(message: str) -> None:
    assert refused(400, body(BAD, message)).repair is Repair.FORBIDDEN


@pytest.mark.parametrize(
    "text", ["", "<html>Bad Gateway</html>", "[]", "null", '{"error": "no"}', '{"error": {}}']
)
def test_an_answer_in_any_shape_is_judged_by_its_status(text: str) -> None:
    assert refused(502, text).trouble is Trouble.BROKEN
    assert refused(400, text).trouble is Trouble.REFUSED


@pytest.mark.parametrize(
    ("type_", "trouble", "again"),
    [
        ("overloaded_error", Trouble.BUSY, True),
        ("rate_limit_error", Trouble.BUSY, True),
        ("api_error", Trouble.BROKEN, True),
        ("timeout_error", Trouble.BROKEN, True),
        ("error_of_tomorrow", Trouble.BROKEN, True),
        ("authentication_error", Trouble.KEY, False),
        (BAD, Trouble.REFUSED, False),
    ],
)
def test_an_error_in_a_stream_says_whether_to_try_again(type_: str, trouble: Trouble, again: bool) -> None:
    error = failure("Anthropic", body(type_, "sorry"))
    assert (error.trouble, error.again) == (trouble, again)


def test_a_bound_thought_that_may_be_dropped_is_asked_about_once_more() -> None:
    words = (
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
        'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
    )
    assert refused(400, body(BAD, words)).repair is Repair.BOUND


def test_a_server_that_knows_no_such_leave_is_asked_without_it() -> None:
    words = "thinking.adaptive.block_binding: Extra inputs are not permitted"
    assert refused(400, body(BAD, words)).repair is Repair.UNBOUND
