"""A branch as others see it who have a link: what was not shared is taken out before anything is made of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import partial

from ...catalog.page.models_shown import models_in_words
from ...core.durations import in_short, together
from ...core.items import Kind
from ...core.plural import many
from ...core.recorded import Recorded
from ...pages.signed_in import Anybody
from ...pages.words.moments import Moment
from ...providers.configured import Catalog
from ...store import Branch, load_branch
from ...store.models import Message, Role
from ...thread.items_so_far import ItemSoFar
from ...thread.message import ShownMessage, Standpoint
from ...thread.page import for_others
from ..models import Share
from ..store import Shared, facts_for_others, load_title, shared_messages

AT_ONCE = 50
NO_THOUGHTS = "The words of this thought were not shared."
NO_TOOLS = "What this call was given and what it gave were not shared."
GOES_ON = "This answer is being continued. Reload the page later to see all of it."
_TOOLS = (Kind.TOOL_CALL, Kind.TOOL_RESULT)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPage:
    """Some messages of the branch; `earlier` and `later`: where the page before these and after them begins."""

    title: str
    owner: str
    since: Moment
    parts: str
    sums: str
    messages: list[ShownMessage]
    earlier: int | None
    later: int | None


def load_shared_page(
    shared: Shared, viewer: Anybody, catalog: Catalog, zone: tzinfo, start: int
) -> SharedPage:
    path = shared_messages(shared.share)
    start = min(start, max(0, len(path) - 1))
    shown = path[start : start + AT_ONCE]
    branch = load_branch(shown[-1], newest=len(shown), of=shared.share.leaf.conversation)
    acts = "sharing/_acts.html" if viewer.is_authenticated else ""
    look = Standpoint(viewer=viewer, leaf=None, zone=zone, acts=acts, end="thread/_end_shared.html")
    return SharedPage(
        title=load_title(shared, path[0]),
        owner=shared.owner_name,
        since=Moment(shared.share.created_at.astimezone(zone)),
        parts=_what_is_here(shared.share, branch),
        sums=_sums_in_words(branch, catalog, len(path)),
        messages=[_shown_message(branch, row, shared.share, look, catalog) for row in branch.messages],
        earlier=max(0, start - AT_ONCE) if start else None,
        later=start + AT_ONCE if start + AT_ONCE < len(path) else None,
    )


def _shown_message(
    branch: Branch, row: Message, share: Share, look: Standpoint, catalog: Catalog
) -> ShownMessage:
    items = branch.items.get(row.pk, [])
    row.metadata = facts_for_others(row.metadata)
    told, label = partial(_as_shared, share=share), catalog.label(row.model)
    shown = for_others(row, items, look, label, told=told, waits=GOES_ON)
    return replace(shown, timeline=replace(shown.timeline, sent=()))


def _as_shared(piece: ItemSoFar, share: Share) -> ItemSoFar:
    """The words that may not be seen are not in it any more."""
    piece = without_decider(piece)
    if piece.kind is Kind.REASONING and not share.with_thoughts:
        return replace(piece, text="", withheld=NO_THOUGHTS)
    if piece.kind in _TOOLS and not share.with_tools:
        result = piece.result and replace(piece.result, text="", withheld=NO_TOOLS)
        return replace(piece, text="", result=result, withheld=NO_TOOLS)
    return piece


def without_decider(piece: ItemSoFar) -> ItemSoFar:
    if not piece.decided:
        return piece
    return replace(piece, decided=replace(piece.decided, by="", name="", arguments_hash=""))


def _what_is_here(share: Share, branch: Branch) -> str:
    """What goes along and what does not, where there is such a thing."""
    kinds = {item.kind for items in branch.items.values() for item in items}
    said = {share.with_thoughts: ["thoughts"] if Kind.REASONING in kinds else []}
    said.setdefault(share.with_tools, []).extend(["tool details"] if Kind.TOOL_CALL in kinds else [])
    words = [
        f"{'with' if along else 'without'} {' and '.join(named)}"
        for along, named in sorted(said.items(), reverse=True)
        if named
    ]
    return "".join(f", {part}" for part in words)


def _sums_in_words(branch: Branch, catalog: Catalog, length: int) -> str:
    """Of a branch that goes on elsewhere nobody adds up the thinking."""
    said = many((length + 1) // 2, "question")
    if len(branch.messages) < length:
        return f"{said}."
    answers = [row for row in branch.messages if row.role == Role.ASSISTANT]
    taken = [ms for row in answers for ms in Recorded(row.metadata).thoughts.values()]
    models = list(dict.fromkeys(catalog.label(row.model) or row.model for row in answers))
    thought = f"{in_short(together(taken))} of thought" if taken else ""
    by = f"by {models_in_words(models)}" if models else ""
    return f"{', '.join(filter(None, [said, ' '.join(filter(None, [thought, by]))]))}."
