"""What the Responses API keeps where it is told to."""

from __future__ import annotations

from collections import OrderedDict

MOST = 5000


class Store:
    """Responses kept for store:true (previous_response_id and item_reference), the newest."""

    def __init__(self) -> None:
        self.responses: OrderedDict[str, dict] = OrderedDict()
        self.items: dict[str, dict] = {}

    def put(self, org: str, rid: str, context: list, output: list) -> None:
        self.responses[rid] = {"org": org, "items": context + output}
        for it in output:
            self.items[it["id"]] = {"org": org, "item": it}
        while len(self.responses) > MOST:
            self.responses.popitem(last=False)
