"""Whose imports are whose: asked by the loaded row, here and nowhere else."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User
from django.http import Http404

from .models import Archive, Import, ImportFile


def my_import(user: User, pk: UUID) -> Import:
    """One that was not taken back."""
    row = Import.objects.filter(pk=pk, owner=user).exclude(state=Import.State.UNDONE).first()
    if row is None:
        raise Http404
    return row


def my_archive(user: User, pk: UUID) -> Archive:
    row = Archive.objects.select_related("owner").filter(pk=pk, owner=user).first()
    if row is None:
        raise Http404
    return row


def my_file(user: User, pk: UUID) -> ImportFile:
    """One that was not taken away."""
    row = ImportFile.objects.select_related("brought").filter(pk=pk, brought__owner=user).first()
    if row is None or row.brought.state == Import.State.UNDONE:
        raise Http404
    return row
