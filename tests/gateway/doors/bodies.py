"""Requests that use all that a door knows, and answers that a program sends back."""

from __future__ import annotations

from typing import Any

PICTURE = "data:image/png;base64,iVBORw0KGgo="
SCHEMA = {"type": "object", "properties": {"port": {"type": "string"}}}
DETAIL = {"type": "reasoning.text", "text": "Hm.", "signature": "sig", "id": "rd_1", "index": 0}

CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be short."},
        {"role": "developer", "content": [{"type": "text", "text": "In French."}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look:"},
                {"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}},
                {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}},
                {
                    "type": "file",
                    "file": {"file_data": "data:application/pdf;base64,JVBE", "filename": "a.pdf"},
                },
                {"type": "file", "file": {"file_id": "file-1"}},
            ],
        },
        {
            "role": "assistant",
            "content": "I look.",
            "reasoning_content": "Hm.",
            "reasoning_details": [DETAIL],
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "tide", "arguments": '{"port":"Brest"}'},
                    "extra_content": {"google": {"thought_signature": "s"}},
                },
                {"id": "call_2", "type": "custom", "custom": {"name": "patch", "input": "*** a"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "high"},
        {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "done"}]},
        {"role": "assistant", "content": None, "function_call": {"name": "wind", "arguments": "{}"}},
        {"role": "function", "name": "wind", "content": "west"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "So."}]},
                {"type": "text", "text": "High."},
                {"type": "refusal", "refusal": "No more."},
            ],
        },
        {"role": "user", "content": "And now?"},
    ],
    "stream": True,
    "stream_options": {"include_usage": True},
    "tools": [
        {
            "type": "function",
            "function": {"name": "tide", "description": "Tides.", "parameters": SCHEMA, "strict": True},
        },
        {"type": "custom", "custom": {"name": "patch"}},
    ],
    "tool_choice": {"type": "function", "function": {"name": "tide"}},
    "parallel_tool_calls": False,
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "tide", "description": "A tide.", "schema": SCHEMA, "strict": True},
    },
    "stop": ["END"],
    "temperature": 0.5,
    "top_p": 0.9,
    "max_tokens": 100,
    "max_completion_tokens": 200,
    "reasoning_effort": "low",
    "reasoning": {"effort": "high", "max_tokens": 5, "enabled": True},
    "thinking": {"type": "enabled", "budget_tokens": 10},
    "chat_template_kwargs": {"enable_thinking": True},
    "modalities": ["text"],
    "n": 1,
    "seed": 7,
}

MESSAGES: dict[str, Any] = {
    "model": "m",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "Be short.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look:"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
                {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}},
                {"type": "document", "source": {"type": "file", "file_id": "file_1"}, "title": "a.pdf"},
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "words"}},
                {
                    "type": "document",
                    "title": "t",
                    "source": {"type": "content", "content": [{"type": "text", "text": "inner"}]},
                },
                {
                    "type": "search_result",
                    "title": "t",
                    "source": "https://a.example",
                    "content": [{"type": "text", "text": "found"}],
                },
                {"type": "container_upload", "file_id": "file_2"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
                {"type": "redacted_thinking", "data": "sealed"},
                {"type": "text", "text": "I look."},
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
                {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {"port": "Brest"}},
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_2", "name": "wind", "input": {}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Here."},
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "high"},
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "is_error": True,
                    "content": [
                        {"type": "text", "text": "broken"},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"},
                        },
                    ],
                },
            ],
        },
        {"role": "system", "content": "Be quick."},
        {"role": "assistant", "content": "High."},
        {"role": "user", "content": "And now?"},
    ],
    "stream": True,
    "tools": [
        {"name": "tide", "description": "Tides.", "input_schema": SCHEMA, "strict": True},
        {"type": "custom", "name": "wind", "input_schema": SCHEMA, "eager_input_streaming": True},
        {"type": "web_search_20250305", "name": "web_search"},
    ],
    "tool_choice": {"type": "tool", "name": "tide", "disable_parallel_tool_use": True},
    "output_config": {
        "effort": "max",
        "format": {"type": "json_schema", "schema": SCHEMA},
        "task_budget": {"total": 9},
    },
    "thinking": {"type": "adaptive", "display": "omitted"},
    "stop_sequences": ["END"],
    "temperature": 0.5,
    "top_p": 0.9,
    "top_k": 40,
    "metadata": {"user_id": "u"},
}


def asking(**more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": "Why?"}], **more}


def telling(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), **more}
