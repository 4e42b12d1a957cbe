"""Processes of the version before go on with the tables of this one: what migrations may do, as `docs/tables.md` says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.models import NOT_PROVIDED

# The first version that may run beside another one.
SINCE = "0014"
# Those that an older version does not survive, each with what people are told.
BREAKS_ON_PURPOSE: dict[str, str] = {}


def last_migrations() -> list[Any]:
    graph = MigrationLoader(None).graph
    ours = [graph.nodes[key] for key in sorted(graph.nodes) if key[0] == "chatapp" and key[1][:4] > SINCE]
    return [migration for migration in ours if migration.name not in BREAKS_ON_PURPOSE]


def wrongs(operations: list[Operation]) -> Iterator[str]:
    made = {each.name_lower for each in operations if isinstance(each, migrations.CreateModel)}
    for each in operations:
        match each:
            case migrations.CreateModel() | migrations.AddIndex():
                pass
            case migrations.AddField(field=field) if field.null or field.db_default is not NOT_PROVIDED:
                pass
            case migrations.AddField(model_name_lower=name) | migrations.AddConstraint(model_name_lower=name):
                if name not in made:
                    yield each.describe()
            case migrations.SeparateDatabaseAndState(database_operations=[]):
                pass
            case migrations.RunPython(hints=hints) if hints.get("writes_only_what_is_new"):
                pass
            case _:
                yield each.describe()


def test_the_version_before_goes_on_with_the_tables_of_this_one():
    found = {each.name: list(wrongs(each.operations)) for each in last_migrations()}
    assert found, "No migration was looked at."
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


BAD = [
    migrations.RemoveField("message", "effort"),
    migrations.RenameField("message", "effort", "zeal"),
    migrations.AlterField("message", "effort", models.TextField()),
    migrations.DeleteModel("Message"),
    migrations.AddField("message", "must", models.TextField(default="")),
    migrations.AddConstraint("message", models.UniqueConstraint(fields=["effort"], name="one")),
    migrations.RunPython(migrations.RunPython.noop),
    migrations.RunSQL("SELECT 1"),
]


@pytest.mark.parametrize("operation", BAD, ids=lambda each: type(each).__name__)
def test_what_it_would_notice_is_seen(operation):
    assert list(wrongs([operation])) == [operation.describe()]


def test_what_it_does_not_notice_is_let_through():
    new = migrations.CreateModel(
        "New", [("id", models.BigAutoField(primary_key=True)), ("a", models.TextField())]
    )
    unique = models.UniqueConstraint(fields=["a"], name="only_a")
    fine = [
        new,
        migrations.AddConstraint("new", unique),
        migrations.AddField("message", "may", models.TextField(null=True)),
        migrations.AddField("message", "has", models.TextField(db_default="")),
        migrations.AddIndex("message", models.Index(fields=["effort"], name="by_effort")),
    ]
    assert list(wrongs(fine)) == []
