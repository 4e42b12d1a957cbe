"""What the service refuses, and which thoughts it drops."""

from __future__ import annotations

from ..refusals import anthropic_error
from ..scenario import Scenario
from ..sealing import digest, mac, unseal
from .ids import SIG, blocks, merged, prefix_digest, read_tool_id, thinking_key

BETA_BINDING = "thinking-binding-controls-2026-08-01"
DOCS = "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
BLOCK_FIELDS = {
    "text": {"type", "text", "cache_control", "citations"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "cache_control", "caller", "toolset_name"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"},
    "image": {"type", "source", "cache_control"},
    "document": {"type", "source", "cache_control", "title", "context", "citations"},
}


def fail(where: str, text: str):
    return anthropic_error(400, f"{where}: {text}" if where else text)


def check(body: dict, headers, sc: Scenario, org: str, notes: list) -> tuple[list[dict], list[dict]]:
    """All request rules. Returns (merged messages, input_transformations)."""
    opts = sc.section("anthropic")
    if not headers.get("anthropic-version"):
        raise fail("", "anthropic-version: header is required")
    if not isinstance(body.get("max_tokens"), int):
        raise fail("max_tokens", "Field required")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise fail("messages", "at least one message is required")
    thinking = body.get("thinking") or {"type": opts.get("default_thinking", "disabled")}
    mode = thinking.get("type")
    if mode not in ("enabled", "disabled", "adaptive", "between_tools"):
        raise fail("thinking.type", "Input should be 'enabled', 'disabled' or 'adaptive'")
    if opts.get("only_adaptive"):  # newest models: always adaptive, no forced tools
        if mode in ("enabled", "disabled"):
            raise fail(
                "",
                f'"thinking.type.{mode}" is not supported for this model. Use "thinking.type.adaptive" and '
                '"output_config.effort" to control thinking behavior.',
            )
        if (body.get("tool_choice") or {}).get("type") in ("any", "tool"):
            raise fail("", "tool_choice forces tool use, which is not supported for this model.")
    if mode == "enabled":
        budget = thinking.get("budget_tokens")
        if budget is None:
            raise fail("thinking.enabled.budget_tokens", "Field required")
        if budget < 1024:
            raise fail("thinking.enabled.budget_tokens", "Input should be greater than or equal to 1024")
        if budget >= body["max_tokens"] and "interleaved-thinking" not in (
            headers.get("anthropic-beta") or ""
        ):
            raise fail(
                "",
                "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our "
                f"documentation at {DOCS}#max-tokens-and-context-window-size",
            )
        if (body.get("tool_choice") or {}).get("type") in ("any", "tool"):
            raise fail("", "Thinking may not be enabled when tool_choice forces tool use.")
    breakpoints = 0
    for i, m in enumerate(messages):
        # An operator's word in the middle of a conversation; newer models and clients (coding agents) send it.
        if m.get("role") == "system" and i and not opts.get("no_system_turns"):
            if any(b.get("type") != "text" for b in blocks(m.get("content"))):
                raise fail(f"messages.{i}", "`system` messages may only contain text blocks")
        elif m.get("role") not in ("user", "assistant"):
            raise fail(f"messages.{i}.role", "Input should be 'user' or 'assistant'")
        if m.get("content") in (None, "", []) and not (i == len(messages) - 1 and m["role"] == "assistant"):
            raise fail(
                f"messages.{i}",
                "all messages must have non-empty content except for the optional final assistant message",
            )
        for j, b in enumerate(blocks(m.get("content"))):
            where = f"messages.{i}.content.{j}"
            typ = b.get("type")
            if typ not in BLOCK_FIELDS:
                raise fail(
                    where, f"Input tag '{typ}' found using 'type' does not match any of the expected tags"
                )
            extra = sorted(set(b) - BLOCK_FIELDS[typ])
            if extra:
                raise fail(f"{where}.{typ}.{extra[0]}", "Extra inputs are not permitted")
            for name in {
                "thinking": ("thinking", "signature"),
                "redacted_thinking": ("data",),
                "tool_use": ("id", "name", "input"),
                "tool_result": ("tool_use_id",),
            }.get(typ, ()):
                if name not in b:
                    raise fail(f"{where}.{typ}.{name}", "Field required")
            if typ == "text" and not b.get("text"):
                raise fail("messages", "text content blocks must be non-empty")
            breakpoints += 1 if b.get("cache_control") else 0
    breakpoints += sum(1 for b in blocks(body.get("system")) if b.get("cache_control"))
    breakpoints += sum(1 for t in body.get("tools") or [] if t.get("cache_control"))
    if breakpoints > 4:
        raise fail("", f"A maximum of 4 blocks with cache_control may be provided. Found {breakpoints}.")

    msgs = merged(messages)
    if msgs[0]["role"] != "user":
        raise fail("messages", 'first message must use the "user" role')
    check_tool_pairs(msgs)
    removed = check_thinking(body, headers, msgs, mode, opts, org, notes)
    return msgs, removed


def check_tool_pairs(msgs: list[dict]) -> None:
    for k, m in enumerate(msgs):
        if m["role"] == "assistant":
            ids = [b["id"] for _, b in m["rows"] if b["type"] == "tool_use"]
            nxt = msgs[k + 1]["rows"] if k + 1 < len(msgs) else []
            have = {b["tool_use_id"] for _, b in nxt if b["type"] == "tool_result"}
            lost = [i for i in ids if i not in have]
            if lost and k + 1 <= len(msgs):
                raise fail(
                    f"messages.{m['index']}",
                    "`tool_use` ids were found without `tool_result` blocks "
                    f"immediately after: {', '.join(lost)}. Each `tool_use` block must have a corresponding "
                    "`tool_result` block in the next message.",
                )
        else:
            prev = {b["id"] for _, b in msgs[k - 1]["rows"] if b["type"] == "tool_use"} if k else set()
            for where, b in m["rows"]:
                if b["type"] == "tool_result" and b["tool_use_id"] not in prev:
                    raise fail(
                        where,
                        "unexpected `tool_use_id` found in `tool_result` blocks: "
                        f"{b['tool_use_id']}. Each `tool_result` block must have a corresponding `tool_use` "
                        "block in the previous message.",
                    )


def check_thinking(
    body: dict, headers, msgs: list[dict], mode: str, opts: dict, org: str, notes: list
) -> list[dict]:
    last_a = max((k for k, m in enumerate(msgs) if m["role"] == "assistant"), default=None)
    in_tool_loop = (
        last_a is not None
        and last_a + 1 < len(msgs)
        and any(b["type"] == "tool_result" for _, b in msgs[last_a + 1]["rows"])
    )
    loop_start = max(
        (
            k
            for k, m in enumerate(msgs)
            if m["role"] == "user" and any(b["type"] != "tool_result" for _, b in m["rows"])
        ),
        default=0,
    )
    removed: list[dict] = []
    behaviour = ((body.get("thinking") or {}).get("block_binding") or {}).get("prefix_mismatch_behavior")
    beta = BETA_BINDING in (headers.get("anthropic-beta") or "")
    if behaviour and not beta:
        raise fail("thinking.adaptive.block_binding", "Extra inputs are not permitted")
    for k, m in enumerate(msgs):
        if m["role"] != "assistant":
            continue
        before: list[dict] = []
        for where, b in m["rows"]:
            if b["type"] in ("thinking", "redacted_thinking"):
                meta = unseal(b["type"], b.get("signature") or b.get("data"), SIG)
                changed = meta is None or (b["type"] == "thinking" and digest(b["thinking"]) != meta["h"])
                if changed and b["type"] == "thinking" and meta is not None and k == last_a and in_tool_loop:
                    raise cannot_modify(where)
                if changed:
                    field = "signature" if b["type"] == "thinking" else "data"
                    raise fail(where, f"Invalid `{field}` in `{b['type']}` block")
                before.append(b)
                reason = binding_problem(meta, body, msgs, k, opts, org)
                if reason:
                    if (
                        reason == "prefix_binding_mismatch"
                        and behaviour != "drop_block"
                        and opts.get("preserved_thinking") != "drop"
                    ):
                        raise prefix_error(where, meta, body, msgs, k)
                    removed.append({"type": "thinking_dropped", "path": where, "reason": reason})
            elif b["type"] == "tool_use" and k == last_a and in_tool_loop and mode != "disabled":
                check_before_tool(b, before, where, m)
            elif b["type"] == "tool_use" and k > loop_start and not same_thinking(b, before):
                notes.append(
                    f"{where}: thinking blocks of an earlier step of this tool loop are missing or changed"
                )
        if mode == "disabled" and k == last_a and (in_tool_loop or k == len(msgs) - 1) and before:
            where = next(w for w, b in m["rows"] if b["type"] in ("thinking", "redacted_thinking"))
            raise fail(
                where,
                "When thinking is disabled, an `assistant` message in the final position cannot contain "
                "`thinking`. To use thinking blocks, enable `thinking` in your request.",
            )
        if m["rows"] and m["rows"][-1][1]["type"] in ("thinking", "redacted_thinking"):
            raise fail(
                f"messages.{m['index']}", "The final block in an assistant message cannot be `thinking`."
            )
    return removed


def same_thinking(b: dict, before: list[dict]) -> bool:
    """True if the thinking blocks before this tool_use are the ones it was minted with (or the id is not ours)."""
    known = read_tool_id(b["id"])
    return not known or known[2] == mac(
        "toolu", known[0], f"{known[1]:x}", thinking_key(before) if before else "-", n=13
    )


def check_before_tool(b: dict, before: list[dict], where: str, m: dict) -> None:
    """The thinking blocks before a tool_use of the current tool turn must be the ones that were minted."""
    if same_thinking(b, before):
        return
    first = m["rows"][0]
    if read_tool_id(b["id"])[1] and first[1]["type"] not in ("thinking", "redacted_thinking"):
        raise fail(
            f"{first[0]}.type",
            f"Expected `thinking` or `redacted_thinking`, but found "
            f"`{first[1]['type']}`. When `thinking` is enabled, a final `assistant` message must start with a "
            "thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend "
            "you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. "
            f"Please consult our documentation at {DOCS}",
        )
    raise cannot_modify(where)


def cannot_modify(where: str):
    return fail(
        where,
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
        "These blocks must remain as they were in the original response.",
    )


def binding_problem(meta: dict, body: dict, msgs: list[dict], k: int, opts: dict, org: str) -> str | None:
    if meta["o"] != org:
        return "organization_binding_mismatch"
    if meta["m"] != body["model"]:
        return "model_binding_mismatch"
    if opts.get("preserved_thinking") and meta["p"] != prefix_digest(
        body.get("system"), body.get("tools"), msgs, k
    ):
        return "prefix_binding_mismatch"
    return None


def prefix_error(where: str, meta: dict, body: dict, msgs: list[dict], k: int):
    now = prefix_digest(body.get("system"), body.get("tools"), msgs, k)
    part = next(
        t
        for f, t in (("s", "The `system` prompt"), ("t", "The `tools` list"), ("m", "An earlier message"))
        if now[f] != meta["p"][f]
    )
    return fail(
        where,
        "Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
        'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". That '
        f"setting requires the `{BETA_BINDING}` value in the `anthropic-beta` header. {part} differs from "
        "the one this block was created with.",
    )
