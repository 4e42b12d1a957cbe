"""The four people of the tests: alice owns, bob reviews, charlie may see nothing, dana administers. And what many rooms need: models that
are here, a conversation, and a turn that is being answered."""

from __future__ import annotations

import gc
import os
from zlib import crc32

import pytest

try:
    from hypothesis import HealthCheck, settings
except ImportError:
    pass
else:
    # Laws are checked without a stop-watch: a busy machine breaks none of them.
    settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("unhurried")

PASSWORD = "a long enough password"
# One of so many.
HEARD = 8


def pytest_addoption(parser):
    parser.addoption("--whole", action="store_true", help="all of what is only sampled otherwise")


def pytest_collection_modifyitems(config, items):
    """Of a story that is told in many ways an eighth are heard, always the same ones, and of wires the two that differ most; all of
    them with --whole. What only one process can do is left out where there are several."""
    for item in items if os.environ.get("REDIS_URL") else ():
        if alone := item.get_closest_marker("one_process"):
            item.add_marker(pytest.mark.skip(reason=f"In one process: {alone.args[0]}"))
    if config.getoption("--whole"):
        return
    left_out = {item for item in items if _is_left_out(item)}
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    """Thousands of tests stay to the end: who looks for garbage need not walk through them each time."""
    gc.freeze()


def _is_left_out(item):
    if item.get_closest_marker("whole"):
        return True
    is_sampled = item.get_closest_marker("sampled") or _is_told_across(item)
    return bool(is_sampled) and _is_not_heard(item.name)


def _is_told_across(item):
    """There every story takes longer, so that of one in many cases a sample is told."""
    return os.environ.get("REDIS_URL") and item.get_closest_marker("across") and hasattr(item, "callspec")


def _is_not_heard(name):
    return not any(wire in name for wire in ("[openai", "[anthropic")) and crc32(name.encode()) % HEARD != 0


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup):
    """Whenever a test has emptied the tables, Django would write rows anew that nothing here asks for."""
    from django.db import connection
    from django.db.models.signals import post_migrate

    from tests.support.emptying import empty_what_holds_rows

    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    if connection.vendor == "postgresql":
        empty_what_holds_rows()


def _person(name: str, **more):
    from django.contrib.auth import get_user_model

    return get_user_model().objects.create_user(name, password=PASSWORD, **more)


@pytest.fixture
def alice(db):
    return _person("alice")


@pytest.fixture
def bob(db):
    return _person("bob")


@pytest.fixture
def charlie(db):
    return _person("charlie")


@pytest.fixture
def dana(db):
    return _person("dana", is_staff=True, is_superuser=True)


@pytest.fixture
def models_here():
    """Puts these listings in place of what is configured."""
    from chatapp.turns.engine import engine
    from tests.support.listed import ListedCatalog

    own = engine()
    usual = own.catalog

    def place(*listings):
        own.catalog = ListedCatalog(*listings)

    yield place
    own.catalog = usual


@pytest.fixture
def conversation(alice):
    from chatapp import store

    return store.start_conversation(alice, tools=["clock"])


@pytest.fixture
def ask(conversation, alice):
    from chatapp import store

    def ask(text="Why?", parent=None):
        return store.start_turn(
            conversation.id, text, parent=parent, author=alice, asked=store.AskedFor(model="demo:thinker")
        )

    return ask


@pytest.fixture
def claimed(ask):
    from chatapp import store

    return store.claim_turn(ask().answer, runner="here", seen=0)


@pytest.fixture
def as_many_as_they_like(monkeypatch):
    """Turns are begun and left, more of them than anybody may have running."""
    from chatapp.store import turns_at_once as at_once

    monkeypatch.setattr(at_once, "MOST", 1_000)


@pytest.fixture(scope="session")
def fake_providers():
    """The strict fake of the providers: one server for the whole run."""
    for name in ("aiohttp", "yaml"):
        pytest.importorskip(name)
    from tests.upstream.running import running
    from tests.upstream.scenario import Speed

    with running(speed=Speed(delay=0)) as up:
        yield up


@pytest.fixture
def up(fake_providers):
    fake_providers.clear()
    return fake_providers


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    """A long run names what failed at once, so that a run that is cut off has said it."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\nFAILED {report.nodeid} ({report.when}, {report.duration:.1f} s)", flush=True)
