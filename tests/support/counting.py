"""What a road costs: statements counted at the database's driver, and templates that are rendered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db.backends.signals import connection_created
from django.template.backends.django import Template

from chatapp.store import close_threads


class Counted:
    def __init__(self) -> None:
        self.statements: list[str] = []
        self.renderings: list[str] = []

    def wrap(self, connection, **_):
        connection.execute_wrappers.append(self._executed)

    def _executed(self, execute, sql, params, many, context):
        if not sql.startswith(("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")):
            self.statements.append(sql)
        return execute(sql, params, many, context)


@contextmanager
def counted(monkeypatch) -> Iterator[Counted]:
    """On every connection that is made from here on."""
    close_threads()
    count = Counted()
    render = Template.render

    def rendered(template, *args, **more):
        count.renderings.append(template.template.name)
        return render(template, *args, **more)

    monkeypatch.setattr(Template, "render", rendered)
    connection_created.connect(count.wrap, weak=False, dispatch_uid="counted")
    try:
        yield count
    finally:
        connection_created.disconnect(dispatch_uid="counted")
        close_threads()
