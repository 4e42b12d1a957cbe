"""Conversations that go out and come in."""

from __future__ import annotations

from django.urls import path

from .views import exporting, importing

urlpatterns = [
    path("c/<uuid:pk>/export/", exporting.export, name="export"),
    path("import/", importing.show, name="import"),
    path("import/files/", importing.add_files, name="import_files"),
    path("import/files/<uuid:pk>/", importing.pieces, name="import_piece"),
    path("import/files/<uuid:pk>/remove/", importing.remove, name="remove_import_file"),
    path("import/<uuid:pk>/check/", importing.check, name="check_import"),
    path("import/<uuid:pk>/start/", importing.start, name="start_import"),
    path("import/<uuid:pk>/end/", importing.end, name="end_import"),
    path("thoughtline-1.schema.json", exporting.schema, name="export_schema"),
]
