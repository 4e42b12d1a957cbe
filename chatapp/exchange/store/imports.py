"""What becomes of files that were brought: looked through first, and then, when whoever brought them has seen what is in them, written.
Both read the same file in the same way, so that what comes is what was shown; and whoever dies at it leaves nothing half."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Now
from django.utils import timezone

from ...core import verbatim
from ...core.items import Kind, clean
from ...core.plural import many
from ...core.titles import TITLE_CAP, one_line
from ...store import Refused, deleting
from ...store.changes import tell
from ...store.database.long_writes import UNSEEN, give_up_long_write
from ...store.models import Conversation, Message
from ...store.turns_at_once import hold_person
from ..formats.growing_tree import GrowingTree
from ..formats.json_reader import Broken, JsonReader
from ..formats.known import LABELS, format_of
from ..formats.parts import FilePart, parts_of
from ..formats.shape import FileFormat, Remark, ToldConversation, ToldMessage
from ..formats.sound import made_sound
from ..models import Import, ImportedConversation, ImportFile
from .at_work import BEAT_SECONDS, nobody_at_it
from .bringing import Bringing, Work
from .uploads import DAY, UploadedFile, forget_pieces

State = Import.State
AT_WORK = (State.CHECKING, State.COMING)
MOST_MESSAGES = 500_000
MOST_CONVERSATIONS = 100_000
# Rows of what was found that are read or written together.
AT_ONCE = 200
# Of each remark so many places are told by name.
MOST_PLACES = 50
# So long nobody has gone on with what they chose.
FORGOTTEN = timedelta(days=1)
INSTRUCTIONS_CAP = 32 * 1024
STRANGE = "Not read: something in it could not be understood."


# What people do


@transaction.atomic
def check(brought: Import) -> None:
    row = _held(brought, State.CHOOSING)
    files = list(row.files.all())
    if not files:
        raise Refused("Choose files first.")
    if any(file.received < file.size for file in files):
        raise Refused("A file has not come whole yet. Choose it once more, and it goes on where it ended.")
    Import.objects.filter(pk=row.pk).update(state=State.CHECKING, touched_at=None, runner="")


@transaction.atomic
def start(brought: Import, *, skips_known: bool) -> None:
    row = _held(brought, State.CHECKED)
    if not row.found.exists():
        raise Refused("There is nothing in these files that could come.")
    coming = row.found.filter(is_known=False) if skips_known else row.found.all()
    messages = coming.aggregate(all=Sum("messages"))["all"] or 0
    came = Import.objects.filter(owner=row.owner, created_at__gt=timezone.now() - DAY)
    if (came.aggregate(all=Sum("messages"))["all"] or 0) + messages > MOST_MESSAGES:
        raise Refused(f"At most {many(MOST_MESSAGES, 'message')} come in one day.")
    Import.objects.filter(pk=row.pk).update(
        state=State.COMING, skips_known=skips_known, started_at=timezone.now(), touched_at=None, runner=""
    )


@transaction.atomic
def cancel(brought: Import) -> None:
    """Before anything has come: the files are forgotten."""
    row = _held(brought, State.CHOOSING, State.CHECKING, State.CHECKED)
    _end(row, State.UNDONE)
    row.found.all().delete()


@transaction.atomic
def stop(brought: Import) -> None:
    """What has come by now stays until it is undone."""
    row = _held(brought, State.COMING)
    Import.objects.filter(pk=row.pk).update(state=State.STOPPED, ended_at=timezone.now(), runner="")
    forget_pieces(list(row.files.values_list("pk", flat=True)))


@transaction.atomic
def undo(brought: Import) -> int:
    """All that it brought, but for conversations in which somebody went on. How many these were."""
    row = _held(brought, State.CAME, State.STOPPED)
    untouched = list(_untouched(row).values_list("conversation", flat=True))
    Conversation.objects.filter(pk__in=_untouched(row).values("conversation")).update(
        deleted_at=timezone.now()
    )
    Import.objects.filter(pk=row.pk).update(state=State.UNDONE)
    for pk in untouched[:1]:
        tell(pk, "listed")
    return len(untouched)


def count_written(brought: Import) -> int:
    """Messages, also those of a conversation that is not whole yet."""
    half = Conversation.objects.filter(imported__brought=brought, deleted_at=UNSEEN).values_list("pk").first()
    rows = Message.objects.filter(conversation__in=half or ()).order_by("-order")
    newest = rows.values_list("order", flat=True).first()
    return brought.messages + (0 if newest is None else newest + 1)


def _untouched(brought: Import) -> QuerySet[ImportedConversation]:
    there = brought.found.filter(conversation__deleted_at=None, conversation__next_order=F("messages"))
    gone_on = Message.objects.filter(conversation__imported__brought=brought, attempt__gt=0)
    return there.exclude(conversation__in=gone_on.values("conversation"))


def _held(brought: Import, *states: State) -> Import:
    row = Import.objects.select_for_update().select_related("owner").get(pk=brought.pk)
    if row.state not in states:
        raise Refused("That is over already. Reload the page.")
    return row


def _end(brought: Import, state: State) -> None:
    Import.objects.filter(pk=brought.pk).update(state=state, ended_at=timezone.now(), runner="")
    forget_pieces(list(brought.files.values_list("pk", flat=True)))


# What processes do


def take(runner: str) -> Import | None:
    """The oldest that nobody is at, now this runner's. Of one person no two at a time."""
    free = nobody_at_it()
    for row in Import.objects.filter(free, state__in=AT_WORK).order_by("created_at").select_related("owner"):
        with transaction.atomic():
            hold_person(row.owner)
            if Import.objects.filter(~nobody_at_it(), owner=row.owner, state__in=AT_WORK).exists():
                continue
            mine = Import.objects.filter(free, pk=row.pk, state=row.state)
            if mine.update(runner=runner, touched_at=Now()):
                return Import.objects.select_related("owner").get(pk=row.pk)
    return None


