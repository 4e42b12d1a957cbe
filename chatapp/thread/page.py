"""The branch on screen, put together from rows: its newest messages, each as it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from uuid import UUID

from django.contrib.auth.models import User

from ..core.items import Item
from ..core.tree import Tree
from ..markdown.kept import Blocks
from ..pages.models import Preference
from ..pages.preferences import preference_of
from ..pages.signed_in import SignedIn
from ..pages.words.axis import Scale
from ..pages.words.days import zone_of
from ..providers.configured import Catalog, UnknownModel
from ..store import (
    Branch,
    Questions,
    Seen,
    load_branch,
    load_counted_branch,
    load_items_of,
    load_message_rows,
)
from ..store.database.worded import Worded
from ..store.models import LIVE, Conversation, Message
from ..store.places import load_siblings
from ..tools import Tool
from ..turns.engine import engine
from .item import ShownItem
from .item_body import blocks_of
from .items_so_far import ItemSoFar, items_so_far
from .message import ShownMessage, Standpoint, version_of
from .meter import Larger, larger
from .timeline import OWNER, timeline_of
from .whole_text import as_whole_texts

NEWEST = 50
Known = Callable[[Message, Sequence[Item]], tuple[Message, Sequence[Item]]]


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks, what they chose, by which clock, and who knows the models and the tools. `known`: the row and the items of a
    message, with what this process knows of it and could not write yet. `program`: what drives the conversation, where a program does."""

    user: User
    thoughts_open: bool
    catalog: Catalog
    zone: tzinfo = UTC
    tools: Callable[[], Mapping[str, Tool]] = dict
    known: Known = lambda row, items: (row, items)
    program: str = ""

    def look(self, leaf: UUID | None, siblings: Mapping[UUID, tuple[UUID, ...]]) -> Standpoint:
        return Standpoint(
            viewer=self.user,
            leaf=leaf,
            siblings=siblings,
            zone=self.zone,
            larger=self.larger,
            tools=self.tools(),
            program=self.program,
        )

    def item(self, message: UUID, piece: ItemSoFar, blocks: Blocks = ()) -> ShownItem:
        by_program = bool(self.program)
        return ShownItem(
            message, piece, blocks, self.thoughts_open, self.user, self.zone, by_program=by_program
        )

    def larger(self, model: str) -> tuple[Larger, ...]:
        """Models with more room than this one."""
        with suppress(UnknownModel):
            return larger(self.catalog.find(model)[1].window, self.catalog.listed())
        return ()


def viewer_of(request: SignedIn, preference: Preference | None = None) -> Viewer:
    """`preference`: where it is known."""
    preference, own = preference or preference_of(request.user), engine()
    return Viewer(
        request.user,
        preference.thoughts_open,
        own.catalog,
        zone_of(request),
        tools=lambda: own.tools,
        known=own.keeper.known,
    )


@dataclass(frozen=True, slots=True)
class Thread:
    conversation: Conversation
    messages: list[ShownMessage]
    questions: Questions = Questions()  # noqa: RUF009  (a value that cannot change)

    @property
    def leaf(self) -> ShownMessage | None:
        return self.messages[-1] if self.messages else None

    @property
    def followed(self) -> Message | None:
        """The answer that the next question follows. A question without an answer is asked again, or in other words."""
        return next((shown.row for shown in reversed(self.messages) if not shown.is_question), None)

    @property
    def earlier(self) -> UUID | None:
        """Where the messages above these begin."""
        return self.messages[0].row.parent_id if self.messages else None


def load_thread(
    conversation: Conversation,
    leaf: UUID | None,
    viewer: Viewer,
    *,
    seen: Seen | None = None,
    newest: int = NEWEST,
    tree: Tree[UUID] | None = None,
) -> Thread:
    """The newest messages of the branch that ends at this leaf. `seen`: the draft of the leaf, where that still runs;
    `tree`: where it is known."""
    if leaf is None:
        return Thread(conversation, [])
    viewer = replace(viewer, program=conversation.program)
    branch, questions = load_counted_branch(leaf, newest=newest, of=conversation)
    look = viewer.look(leaf, _siblings(branch, tree))
    drafts = {leaf: seen} if branch.leaf.status in LIVE else {}
    shown = [shown_of(branch, row, look, viewer, seen=drafts.get(row.pk)) for row in branch.messages]
    return Thread(conversation, shown, questions)


