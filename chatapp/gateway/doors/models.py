"""The list of models in the shapes that OpenAI's and Anthropic's clients read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

Json = dict[str, Any]


class ListedModel(NamedTuple):
    """`created`: in seconds of the epoch."""

    id: str
    label: str
    created: int
    owned_by: str


def for_openai(models: Sequence[ListedModel]) -> Json:
    return {"object": "list", "data": [one_for_openai(model) for model in models]}


def one_for_openai(model: ListedModel) -> Json:
    return {"id": model.id, "object": "model", "created": model.created, "owned_by": model.owned_by}


def for_anthropic(
    models: Sequence[ListedModel], *, after: str = "", before: str = "", limit: int = 1000
) -> Json:
    """A page: those behind the id `after`, or the last of those before the id `before`."""
    ids = [model.id for model in models]
    first = ids.index(after) + 1 if after in ids else 0
    last = ids.index(before) if before in ids else len(models)
    between = models[first:last]
    limit = max(limit, 1)
    page = between[-limit:] if before in ids else between[:limit]
    return {
        "data": [one_for_anthropic(model) for model in page],
        "has_more": len(page) < len(between),
        "first_id": page[0].id if page else None,
        "last_id": page[-1].id if page else None,
    }


def one_for_anthropic(model: ListedModel) -> Json:
    moment = datetime.fromtimestamp(model.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    named = {"type": "model", "id": model.id, "display_name": model.label or model.id}
    return named | {"created_at": moment, "lifecycle": "active"}
