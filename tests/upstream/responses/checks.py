"""What the service refuses, and how much of a conversation it was sent."""

from __future__ import annotations

import re
from typing import Any

from ..kept import Store
from ..refusals import ApiError, openai_error
from ..scenario import Scenario
from ..sealing import digest, mac, unseal
from .ids import ENC, PREFIX, bare, read_id

EFFORTS = {None, "none", "minimal", "low", "medium", "high", "xhigh", "max"}


#: Fields that may come back on each item type. Fields that a reasoning item carried beyond these are
#: recorded inside its blob and must come back too; anything else is an unknown parameter.
FIELDS = {
    "reasoning": {"type", "id", "summary", "encrypted_content", "content"},
    "function_call": {"type", "id", "call_id", "name", "arguments", "status", "namespace", "caller"},
    "function_call_output": {"type", "id", "call_id", "output", "status"},
    "message": {"type", "id", "role", "content", "status", "phase"},
    "item_reference": {"type", "id"},
}
REQUIRED = {
    "reasoning": ("summary",),
    "function_call": ("call_id", "name", "arguments"),
    "function_call_output": ("call_id", "output"),
    "message": ("role", "content"),
    "item_reference": ("id",),
}


def check_request(body: dict, sc: Scenario) -> None:
    effort = (body.get("reasoning") or {}).get("effort")
    if effort not in EFFORTS:
        raise openai_error(
            400,
            f"Invalid value: '{effort}'. Supported values are: 'none', 'minimal', 'low', "
            "'medium', 'high', 'xhigh', and 'max'.",
            param="reasoning.effort",
            code="invalid_value",
        )
    for name in sc.section("responses").get("reject_params") or []:
        if body.get(name) is not None:
            raise openai_error(
                400, f"Unsupported parameter: '{name}' is not supported with this model.", param=name
            )
    if sc.section("responses").get("require_store_false") and body.get("store") is not False:
        raise openai_error(400, "Store must be set to false", param="store")
    if body.get("stream_options") is not None and not body.get("stream"):
        raise openai_error(
            400,
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            param="stream_options",
        )


def parse_input(body: dict) -> list[dict]:
    raw = body.get("input")
    if raw is None:
        raise openai_error(
            400, "Missing required parameter: 'input'.", param="input", code="missing_required_parameter"
        )
    if isinstance(raw, str):
        return [{"type": "message", "role": "user", "content": raw}]
    if not isinstance(raw, list):
        raise openai_error(
            400,
            "Invalid type for 'input': expected one of an array of objects or string.",
            param="input",
            code="invalid_type",
        )
    return [dict(it) if isinstance(it, dict) else it for it in raw]  # the record must stay as it was sent


def check_shape(items: list[dict], unsealed: dict[int, dict | None]) -> None:
    for i, it in enumerate(items):
        if not isinstance(it, dict):
            raise openai_error(
                400,
                f"Invalid type for 'input[{i}]': expected an object.",
                param=f"input[{i}]",
                code="invalid_type",
            )
        typ = it.setdefault(
            "type", "message" if "role" in it else "item_reference" if set(it) == {"id"} else ""
        )
        if typ not in FIELDS:
            raise openai_error(
                400,
                f"Invalid value: '{typ}'. Supported values are: " + ", ".join(f"'{t}'" for t in FIELDS) + ".",
                param=f"input[{i}].type",
                code="invalid_value",
            )
        for name in REQUIRED[typ]:
            if it.get(name) is None:
                raise openai_error(
                    400,
                    f"Missing required parameter: 'input[{i}].{name}'.",
                    param=f"input[{i}].{name}",
                    code="missing_required_parameter",
                )
        extra = set(it) - FIELDS[typ]
        if typ == "reasoning" and it.get("encrypted_content") is not None:
            unsealed[i] = unseal("rs", it["encrypted_content"], ENC)
            extra -= set((unsealed[i] or {}).get("x", ()))
        if extra:
            name = sorted(extra)[0]
            raise openai_error(
                400,
                f"Unknown parameter: 'input[{i}].{name}'.",
                param=f"input[{i}].{name}",
                code="unknown_parameter",
            )
        want = PREFIX.get(typ)
        if it.get("id") is not None and want and not str(it["id"]).startswith(want):
            raise openai_error(
                400,
                f"Invalid 'input[{i}].id': '{it['id']}'. Expected an ID that begins with '{want}'.",
                param=f"input[{i}].id",
                code="invalid_value",
            )
        if typ == "reasoning" and not isinstance(it["summary"], list):
            raise openai_error(
                400,
                f"Invalid type for 'input[{i}].summary': expected an array of objects.",
                param=f"input[{i}].summary",
                code="invalid_type",
            )
        if typ == "message" and it["role"] == "assistant" and isinstance(it["content"], list):
            for j, part in enumerate(it["content"]):
                if part.get("type") not in ("output_text", "refusal"):
                    raise openai_error(
                        400,
                        f"Invalid value: '{part.get('type')}'. Supported values are: "
                        "'output_text' and 'refusal'.",
                        param=f"input[{i}].content[{j}]",
                        code="invalid_value",
                    )


