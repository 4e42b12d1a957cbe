"""What tests of pages need: the models that are here, and a page's form as a browser reads it."""

from __future__ import annotations

import pytest

from chatapp.turns import engine as engines

from .listed import ListedCatalog


@pytest.fixture
def models_here():
    """Puts these listings in place of what is configured."""
    own = engines.engine()
    usual = own.catalog

    def place(*listings):
        own.catalog = ListedCatalog(*listings)

    yield place
    own.catalog = usual
