"""Messages as other programs keep them: an answer is often a chain of their nodes, of which one thinks, one calls, one says something.
Here each chain becomes one answer, with its pieces in their order and the times that are known of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ...core.items import Item, Kind, Outcome
from ...core.plural import many
from ...core.recorded import MOST, TOLD_ROUNDS
from ...core.tree import Tree, repair
from ...store.models import Role
from .json_reader import Broken, JsonReader
from .shape import Remark, ToldConversation, ToldMessage

# All nodes of one conversation, as they stand in the file.
MOST_OF_ONE, MOST_NODES = 128 * 1024 * 1024, 200_000
NO_QUESTION = "(The file has no question here.)"
ONE_SECOND = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePiece:
    """`kind` None: it only knows how long the thoughts before it took, together. `ms`: how long a thought took, `is_whole` where that
    was told in seconds; `start` and `end`: when it came."""

    kind: Kind | None
    text: str = ""
    name: str = ""
    call_id: str = ""
    outcome: str = ""
    ms: int | None = None
    is_whole: bool = False
    start: datetime | None = None
    end: datetime | None = None


@dataclass(slots=True, kw_only=True)
class ToldNode:
    """`role` None: nobody said anything there, and what follows it follows what it follows."""

    id: str
    parent: str | None
    role: Role | None
    pieces: Sequence[NodePiece] = ()
    at: datetime | None = None
    model: str = ""
    status: str = ""


def milliseconds(start: datetime | None, end: datetime | None) -> int | None:
    """None where that cannot be."""
    if start is None or end is None or end < start:
        return None
    return round((end - start).total_seconds() * 1000)


def seconds(value: Any) -> int | None:
    """Of a number of whole seconds, as milliseconds. Neither words nor what is negative."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST / ONE_SECOND
    return round(value * ONE_SECOND) if known else None


class Bounded:
    """What is read of one conversation at most."""

    def __init__(self, json: JsonReader) -> None:
        self._json, self._begin, self._count = json, json.place, 0

    def value(self) -> Any:
        self._one_more()
        return self._json.value()

    def nested(self, below: str) -> list[Any]:
        """A list of objects, each of which may have such a list of that name, however deep. Python would nest no thousand calls."""
        found: list[Any] = []
        inside: list[tuple[Iterator[Any], Any]] = [(self._json.elements(), found)]
        while inside:
            steps, into = inside[-1]
            if (name := next(steps, None)) is None:
                inside.pop()
            elif isinstance(into, dict) and name == below and self._json.sign() == "[":
                into[name] = []
                inside.append((self._json.elements(), into[name]))
            elif isinstance(into, dict):
                into[name] = self._json.value()
            elif self._json.sign() == "{":
                self._one_more()
                into.append({})
                inside.append((self._json.members(), into[-1]))
        return found

    def _one_more(self) -> None:
        self._count += 1
        if self._count > MOST_NODES:
            self._json.broken(f"one conversation has more than {many(MOST_NODES, 'message')}")
        if self._json.place - self._begin > MOST_OF_ONE:
            raise Broken(
                f"one conversation is larger than {MOST_OF_ONE // 1024 // 1024} megabytes", self._json.place
            )


def as_messages(
    nodes: Sequence[ToldNode], of: ToldConversation, order: Mapping[str, Sequence[str]] | None = None
) -> Iterator[ToldMessage]:
    """`order`: of what follows a node, where the file says it; else as it stands there. The head is told by a node's id."""
    known: dict[str, ToldNode] = {}
    for node in nodes:
        if node.id in known:
            of.note(Remark.TWICE)
        known.setdefault(node.id, node)
    _count_repairs(known, of)
    tree = repair([(node.id, node.parent) for node in known.values()])
    joined = _Joined(known, tree, order or {})
    for chain in joined.chains():
        yield from _told(chain, of)
    of.head = joined.home.get(of.head, of.head) if of.head else None


def _count_repairs(known: Mapping[str, ToldNode], of: ToldConversation) -> None:
    orphans = sum(node.parent is not None and node.parent not in known for node in known.values())
    of.note(Remark.ORPHAN, orphans)
    tree = repair([(node.id, node.parent if node.parent in known else None) for node in known.values()])
    loops = sum(tree.parents[id] is None and node.parent in known for id, node in known.items())
    of.note(Remark.LOOP, loops)


@dataclass(slots=True)
class _Chain:
    """Nodes that are one message, and the message that they follow."""

    id: str
    parent: _Chain | None
    nodes: list[ToldNode] = field(default_factory=list)

    @property
    def role(self) -> Role:
        return self.nodes[0].role or Role.ASSISTANT


class _Joined:
    """`home`: of each node the message in which it stands, or below which."""

    def __init__(
        self, nodes: Mapping[str, ToldNode], tree: Tree[str], order: Mapping[str, Sequence[str]]
    ) -> None:
        self._nodes, self._tree, self._order = nodes, tree, order
        self.home: dict[str, str] = {}

    def chains(self) -> Iterator[_Chain]:
        """Parents before what follows them."""
        made: list[_Chain] = []
        # Each with the message before it, and whether nothing else follows that one.
        waiting: list[tuple[str, _Chain | None, bool]] = [
            (id, None, False) for id in reversed(self._below(None))
        ]
        while waiting:
            id, above, straight = waiting.pop()
            node, below = self._nodes[id], self._below(id)
            chain = self._chain(node, above, straight)
            if chain is not None:
                self.home[id] = chain.id
                if chain is not above:
                    made.append(chain)
            goes_on = len(below) == 1 and (node.role is not None or straight)
            waiting.extend((child, chain, goes_on) for child in reversed(below))
        yield from made

    def _chain(self, node: ToldNode, above: _Chain | None, straight: bool) -> _Chain | None:
        if node.role is None:
            return above
        if above is not None and straight and above.role == node.role == Role.ASSISTANT:
            above.nodes.append(node)
            return above
        return _Chain(node.id, above, [node])

    def _below(self, id: str | None) -> list[str]:
        below = list(self._tree.children.get(id, ()))
        told = {child: n for n, child in enumerate(self._order.get(id or "", ()))}
        return sorted(below, key=lambda child: told.get(child, len(told)))