def bad_blob(item: dict, blob: str, reason: str) -> ApiError:
    who = f"for item {item['id']}" if item.get("id") else f"{blob[:4]}...{blob[-4:]}"
    return openai_error(
        400,
        f"The encrypted content {who} could not be verified. Reason: {reason}",
        code="invalid_encrypted_content",
    )


def not_stored(item_id: Any) -> ApiError:
    return openai_error(
        404,
        f"Item with id '{item_id}' not found. Items are not persisted when `store` is set to "
        "false. Try again with `store` set to true, or remove this item from your input.",
        param="input",
    )


def check_input(
    body: dict, sc: Scenario, org: str, store: Store, notes: list
) -> tuple[list[dict], list[dict]]:
    """All replay rules. Returns (full context items, input_transformations)."""
    opts = sc.section("responses")
    items = parse_input(body)
    unsealed: dict[int, dict | None] = {}
    check_shape(items, unsealed)

    context: list[dict] = []
    prev = body.get("previous_response_id")
    if prev:
        known = store.responses.get(prev)
        if not known or known["org"] != org:
            raise openai_error(
                400,
                f"Previous response with id '{prev}' not found.",
                param="previous_response_id",
                code="previous_response_not_found",
            )
        context = list(known["items"])

    full: list[dict] = [dict(it, _old=True) for it in context]
    removed: list[dict] = []
    seen_ids = {it["id"] for it in context if it.get("id")}
    for i, it in enumerate(items):
        it = dict(it)
        if it["type"] == "item_reference":
            known = store.items.get(it["id"])
            if not known or known["org"] != org:
                raise not_stored(it["id"])
            it = dict(known["item"])
        if it.get("id"):
            if it["id"] in seen_ids:
                raise openai_error(
                    400,
                    f"Duplicate item found with id {it['id']}. Remove duplicate items from your "
                    "input and try again.",
                    param="input",
                )
            seen_ids.add(it["id"])
        if it["type"] == "reasoning":
            it = check_reasoning(it, unsealed.get(i), body, opts, org, store, removed)
        elif it["type"] == "function_call":
            check_unchanged_call(it, notes, opts)
        full.append(it)

    check_pairs(full, by_id=opts.get("pairing", "id") == "id")
    return [{k: v for k, v in it.items() if not k.startswith("_")} for it in full], removed


def check_reasoning(
    it: dict, meta: dict | None, body: dict, opts: dict, org: str, store: Store, removed: list
) -> dict:
    blob = it.get("encrypted_content")
    if blob is None:
        known = store.items.get(it.get("id"))
        if not known or known["org"] != org:
            if it.get("id") is None:
                raise openai_error(400, "Reasoning item needs an 'id' or 'encrypted_content'.", param="input")
            raise not_stored(it["id"])
        return dict(it, _next=known["item"].get("_next"), _id=it["id"])
    if meta is None or not meta.get("f") or meta.get("stale"):
        # Not ours, altered, taken from output_item.added (unfinished), or expired.
        raise bad_blob(it, blob, "Encrypted content could not be decrypted or parsed.")
    if it.get("id") and it["id"] != meta["i"]:
        raise bad_blob(it, blob, "Encrypted content item_id did not match the target item id.")
    if meta["o"] != org:
        raise bad_blob(it, blob, "Encrypted content organization_id did not match the target organization.")
    if digest(bare(it)) != meta["h"] and opts.get("verify_reasoning", True):
        raise bad_blob(it, blob, "Encrypted content did not match the item (a field was changed or dropped).")
    it = dict(it, _next=meta.get("n"), _id=meta["i"])
    if meta["m"] != body.get("model"):
        if opts.get("on_model_mismatch", "error") == "drop":
            removed.append(
                {"id": meta["i"], "action": "removed", "reason": "model_mismatch", "type": "reasoning"}
            )
            it["_dropped"] = True
        else:
            raise bad_blob(it, blob, "Encrypted content was produced by a different model.")
    return it


