"""Conversations that go out and come in."""

from __future__ import annotations

from django.urls import path

from .views import archives, exporting, importing, reviewed

urlpatterns = [
    path("c/<uuid:pk>/export/", exporting.export, name="export"),
    path("settings/export/", archives.show, name="archives"),
    path("settings/export/<uuid:pk>/", archives.fetch, name="fetch_archive"),
    path("settings/export/<uuid:pk>/remove/", archives.remove, name="remove_archive"),
    path("import/", importing.show, name="import"),
    path("import/files/", importing.add_files, name="import_files"),
    path("import/files/<uuid:pk>/", importing.pieces, name="import_piece"),
    path("import/files/<uuid:pk>/remove/", importing.remove, name="remove_import_file"),
    path("import/<uuid:pk>/check/", importing.check, name="check_import"),
    path("import/<uuid:pk>/start/", importing.start, name="start_import"),
    path("import/<uuid:pk>/end/", importing.end, name="end_import"),
    path("review/export/", reviewed.export_reviews, name="export_reviews"),
    path("thoughtline-1.schema.json", exporting.schema, name="export_schema"),
]