def _told(chain: _Chain, of: ToldConversation) -> Iterator[ToldMessage]:
    first = chain.nodes[0]
    parent = chain.parent.id if chain.parent else None
    if chain.role == Role.USER:
        words = "\n\n".join(piece.text for node in chain.nodes for piece in node.pieces)
        items = [Item(key="part-0", kind=Kind.USER_MESSAGE, text=words)] if words.strip() else []
        yield ToldMessage(id=first.id, parent=parent, role=Role.USER, items=items, at=first.at)
        return
    if parent is None:
        of.note(Remark.NO_QUESTION)
        asked = Item(key="part-0", kind=Kind.USER_MESSAGE, text=NO_QUESTION)
        parent = f"before {first.id}"
        yield ToldMessage(id=parent, parent=None, role=Role.USER, items=[asked], at=first.at)
    model = next((node.model for node in reversed(chain.nodes) if node.model), "")
    items, recorded = _answer([piece for node in chain.nodes for piece in node.pieces], model, of)
    status = chain.nodes[-1].status
    yield ToldMessage(
        id=first.id,
        parent=parent,
        role=Role.ASSISTANT,
        items=items,
        model=model,
        status=status,
        at=next((node.at for node in chain.nodes if node.at), None),
        recorded=recorded,
    )


def _answer(
    pieces: Sequence[NodePiece], model: str, of: ToldConversation
) -> tuple[list[Item], dict[str, Any]]:
    items: list[Item] = []
    calls = _Calls()
    durations: dict[str, int] = {}
    spans: dict[str, tuple[datetime, datetime]] = {}
    wholes: list[bool] = []
    round, gave, untimed = 0, False, list[str]()
    for piece in pieces:
        if piece.kind is None:
            if piece.ms is not None and untimed:
                durations[untimed[0]] = piece.ms
                wholes.append(piece.is_whole)
            untimed = []
            continue
        if piece.kind is Kind.TOOL_RESULT:
            gave = True
        elif gave:
            round, gave = round + 1, False
        item = _item(piece, piece.kind, len(items), round, calls, model)
        if item is None:
            of.note(Remark.UNKNOWN)
            continue
        items.append(item)
        if piece.kind is Kind.REASONING:
            if piece.ms is None:
                untimed.append(item.key)
            else:
                durations[item.key] = piece.ms
                wholes.append(piece.is_whole)
        if piece.start and piece.end and piece.start <= piece.end:
            spans[item.key] = piece.start, piece.end
    return items, _recorded(durations, spans, all(wholes), round)


class _Calls:
    """Of one answer, those that nothing has answered yet: a result belongs to the call that it names, else to the last one."""

    def __init__(self) -> None:
        self._open, self._answered = dict[str, Item](), set[str]()

    def add(self, call: Item) -> None:
        if call.call_id not in self._answered:
            self._open.setdefault(call.call_id, call)

    def answered(self, named: str) -> Item | None:
        name = named or next(reversed(self._open), "")
        call = self._open.pop(name, None)
        if call:
            self._answered.add(name)
        return call


def _item(piece: NodePiece, kind: Kind, place: int, round: int, calls: _Calls, model: str) -> Item | None:
    """None for a result of nothing."""
    key = f"part-{place}"
    if kind is Kind.TOOL_CALL:
        called = piece.call_id or f"call_{place}"
        item = Item(
            key=key, kind=kind, text=piece.text, name=piece.name, call_id=called, round=round, model=model
        )
        calls.add(item)
        return item
    if kind is not Kind.TOOL_RESULT:
        return Item(key=key, kind=kind, text=piece.text, round=round, model=model)
    call = calls.answered(piece.call_id)
    if call is None:
        return None
    return Item(
        key=key,
        kind=kind,
        text=piece.text,
        name=call.name,
        call_id=call.call_id,
        round=call.round,
        outcome=piece.outcome or Outcome.DONE,
    )


def _recorded(
    durations: Mapping[str, int], spans: Mapping[str, tuple[datetime, datetime]], whole: bool, rounds: int
) -> dict[str, Any]:
    """The times of the source: nobody here measured them."""
    recorded: dict[str, Any] = {TOLD_ROUNDS: rounds + 1}
    if durations:
        recorded["reasoning_durations_ms"] = dict(durations)
        if whole:
            recorded["whole_seconds"] = True
    if spans:
        began = min(start for start, _ in spans.values())
        timings = {
            key: {"start": milliseconds(began, start), "end": milliseconds(began, end)}
            for key, (start, end) in spans.items()
        }
        recorded |= {"timings_ms": timings, "elapsed_ms": max(span["end"] or 0 for span in timings.values())}
    return recorded
