"""The four people of the tests: alice owns, bob reviews, charlie may see nothing, dana administers."""

from __future__ import annotations

import os

import pytest

PASSWORD = "a long enough password"


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