def check_unchanged_call(it: dict, notes: list, opts: dict) -> None:
    m = re.match(r"^call_([0-9a-f]{8})([0-9a-f]{2})([0-9a-f]{14})$", str(it["call_id"]))
    if m and mac("call", m[1], int(m[2], 16), it["name"], it["arguments"], n=14) != m[3]:
        notes.append(f"function_call {it['call_id']}: name or arguments differ from what was sent")
        if opts.get("verify_calls"):
            raise openai_error(
                400,
                f"Item with call_id '{it['call_id']}' differs from what the model produced.",
                param="input",
            )


def check_pairs(items: list[dict], by_id: bool) -> None:
    """Ids tie items together: a reasoning item sent with its id wants its own follower with its own id, and an item
    sent with its id wants its reasoning item with its id. Sent without ids, only order and kind count.
    (`pairing: position` drops the first half of that; reports about the real service differ.)"""
    reasoning_seen: set[str] = set()
    calls: dict[str, int] = {}
    outputs: set[str] = set()
    for k, it in enumerate(items):
        typ = it["type"]
        if typ == "reasoning":
            rid = it.get("_id") or it.get("id")
            reasoning_seen.add(it.get("id"))
            if it.get("_dropped") or it.get("_old"):
                continue
            nxt = items[k + 1] if k + 1 < len(items) else None
            strict = by_id and it.get("id")
            if not any(follows(nxt, want, strict) for want in it.get("_next") or []):
                raise openai_error(
                    400,
                    f"Item '{rid}' of type 'reasoning' was provided without its required following item.",
                    param="input",
                )
        elif typ in ("function_call", "message"):
            needs = (read_id(it.get("id")) or {}).get("needs")
            if needs and needs not in reasoning_seen:
                raise openai_error(
                    400,
                    f"Item '{it['id']}' of type '{typ}' was provided without its required "
                    f"'reasoning' item: '{needs}'.",
                    param="input",
                )
        if typ == "function_call":
            calls[it["call_id"]] = k
        elif typ == "function_call_output":
            if it["call_id"] not in calls:
                raise openai_error(
                    400,
                    f"No tool call found for function call output with call_id {it['call_id']}.",
                    param="input",
                )
            outputs.add(it["call_id"])
    for call_id in calls:
        if call_id not in outputs:
            raise openai_error(400, f"No tool output found for function call {call_id}.", param="input")


def follows(nxt: dict | None, want: dict, strict: bool) -> bool:
    if not nxt or nxt["type"] != want["t"]:
        return False
    if want["t"] == "reasoning":
        return (nxt.get("_id") or nxt.get("id")) == want["id"]
    if nxt.get("id") or strict:
        return nxt.get("id") == want["id"]
    return nxt["call_id"] == want["c"] if want["t"] == "function_call" else nxt["role"] == "assistant"


def turn_index(items: list[dict]) -> int:
    """How many model responses the history holds. Ids tell; without ids, unbroken runs of model items."""
    keys, run, last_model = set(), 0, None
    for it in items:
        if it["type"] not in ("reasoning", "function_call") and it.get("role") != "assistant":
            last_model = None
            continue
        known = read_id(it.get("id"))
        m = re.match(r"^call_([0-9a-f]{8})[0-9a-f]{16}$", str(it.get("call_id")))
        if known:
            key = known["resp"][:8]
        elif m:
            key = m[1]
        elif it["type"] == "reasoning" and (meta := unseal("rs", it.get("encrypted_content") or "", ENC)):
            key = meta["i"].split("_")[1][:8]
        elif last_model is not None:
            key = last_model
        else:
            run += 1
            key = f"run{run}"
        keys.add(key)
        last_model = key
    return len(keys)