@transaction.atomic
def give_up(work: Work) -> None:
    """Nobody knows what is wrong with it, and it would be so again."""
    if work.row.state == State.COMING:
        if work.mine.update(state=State.STOPPED, ended_at=timezone.now(), runner=""):
            forget_pieces(list(work.row.files.values_list("pk", flat=True)))
    elif work.mine.update(state=State.CHECKED, runner="", touched_at=None):
        work.row.found.filter(file__is_read=False).delete()
        work.row.files.filter(is_read=False).update(problem=STRANGE, is_read=True)


def do(work: Work) -> None:
    brought = work.row
    if brought.state == State.CHECKING:
        for file in brought.files.filter(is_read=False).order_by("created_at", "pk"):
            _look_through(file, work)
        work.mine.update(state=State.CHECKED, runner="", touched_at=None)
    else:
        _remove_half(work)
        bringing = Bringing(work)
        for file in brought.files.filter(problem="").order_by("created_at", "pk"):
            _write(file, work, bringing)
        bringing.write()
        if work.mine.update(state=State.CAME, ended_at=timezone.now(), runner="", touched_at=None):
            forget_pieces(list(brought.files.values_list("pk", flat=True)))


def _look_through(file: ImportFile, work: Work) -> None:
    """What it would bring; or why it cannot be read, and then nothing of it."""
    file.found.all().delete()
    report, found = Report(), _Found(work.row)
    try:
        for reading in _readings(file, work):
            for conversation in reading.conversations():
                if row := _looked_through(conversation, work, reading, report):
                    row.file = file
                    found.note(row)
                if report.conversations > MOST_CONVERSATIONS:
                    raise Broken(f"it holds more than {many(MOST_CONVERSATIONS, 'conversation')}")
        found.write()
        if not report.conversations:
            raise Broken("there is no conversation in it")
    except (Broken, Refused) as problem:
        file.found.all().delete()
        where = report.where(problem) if isinstance(problem, Broken) else ""
        ImportFile.objects.filter(pk=file.pk).update(problem=f"Not read: {problem}{where}.", is_read=True)
        return
    ImportFile.objects.filter(pk=file.pk).update(
        is_read=True, read=file.size, format=report.format, report=report.as_json()
    )


