"""Which processes there are, as each of them says of itself, and which turns were taken over from those that fell silent."""

from __future__ import annotations

from django.db import models

from ..store.verbatim_field import VerbatimField


class KnownProcess(models.Model):
    """A process beside others: it says every few seconds that it is there. `number`: together with its task how people call it.
    `code`: which version it runs. `fingerprints`: of what must be alike everywhere. `figures`: how it is."""

    runner = models.CharField(max_length=120, primary_key=True)
    task = models.CharField(max_length=8)
    number = models.PositiveIntegerField()
    machine = models.CharField(max_length=100)
    code = models.CharField(max_length=16)
    began_at = models.DateTimeField()
    said_at = models.DateTimeField(db_index=True)
    fingerprints = VerbatimField(default=dict)
    figures = VerbatimField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "number"], name="one_name_per_process")]

    def __str__(self) -> str:
        return f"{self.task}-{self.number}"


class TakeOver(models.Model):
    """That an attempt at a turn was given up by others, since nothing was heard of its process. `place`: what that was called.
    `silent_ms`: for how long nobody had written to the turn. `goes_on`: False where it had been tried too often, or was too old."""

    message = models.UUIDField()
    attempt = models.PositiveIntegerField()
    place = models.CharField(max_length=120)
    silent_ms = models.PositiveBigIntegerField()
    goes_on = models.BooleanField(default=True)
    at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["message", "attempt"], name="taken_over_once")]

    def __str__(self) -> str:
        return f"{self.message} attempt {self.attempt}"


class Upkeep(models.Model):
    """When the log was last proved, or all of it saved; a row of each. `by`: who did it, and where. `breaches`: how many were found.
    `kind`, `size`: of which database the backup is, and its bytes, where they are known."""

    what = models.CharField(max_length=8, primary_key=True)
    at = models.DateTimeField()
    by = models.CharField(max_length=200)
    breaches = models.PositiveIntegerField(default=0)
    kind = models.CharField(max_length=16, default="")
    size = models.PositiveBigIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.what} at {self.at}"


class FingerprintSalt(models.Model):
    """One row, made once: what fingerprints are mixed with, so that they say nothing elsewhere."""

    salt = models.CharField(max_length=64)

    def __str__(self) -> str:
        return "salt of fingerprints"
