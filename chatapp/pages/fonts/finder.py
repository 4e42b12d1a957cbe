"""Finds the font of formulas among the static files, and has it made where it is missing: once for each release of its package."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

from ...processes.children import ROOT, module

NAME = "fonts/formulas.woff2"
# Only its font is used, so its code need not run.
_PACKAGE, _FONT = "ziamath", "ziamath/fonts/STIXTwoMath-Regular.ttf"


class FontFinder(BaseFinder):
    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        if path != NAME:
            return []
        found = str(font_folder() / NAME)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        yield NAME, FileSystemStorage(location=font_folder())


@cache
def font_folder() -> Path:
    """The folder with the font in it."""
    package = distribution(_PACKAGE)
    folder = Path(settings.FONTS_ROOT, f"{_PACKAGE}-{package.version}-{_recipe()}")
    target = folder / NAME
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        made = module("chatapp.pages.fonts.subset", [str(package.locate_file(_FONT)), str(target)])
        # Whoever makes a wheel has its packages elsewhere than Python does.
        places = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
        subprocess.run(made, check=True, env={"PYTHONPATH": places})
    return folder


def _recipe() -> str:
    """Changes with what is taken from the font."""
    here = Path(__file__).parent
    texts = (here / name for name in ("mending.py", "signs.py", "subset.py"))
    return hashlib.sha256(b"".join(text.read_bytes() for text in texts)).hexdigest()[:12]
