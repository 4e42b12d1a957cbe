"""What a wheel holds beside the code: templates, static files as they are served, and what else the product reads, in one folder of the
package and under the names of the checkout (`chatapp/config/places.py`). And what it depends on, as `requirements/` has it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

BUILT = "chatapp/built"
AS_THEY_ARE = ("manage.py", "templates", "requirements/local-model.txt")
# Run in the checkout, with nothing set but where it may write.
COLLECT = """
import sys, django
from django.conf import settings
django.setup()
settings.STATIC_ROOT = sys.argv[1]
from chatapp.pages.static_files import collect
collect()
"""


class Dependencies(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        folder = Path(self.root, "requirements")
        metadata["dependencies"] = _wanted(folder / "requirements.in")
        metadata["optional-dependencies"] = {"scale": _wanted(folder / "scale.in")}


class Contents(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # Kept until the wheel is written.
        self._folder = TemporaryDirectory(prefix="thoughtline-wheel-")
        served = Path(self._folder.name, "static-served")
        _collect(Path(self.root), served, data=Path(self._folder.name, "data"))
        given = {str(Path(self.root, name)): f"{BUILT}/{name}" for name in AS_THEY_ARE}
        build_data["force_include"] |= given | {str(served): f"{BUILT}/static-served"}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._folder.cleanup()


def _wanted(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if re.match(r"[A-Za-z]", line)]


def _collect(checkout: Path, served: Path, *, data: Path) -> None:
    # What builds in isolation names its packages by the second.
    found = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    environment = found | {"DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "chatapp.settings"}
    subprocess.run([sys.executable, "-c", COLLECT, str(served)], cwd=checkout, env=environment, check=True)
