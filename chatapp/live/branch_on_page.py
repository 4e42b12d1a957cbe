"""Another branch in place of the one on the page, or the end of the same one: from where they part, what is new."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile, zip_longest
from uuid import UUID

from ..conversations.news.question import end_of_branch, render_whole
from ..pages import operations
from ..pages.elements import message_id
from ..pages.operations import Operation
from ..store import count_questions, places
from ..thread.outline import render_line, render_questions
from ..thread.page import Viewer, load_messages


def below_what_stands(path: Sequence[UUID], there: int, viewer: Viewer) -> list[Operation]:
    """Of this branch so many messages are on the page already; the last of them may have lost its Continue."""
    shown = load_messages(path[max(0, there - 1) :], viewer)
    made = [operations.shell(above.shell()) for above in shown[: min(there, 1)]]
    made += [operations.add("messages", render_whole(message)) for message in shown[min(there, 1) :]]
    return made + end_of_branch(shown[-1].row, viewer.catalog, viewer.program)


def turned_to(conversation: UUID, leaf: UUID | None, answer: UUID, viewer: Viewer) -> list[Operation]:
    """The branch of this answer, where the page shows the one that ends at `leaf`."""
    tree = places.load_tree(conversation)
    before, path = tree.path_to(leaf), tree.path_to(answer)
    pairs = zip(before, path, strict=False)
    there = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    stays = ["earlier", *map(message_id, path[:there])]
    made = [operations.keep("messages", stays), *below_what_stands(path, there, viewer)]
    return made + _outlined(conversation, path, there, viewer)


def _outlined(conversation: UUID, path: Sequence[UUID], there: int, viewer: Viewer) -> list[Operation]:
    """The branch at a glance, and how many questions it has."""
    stays, shown = [f"o-{pk}" for pk in path[:there]], load_messages(path[there:], viewer)
    pairs = zip_longest(shown, shown[1:])
    lines = [render_line(one, below) for one, below in pairs if one.is_question]
    made = [operations.keep("outline", stays), *(operations.add("outline", line) for line in lines)]
    return [*made, operations.put(render_questions(count_questions(conversation, path[-1])))]


def parting(conversation: UUID, leaf: UUID | None, answer: UUID, viewer: Viewer) -> list[Operation]:
    """What of the page has a new sibling, however far above this answer its branch begins."""
    tree = places.load_tree(conversation)
    on_page = set(tree.path_to(leaf))
    first = next((pk for pk in tree.path_to(answer) if pk not in on_page), None)
    beside = [pk for pk in tree.siblings(first) if pk in on_page] if first else []
    return [operations.shell(each.shell()) for each in load_messages(beside, viewer)]
