"""Daphne as an application of Django, loaded without what it brings along for TLS and WAMP: nobody speaks either here, and they
are an eighth of what an idle server holds in memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from typing import Any


@contextmanager
def _left_out() -> Iterator[None]:
    """Twisted goes without TLS where OpenSSL cannot be imported. The package `autobahn.twisted` would load WAMP with all its
    cryptography, so it is there without being run: what Daphne needs are modules in it. Whoever imports either later gets it whole."""
    specification = find_spec("autobahn.twisted")
    assert specification
    instead: dict[str, Any] = {"OpenSSL": None, "autobahn.twisted": module_from_spec(specification)}
    missing = {name: module for name, module in instead.items() if name not in sys.modules}
    sys.modules.update(missing)
    yield
    for name in missing:
        del sys.modules[name]


with _left_out():
    from daphne.apps import DaphneConfig


class LeanDaphne(DaphneConfig):
    pass