def _looked_through(
    conversation: ConversationInFile, work: Work, reading: FileReading, report: Report
) -> ImportedConversation | None:
    """None where there is nothing in it."""
    told, digest, tree = conversation.told, sha256(), GrowingTree(conversation.told)
    thoughts = Exactness()
    for message in conversation.messages:
        if tree.add(message.id, message.parent):
            digest.update(verbatim.dumps(_for_digest(message)).encode())
            thoughts.count(message)
        if len(tree) > MOST_MESSAGES:
            raise Broken(f"one conversation has more than {many(MOST_MESSAGES, 'message')}")
    grown, _ = tree.grown()
    tree.head_in(grown)
    if told.tools:
        told.note(Remark.TOOL, len(told.tools) - len(work.tools(told.tools)))
    digest.update(verbatim.dumps([told.title, told.instructions, told.program]).encode())
    if not len(tree):
        told.note(Remark.EMPTY)
    report.add(told, len(tree), grown, thoughts, reading.format.name)
    if not len(tree):
        return None
    return ImportedConversation(
        brought=work.row,
        owner=work.row.owner,
        number=conversation.number,
        format=reading.format.name,
        source=clean(told.id)[:200],
        digest=digest.hexdigest(),
        title=one_line(told.title)[:TITLE_CAP],
        messages=len(tree),
    )


class _Found:
    """What was found in a file, as it is written: some rows at a time."""

    def __init__(self, brought: Import) -> None:
        self._brought, self._waiting = brought, list[ImportedConversation]()

    def note(self, row: ImportedConversation) -> None:
        self._waiting.append(row)
        if len(self._waiting) == AT_ONCE:
            self.write()

    def write(self) -> None:
        """Each knows whether it came before and is there, or is in these files already."""
        alike = ImportedConversation.objects.filter(
            owner=self._brought.owner_id, digest__in={row.digest for row in self._waiting}
        )
        came = Q(conversation__deleted_at=None, conversation__isnull=False)
        known = set(alike.filter(came | Q(brought=self._brought)).values_list("digest", flat=True))
        for row in self._waiting:
            row.is_known = row.digest in known
            known.add(row.digest)
        ImportedConversation.objects.bulk_create(self._waiting)
        self._waiting = []


def _for_digest(message: ToldMessage) -> list[Any]:
    items = [[item.kind, item.text, item.wire, item.name] for item in message.items]
    return [message.id, message.parent, message.role, str(message.at), items, message.recorded]


def _write(file: ImportFile, work: Work, bringing: Bringing) -> None:
    expected = _Expected(file)
    for reading in _readings(file, work):
        for conversation in reading.conversations():
            row = expected.row(conversation.number)
            if row is None or (work.row.skips_known and (row.digest in bringing or row.is_there)):
                for _ in conversation.messages:
                    pass
            else:
                bringing.bring(row, conversation.told, conversation.messages)


class _Expected:
    """What was found in a file and has not come yet: some rows at a time, in their order."""

    def __init__(self, file: ImportFile) -> None:
        self._file, self._upto, self._rows = file, 0, dict[int, Any]()

    def row(self, number: int) -> Any:
        """It knows whether it `is_there`: came of another import since it was looked through, too."""
        if number >= self._upto:
            self._upto = number + AT_ONCE
            some = self._file.found.filter(number__gte=number, number__lt=self._upto, conversation=None)
            alike = ImportedConversation.objects.filter(owner=OuterRef("owner"), digest=OuterRef("digest"))
            there = alike.filter(conversation__isnull=False, conversation__deleted_at=None)
            self._rows = {row.number: row for row in some.annotate(is_there=Exists(there))}
        return self._rows.get(number)


def _remove_half(work: Work) -> None:
    """What somebody began who died at it."""
    for row in Conversation.objects.filter(imported__brought=work.row, deleted_at=UNSEEN).only("pk"):
        give_up_long_write(row.pk)
        half = Message.objects.filter(conversation=row)
        while deleting.remove(half, until=time.monotonic() + BEAT_SECONDS):
            work.say()
        row.delete()


# How it is read


@dataclass(slots=True)
class ConversationInFile:
    """`number`: in its file."""

    number: int
    told: ToldConversation
    messages: Iterator[ToldMessage]


@dataclass(slots=True)
class FileReading:
    """A part of a file, in its format. `first`: the number of its first conversation. `go_on`: called again and again."""

    part: FilePart
    format: FileFormat
    first: int
    go_on: Callable[[], None]
    count: int = 0

    def conversations(self) -> Iterator[ConversationInFile]:
        for told, messages in self.format.read(JsonReader(self.part.opened())):
            yield ConversationInFile(self.first + self.count, told, self._sound(told, messages))
            self.count += 1

    def _sound(self, told: ToldConversation, messages: Iterator[ToldMessage]) -> Iterator[ToldMessage]:
        for message in messages:
            self.go_on()
            yield made_sound(message, told, wires=self.format.wires)
        if len(told.instructions.encode(errors="replace")) > INSTRUCTIONS_CAP:
            told.instructions = ""
            told.note(Remark.TOO_LARGE)


