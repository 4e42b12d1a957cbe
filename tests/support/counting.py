"""What a road costs: statements counted at the database's driver, and templates that are rendered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import current_thread

from django.db.backends.signals import connection_created
from django.template.backends.django import Template

from chatapp.store import close_threads

UNCOUNTED = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")


@dataclass
class Cost:
    statements: list[str] = field(default_factory=list)
    renderings: list[str] = field(default_factory=list)


_of_one: ContextVar[Cost | None] = ContextVar("of_one", default=None)


class Counted(Cost):
    def wrap(self, connection, **_):
        """Once, also where it was closed and opened again."""
        if self._executed not in connection.execute_wrappers:
            connection.execute_wrappers.append(self._executed)

    def _executed(self, execute, sql, params, many, context):
        # What a process says of itself from time to time, nobody asked for.
        if not sql.startswith(UNCOUNTED) and current_thread().name != "heartbeat":
            for cost in self._costs():
                cost.statements.append(sql)
        return execute(sql, params, many, context)

    def rendered(self, name):
        for cost in self._costs():
            cost.renderings.append(name)

    def _costs(self) -> list[Cost]:
        one = _of_one.get()
        return [self, one] if one else [self]

    @contextmanager
    def one(self) -> Iterator[Cost]:
        """Of what is asked for inside, and nothing else: a turn that it begins goes its own way, in a context of its own."""
        cost = Cost()
        before = _of_one.set(cost)
        try:
            yield cost
        finally:
            _of_one.reset(before)


@contextmanager
def counted(monkeypatch) -> Iterator[Counted]:
    """On every connection that is made from here on."""
    close_threads()
    count = Counted()
    render = Template.render

    def rendered(template, *args, **more):
        count.rendered(template.template.name)
        return render(template, *args, **more)

    monkeypatch.setattr(Template, "render", rendered)
    connection_created.connect(count.wrap, weak=False, dispatch_uid="counted")
    try:
        yield count
    finally:
        connection_created.disconnect(dispatch_uid="counted")
        close_threads()
