"""The strict fake of the providers, where it is there: what it would refuse is refused, and what we say carries its seals.
Where it is not, everything is accepted and the seals are random."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

SHARED = Path(__file__).resolve().parents[4] / "shared"
NONE = 0xFF
# A server that demands nothing of thoughts; calls and their results must still pair.
PROFILE = "llamacpp"
# So many tokens a request holds where a test says nothing of it.
HELD = 10

Json = dict[str, Any]


class Refused(Exception):
    """What the provider answers instead of 200."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"{status} {body}")
        self.status, self.body = status, body


def _load() -> dict[str, ModuleType]:
    if not (SHARED / "upstream").is_dir():
        return {}
    sys.path.append(str(SHARED))
    from upstream import chat_api, core, messages_api, responses_api

    return {"chat": chat_api, "core": core, "messages": messages_api, "responses": responses_api}


_FAKE = _load()
_STORE = _FAKE["responses"].Store() if _FAKE else None


def check(dialect: str, headers: Mapping[str, str], body: Json) -> None:
    """Refused where the real service would refuse it."""
    if not _FAKE:
        return
    scenario, notes = _FAKE["core"].load_scenario("steered", {}), []
    account = _FAKE["core"].account_of(_key(headers))
    if account is None:
        raise Refused(401, {"error": {"message": "Incorrect API key provided.", "code": "invalid_api_key"}})
    try:
        match dialect:
            case "responses":
                _FAKE["responses"].check_request(body, scenario)
                _FAKE["responses"].check_input(body, scenario, account[1], _STORE, notes)
            case "messages":
                _FAKE["messages"].check(body, headers, scenario, account[1], notes)
            case _:
                _FAKE["chat"].check(body, PROFILE, _FAKE["chat"].PROFILES[PROFILE], True, account[1], notes)
    except _FAKE["core"].ApiError as error:
        raise Refused(error.status, error.body) from None
    if notes:
        raise Refused(400, {"error": {"message": "; ".join(notes), "type": "invalid_request_error"}})


def _key(headers: Mapping[str, str]) -> str:
    return headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")


def item_id(prefix: str, response: str, index: int, needs: int = NONE) -> str:
    if not _FAKE:
        return f"{prefix}_{secrets.token_hex(24)}"
    made: str = _FAKE["responses"].make_id(prefix, response, index, needs)
    return made


def call_id(response: str, index: int, name: str, arguments: str) -> str:
    if not _FAKE:
        return f"call_{secrets.token_hex(12)}"
    made: str = _FAKE["responses"].make_call_id(response, index, name, arguments)
    return made


def sealed_item(item: Json, *, response: str, index: int, body: Json, headers: Mapping[str, str]) -> str:
    """The encrypted content of a thought. What will follow it is not known yet, so any kind may."""
    if not _FAKE:
        return "gAAAA" + secrets.token_urlsafe(200)
    fake, core = _FAKE["responses"], _FAKE["core"]
    kinds = {"message": "msg", "function_call": "fc"}
    followers = [
        {"t": kind, "id": item_id(prefix, response, index + 1, index), "c": None}
        for kind, prefix in kinds.items()
    ]
    followers.append({"t": "reasoning", "id": item_id("rs", response, index + 1), "c": None})
    facts = {"i": item["id"], "m": body["model"], "o": core.account_of(_key(headers))[1], "x": [], "f": 1}
    facts |= {"h": core.digest(fake.bare(item)), "n": followers}
    blob: str = core.seal("rs", facts, fake.ENC, 300)
    return blob


def signature(text: str, *, body: Json, headers: Mapping[str, str]) -> str:
    if not _FAKE:
        return secrets.token_urlsafe(200)
    fake, core = _FAKE["messages"], _FAKE["core"]
    turns = fake.merged(body["messages"])
    before = fake.prefix_digest(body.get("system"), body.get("tools"), turns, len(turns))
    facts = {"m": body["model"], "o": core.account_of(_key(headers))[1], "p": before, "h": core.digest(text)}
    blob: str = core.seal("thinking", facts, fake.SIG, 200)
    return blob


def tool_use_id(thoughts: list[Json]) -> str:
    made: str = _FAKE["messages"].tool_id(thoughts) if _FAKE else f"toolu_{secrets.token_hex(12)}"
    return made