def _readings(file: ImportFile, work: Work) -> Iterator[FileReading]:
    """Of what can be read of it; what cannot is broken."""
    uploaded, first = UploadedFile(file), 0

    def say() -> None:
        ImportFile.objects.filter(pk=file.pk).update(read=uploaded.tell())

    parts = parts_of(uploaded)
    if not parts.read:
        raise Broken("there is no conversation in it")
    for part in parts.read:
        go_on = partial(work.go_on, say)
        watched = FilePart(part.name, partial(_going_on, part, go_on))
        reading = FileReading(watched, format_of(watched.opened), first, go_on)
        yield reading
        first += reading.count


def _going_on(part: FilePart, go_on: Callable[[], None]) -> Iterator[bytes]:
    """Also through what nobody reads, however long it is."""
    for piece in part.opened():
        go_on()
        yield piece


@dataclass(slots=True)
class Exactness:
    """How exactly the times of thoughts are known."""

    exact: int = 0
    seconds: int = 0
    unknown: int = 0

    def count(self, message: ToldMessage) -> None:
        thoughts = [item for item in message.items if item.kind is Kind.REASONING]
        known = sum(item.key in message.recorded.get("reasoning_durations_ms", {}) for item in thoughts)
        self.unknown += len(thoughts) - known
        if message.recorded.get("whole_seconds"):
            self.seconds += known
        else:
            self.exact += known


@dataclass(slots=True)
class Report:
    """What is told of a file before anything of it is written."""

    format: str = ""
    conversations: int = 0
    messages: int = 0
    branches: int = 0
    instructions: int = 0
    thoughts: Exactness = field(default_factory=Exactness)
    remarks: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, told: ToldConversation, messages: int, tree: Any, thoughts: Exactness, format: str) -> None:
        self.format = format
        self.conversations += bool(messages)
        self.messages += messages
        leaves = sum(id not in tree.children for id in tree.parents)
        self.branches += max(0, leaves - 1)
        self.instructions += bool(told.instructions)
        self.thoughts.exact += thoughts.exact
        self.thoughts.seconds += thoughts.seconds
        self.thoughts.unknown += thoughts.unknown
        for remark, count in told.remarks.items():
            kept = self.remarks.setdefault(remark, {"count": 0, "places": []})
            kept["count"] += count
            if len(kept["places"]) < MOST_PLACES:
                began = told.moments.get("created_at")
                kept["places"].append(
                    [one_line(told.title)[:80], began.date().isoformat() if began else "", count]
                )

    def where(self, problem: Broken) -> str:
        place = f", at byte {problem.place:,}" if problem.place is not None else ""
        return f", in conversation {self.conversations + 1}{place}" if self.conversations else place

    def as_json(self) -> dict[str, Any]:
        return {
            "conversations": self.conversations,
            "messages": self.messages,
            "branches": self.branches,
            "instructions": self.instructions,
            "thoughts": [self.thoughts.exact, self.thoughts.seconds, self.thoughts.unknown],
            "remarks": self.remarks,
        }


def label_of(format: str) -> str:
    return LABELS.get(format, format)


# What nobody goes on with


def forget_old(made: list[UUID]) -> None:
    """Files that were chosen and left, half of what was written by somebody who died, and what was brought so long ago that it counts no
    more."""
    now = timezone.now()
    left = Import.objects.filter(state__in=(State.CHOOSING, State.CHECKED), created_at__lt=now - FORGOTTEN)
    for row in left:
        _end(row, State.UNDONE)
        row.found.all().delete()
    empty = Import.objects.filter(state=State.UNDONE, ended_at__lt=now - DAY)
    empty.exclude(found__conversation__isnull=False).delete()


def forget_files_of(person: User, until: float) -> None:
    """In pieces, before they go themselves."""
    for file in ImportFile.objects.filter(brought__owner=person):
        if time.monotonic() < until:
            forget_pieces([file.pk])


deleting.ALSO.append(forget_old)  # type: ignore[arg-type]
deleting.OF_PEOPLE.append(forget_files_of)
