"""What somebody brings: files in pieces, what was found in them, and which conversations came of that."""

from __future__ import annotations

from uuid import uuid4

from django.conf import settings
from django.db import models
from django.utils import timezone

from ..store.models import Conversation
from ..store.verbatim_field import VerbatimField

NAME_CAP = 200


class Import(models.Model):
    """What is brought at once. While something is done for it, some process says every few seconds that it is at it."""

    class State(models.TextChoices):
        CHOOSING = "choosing"
        CHECKING = "checking"
        CHECKED = "checked"
        COMING = "coming"
        CAME = "came"
        # What had come by then stays.
        STOPPED = "stopped"
        UNDONE = "undone"

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="imports")
    state = models.CharField(max_length=16, choices=State.choices, default=State.CHOOSING)
    # What is there already is passed over.
    skips_known = models.BooleanField(default=True)
    # Messages that came.
    messages = models.PositiveIntegerField(default=0)
    runner = models.CharField(max_length=120, blank=True, default="")
    touched_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    # When it began to be written.
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["owner", "-created_at"], name="imports_of_a_person")]

    def __str__(self) -> str:
        return f"import {self.id}"


class ImportFile(models.Model):
    """`size`: as whoever sends it said; `received`: so much of it is here. `problem`: why it cannot be read. `report`: what is told of
    what was found in it."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    brought = models.ForeignKey(Import, models.CASCADE, related_name="files")
    name = models.CharField(max_length=NAME_CAP)
    size = models.PositiveBigIntegerField()
    received = models.PositiveBigIntegerField(default=0)
    format = models.CharField(max_length=32, blank=True, default="")
    # Bytes that were looked through.
    read = models.PositiveBigIntegerField(default=0)
    is_read = models.BooleanField(default=False)
    problem = models.TextField(blank=True, default="")
    report = VerbatimField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"file {self.id}"


class ImportPiece(models.Model):
    """Bytes of a file, which begin at this one of them. They go when nobody needs them any more."""

    file = models.ForeignKey(ImportFile, models.CASCADE, related_name="pieces")
    begins = models.PositiveBigIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["file", "begins"], name="one_piece_at_a_place")]

    def __str__(self) -> str:
        return f"piece of {self.file_id}"


class Archive(models.Model):
    """Everything that a person has here, as a zip that is made beside everything else and waits for a day."""

    class State(models.TextChoices):
        MAKING = "making"
        READY = "ready"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="archives")
    state = models.CharField(max_length=16, choices=State.choices, default=State.MAKING)
    # Messages and conversations that are in it by now, and that will be.
    done = models.PositiveIntegerField(default=0)
    messages = models.PositiveIntegerField(default=0)
    conversations_done = models.PositiveIntegerField(default=0)
    conversations = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0)
    runner = models.CharField(max_length=120, blank=True, default="")
    touched_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    made_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"archive {self.id}"


class ArchivePiece(models.Model):
    """Bytes of it, in their order."""

    archive = models.ForeignKey(Archive, models.CASCADE, related_name="pieces")
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["archive", "number"], name="one_piece_of_a_number")]

    def __str__(self) -> str:
        return f"piece {self.number} of {self.archive_id}"


class ImportedConversation(models.Model):
    """A conversation that was found in a file, and what became of it. `digest`: of all that is told of it."""

    brought = models.ForeignKey(Import, models.CASCADE, related_name="found")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    file = models.ForeignKey(ImportFile, models.SET_NULL, null=True, blank=True, related_name="found")
    # In its file, from 0.
    number = models.PositiveIntegerField()
    format = models.CharField(max_length=32)
    source = models.CharField(max_length=NAME_CAP, blank=True, default="")
    digest = models.CharField(max_length=64)
    title = models.CharField(max_length=200, blank=True, default="")
    messages = models.PositiveIntegerField(default=0)
    # Its messages when it had come: more of them, and somebody went on in it.
    conversation = models.OneToOneField(
        Conversation, models.SET_NULL, null=True, blank=True, related_name="imported"
    )
    came_from = VerbatimField(default=dict)
    is_known = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="found_once_in_a_file")]
        indexes = [models.Index(fields=["owner", "digest"], name="known_by_digest")]

    def __str__(self) -> str:
        return f"found in {self.file_id}"
