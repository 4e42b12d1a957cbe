"""The four people of the tests: alice owns, bob reviews, charlie may see nothing, dana administers."""

from __future__ import annotations

import os
from zlib import crc32

import pytest

PASSWORD = "a long enough password"


def pytest_addoption(parser):
    parser.addoption("--whole", action="store_true", help="all of what is only sampled otherwise")


def pytest_collection_modifyitems(config, items):
    """Of a story that is told in many ways half of them are heard, always the same ones, and of wires the two that differ most; all
    of them with --whole."""
    if config.getoption("--whole"):
        return
    left_out = {item for item in items if item.get_closest_marker("sampled") and _is_left_out(item.name)}
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def _is_left_out(name):
    return not any(wire in name for wire in ("[openai", "[anthropic")) and crc32(name.encode()) % 2 == 1


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup):
    """Whenever a test has emptied the tables, Django would write rows anew that nothing here asks for."""
    from django.db.models.signals import post_migrate

    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")


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


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    """A long run names what failed at once, so that a run that is cut off has said it."""
    if report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        print(f"\nFAILED {report.nodeid} ({report.when}, {report.duration:.1f} s)", flush=True)
