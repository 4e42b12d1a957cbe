"""Where the program lies that draws diagrams: one file of a package that is installed for it alone, and is never imported."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from .places import FROM_WHEEL, STATIC_SERVED

NAME, FILE = "mermaid", "mermaid.min.js"
_PACKAGE, _FOLDER = "sphinx_immaterial", "bundles/mermaid"


def _found() -> Path | None:
    folder = STATIC_SERVED / NAME if FROM_WHEEL else _in_package()
    return folder if (folder / FILE).is_file() else None


def _in_package() -> Path:
    package = find_spec(_PACKAGE)
    folders = package.submodule_search_locations if package else None
    return Path(next(iter(folders or ["."]))) / _FOLDER


# None where the package is not installed: then no picture is offered.
FOLDER = _found()