def load_earlier(conversation: Conversation, end: UUID, viewer: Viewer) -> Thread:
    """The messages down to this one; what is below it is on the page already."""
    branch = load_branch(end, newest=NEWEST, of=conversation)
    viewer = replace(viewer, program=conversation.program)
    look = viewer.look(None, _siblings(branch))
    return Thread(conversation, [shown_of(branch, row, look, viewer) for row in branch.messages])


def _siblings(branch: Branch, tree: Tree[UUID] | None = None) -> dict[UUID, tuple[UUID, ...]]:
    if tree:
        return {row.pk: tree.siblings(row.pk) for row in branch.messages}
    return load_siblings(branch.conversation.pk, list(branch.messages))


def shown_of(
    branch: Branch,
    row: Message,
    look: Standpoint,
    viewer: Viewer,
    *,
    seen: Seen | None = None,
    scale: Scale | None = None,
    waits: str = "",
) -> ShownMessage:
    """`scale`: what its times are drawn on, where that is not its own; `waits`: what is said while it is being written."""
    row, items = viewer.known(row, branch.items.get(row.pk, []))
    pieces = as_whole_texts(items_so_far(row, items, seen if row.status in LIVE else None), viewer.zone)
    made = [viewer.item(row.pk, piece, blocks_of(row.pk, piece)) for piece in pieces]
    timeline = timeline_of(row, items, viewer.catalog.label(row.model), scale)
    return ShownMessage(row, made, look, timeline, waits or (seen.draft.waits if seen else ""))


def for_others(
    row: Message,
    items: Sequence[Item],
    look: Standpoint,
    label: str,
    *,
    told: Callable[[ItemSoFar], ItemSoFar] | None = None,
    blocks: Callable[[UUID, ItemSoFar], Blocks] = blocks_of,
    waits: str = "",
) -> ShownMessage:
    """As rows have it, for somebody who does not own it. `told`: what of each piece they are told; `blocks`: how its body is made."""
    pieces = list(map(told, items_so_far(row, items))) if told else items_so_far(row, items)
    made = [
        ShownItem(row.pk, piece, blocks(row.pk, piece), viewer=look.viewer, zone=look.zone, asked=OWNER)
        for piece in as_whole_texts(pieces, look.zone)
    ]
    return ShownMessage(row, made, look, timeline_of(row, items, label, asked=OWNER), waits)


def load_message(pk: UUID, viewer: Viewer) -> ShownMessage:
    return load_messages([pk], viewer)[0]


def load_version(pk: UUID, viewer: Viewer) -> str:
    """Read from a few columns, where nobody knows more than they say."""
    row = Message.objects.only("attempt", "next_seq", "status").get(pk=pk)
    known, _ = viewer.known(row, ())
    return version_of(row) if known is row else load_message(pk, viewer).version


@dataclass(frozen=True, slots=True)
class End:
    """What a page is told of its last message while nothing of it has to be drawn."""

    role: str
    status: str
    version: str


_END = Worded(
    lambda pk, conversation: Message.objects.filter(pk=pk, conversation=conversation, deletion=None).only(
        "role", "attempt", "next_seq", "status"
    ),
    UUID,
    UUID,
)


def load_end(pk: UUID, conversation: UUID, viewer: Viewer) -> End | None:
    """As `load_version` reads it; None where it is not there any more."""
    row: Message | None = _END.first(pk, conversation)
    if row is None:
        return None
    known, _ = viewer.known(row, ())
    return End(row.role, known.status, version_of(row) if known is row else load_message(pk, viewer).version)


def load_messages(pks: Sequence[UUID], viewer: Viewer) -> list[ShownMessage]:
    """Messages of one conversation, each by itself, without the bodies of its items."""
    if not pks:
        return []
    rows, items = load_message_rows(pks), load_items_of(pks)
    siblings = load_siblings(rows[0][0].conversation_id, [row for row, _ in rows])
    return [shown_alone(row, items[row.pk], viewer, siblings, is_leaf=is_leaf) for row, is_leaf in rows]


def shown_alone(
    stored: Message,
    said: Sequence[Item],
    viewer: Viewer,
    siblings: Mapping[UUID, tuple[UUID, ...]],
    *,
    is_leaf: bool,
) -> ShownMessage:
    """Without the bodies of its items."""
    row, items = viewer.known(stored, said)
    look = viewer.look(row.pk if is_leaf else None, siblings)
    made = [viewer.item(row.pk, piece) for piece in as_whole_texts(items_so_far(row, items), viewer.zone)]
    return ShownMessage(row, made, look, timeline_of(row, items, viewer.catalog.label(row.model)))
