"""Where the program lies that draws diagrams: one file of a package that is installed for it alone, and is never imported."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

_PACKAGE, _FOLDER, FILE = "sphinx_immaterial", "bundles/mermaid", "mermaid.min.js"


def _found() -> Path | None:
    package = find_spec(_PACKAGE)
    folders = package.submodule_search_locations if package else None
    folder = Path(next(iter(folders or ["."]))) / _FOLDER
    return folder if (folder / FILE).is_file() else None


# None where the package is not installed: then no picture is offered.
FOLDER = _found()
