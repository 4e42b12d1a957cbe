"""The product as it is installed elsewhere: made once, for whoever asks it something."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.deploy.rehearsal import IS_ROOT, NoPackageIndex, rehearsed


@pytest.fixture(scope="session")
def image():
    with TemporaryDirectory(prefix="thoughtline-image-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            yield rehearsed(folder)
        except NoPackageIndex as error:
            pytest.skip(f"NOT TESTED: the wheel, installed. The package index cannot be reached: {error}")
        finally:
            if not IS_ROOT:
                subprocess.run(["chmod", "--recursive", "u+w", name], check=True)
