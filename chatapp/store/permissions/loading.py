"""What may run of a turn's calls: what was offered, allowed and begun, read at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from ...core.decision import Decided, Decision, arguments_hash, decisions_by_call
from ...core.items import Item
from ..branches import load_items
from ..models import Conversation, ToolRun
from .chosen_tools import names_of
from .grants import granted


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """`offered`: names of tools. `begun`: keys of calls that may have run already. `granted`: fingerprints by name."""

    owner: str
    offered: frozenset[str]
    begun: frozenset[str]
    decided: Mapping[str, Decided]
    granted: Mapping[str, str]

    def allow(self, call: Item, *, fingerprint: str) -> bool:
        """Whether the owner let this call run: these very arguments once, or the tool as it is for the conversation."""
        decided = self.decided.get(call.key)
        if decided and decided.by == self.owner and decided.arguments_hash == arguments_hash(call.text):
            return decided.decision is not Decision.DENIED
        return self.granted.get(call.name) == fingerprint


def load_permissions(message: UUID) -> Permissions:
    conversation = Conversation.objects.get(messages=message)
    begun = ToolRun.objects.filter(message=message).values_list("key", flat=True)
    return Permissions(
        owner=str(conversation.owner_id),
        offered=frozenset(names_of(conversation)),
        begun=frozenset(begun),
        decided=decisions_by_call(load_items(message)),
        granted=granted(conversation),
    )
