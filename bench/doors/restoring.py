"""What it takes to make a history whole that a program kept no thoughts of, with all that was kept in memory."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from chatapp.core.items import Item, Kind
from chatapp.gateway.doors import chat
from chatapp.gateway.doors.handed import Handed, Sealing
from chatapp.gateway.replay.digests import Chain
from chatapp.gateway.replay.kept import KeptAnswer, Memory, ModelScope
from chatapp.gateway.replay.restoring import Found, names_of, restored


def restoring_ms(answers: int = 150, times: int = 20) -> float:
    """Milliseconds, of what is done with a history between reading it and asking a model."""
    scope = ModelScope(provider="p", destination="d", dialect="chat", model="m")
    sealing, memory = Sealing(b"key", "1"), Memory()
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Fix it."}]
    for n in range(answers):
        handed = Handed(sealing)
        call_id = handed.item("call_", "part-1")
        arguments = f'{{"command": "ls {n}", "path": "/some/where"}}'
        function = {"name": "shell", "arguments": arguments}
        call = {"id": call_id, "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call_id, "content": "a line of output\n" * 40})
        kind = {"provider": "p", "dialect": "chat", "model": "m"}
        words = "A thought of usual length. " * 20
        items = (
            Item(key="part-0", kind=Kind.REASONING, text=words, wire={"reasoning_content": words}, **kind),
            Item(
                key="part-1",
                kind=Kind.TOOL_CALL,
                text=arguments,
                name="shell",
                call_id=f"c{n}",
                wire={"id": f"c{n}", "function": function},
                **kind,
            ),
        )
        kept = KeptAnswer(
            secret=handed.secret,
            owner=1,
            scope=scope,
            digest=str(n),
            items=items,
            keys=handed.keys,
            expires=time.time() + 1000,
        )
        memory.keep(kept)
    messages += [{"role": "user", "content": f"And {n}?"} for n in range(400 - len(messages))]
    asked = chat.DOOR.read({"model": "m", "messages": messages}, {})
    took = []
    for _ in range(times):
        began = time.perf_counter()
        names = names_of(asked.history, Chain(1))
        found = Found(list(memory.find(1, names.all_secrets(), names.digests, time.time())))
        made = restored(asked.history, names, found, scope=scope, sealing=sealing, dialect="chat")
        took.append((time.perf_counter() - began) * 1000)
        assert made.restored == answers, made.restored
    return median(took)
