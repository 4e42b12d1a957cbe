"""What is said, as it is looked for. None of it is told by nothing else: it can be made anew from the log."""

from __future__ import annotations

from django.db import models

from ..core.items import Kind
from ..store.models import Conversation, Item


class Spoken(models.TextChoices):
    """What of a conversation is looked in. Titles have no rows: they are folded when they are read."""

    QUESTION = "question"
    ANSWER = "answer"
    THOUGHT = "thought"
    TOOL = "tool"


SPOKEN = {
    Kind.USER_MESSAGE: Spoken.QUESTION,
    Kind.ASSISTANT_MESSAGE: Spoken.ANSWER,
    Kind.REASONING: Spoken.THOUGHT,
    Kind.TOOL_CALL: Spoken.TOOL,
    Kind.TOOL_RESULT: Spoken.TOOL,
}


class FoldedItem(models.Model):
    """An item's text, folded. What folds to nothing has no row."""

    item = models.OneToOneField(Item, models.CASCADE, primary_key=True, related_name="folded")
    conversation = models.ForeignKey(Conversation, models.CASCADE, db_index=False, related_name="+")
    kind = models.CharField(max_length=8, choices=Spoken.choices)
    text = models.TextField()

    class Meta:
        indexes = [models.Index(fields=["conversation", "item"], name="folded_in")]

    def __str__(self) -> str:
        """Without its text: this stands where nobody asked whether that may be read."""
        return f"{self.kind} {self.item_id}"


class FoldingMark(models.Model):
    """How far the log was looked through for items without a folded row: all that have a number up to this one, and that are to come
    with none below it, have theirs. `old`: so far it was when the mark was made. One row; `holder` looks after it until `held_until`."""

    upto = models.PositiveBigIntegerField(default=0)
    old = models.PositiveBigIntegerField(default=0)
    holder = models.CharField(max_length=120, blank=True, default="")
    held_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"folded up to {self.upto}"


class GramSegment(models.Model):
    """So many items in a row whose grams are indexed. `rows`: how many of them were there."""

    number = models.PositiveIntegerField(primary_key=True)
    rows = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"segment {self.number}"


class GramBits(models.Model):
    """In which items of a segment stands a gram that falls into this bucket: a bit for each item, packed."""

    id = models.BigAutoField(primary_key=True)
    segment = models.PositiveIntegerField()
    bucket = models.PositiveIntegerField()
    bits = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["segment", "bucket"], name="one_bucket_per_segment")]

    def __str__(self) -> str:
        return f"bucket {self.bucket} of segment {self.segment}"
