"""The strict fake of the providers: what it would refuse is refused, and what we say carries its seals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.upstream.chat.checks import check as check_chat
from tests.upstream.chat.profiles import PROFILES
from tests.upstream.kept import Store
from tests.upstream.messages import ids as messages
from tests.upstream.messages.checks import check as check_messages
from tests.upstream.refusals import ApiError, organization_of, unauthorized
from tests.upstream.responses import ids as responses
from tests.upstream.responses.checks import check_input, check_request
from tests.upstream.scenario import load_scenario
from tests.upstream.sealing import digest, seal

# A server that demands nothing of thoughts; calls and their results must still pair.
PROFILE = "llamacpp"
# So many tokens a request holds where a test says nothing of it.
HELD = 10
SCENARIO = load_scenario("steered", {})
STORE = Store()

Json = dict[str, Any]


def check(dialect: str, headers: Mapping[str, str], body: Json) -> None:
    """Refused where the real service would refuse it, or say nothing and lose something."""
    org, notes = _org(dialect, headers), []
    match dialect:
        case "responses":
            check_request(body, SCENARIO)
            check_input(body, SCENARIO, org, STORE, notes)
        case "messages":
            check_messages(body, headers, SCENARIO, org, notes)
        case _:
            check_chat(body, PROFILE, PROFILES[PROFILE], True, org, notes)
    if notes:
        raise ApiError(400, {"error": {"message": "; ".join(notes), "type": "invalid_request_error"}})


def _org(dialect: str, headers: Mapping[str, str]) -> str:
    org = organization_of(headers)
    if org is None:
        raise unauthorized(dialect)
    return org


def sealed_item(item: Json, *, response: str, index: int, body: Json, headers: Mapping[str, str]) -> str:
    """The encrypted content of a thought. What will follow it is not known yet, so any kind may."""
    kinds = {"message": "msg", "function_call": "fc"}
    followers = [
        {"t": kind, "id": responses.make_id(prefix, response, index + 1, index), "c": None}
        for kind, prefix in kinds.items()
    ]
    followers.append({"t": "reasoning", "id": responses.make_id("rs", response, index + 1), "c": None})
    facts = {"i": item["id"], "m": body["model"], "o": _org("responses", headers), "x": [], "f": 1}
    facts |= {"h": digest(responses.bare(item)), "n": followers}
    return seal("rs", facts, responses.ENC, 300)


def signature(text: str, *, body: Json, headers: Mapping[str, str]) -> str:
    turns = messages.merged(body["messages"])
    before = messages.prefix_digest(body.get("system"), body.get("tools"), turns, len(turns))
    facts = {"m": body["model"], "o": _org("messages", headers), "p": before, "h": digest(text)}
    return seal("thinking", facts, messages.SIG, 200)
