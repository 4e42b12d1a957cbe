"""What the README tells about settings, for those who hold it against the code."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def settings_in_readme() -> set[str]:
    """The capital names in its tables."""
    rows = [line for line in README.read_text().splitlines() if line.startswith("|")]
    return set(re.findall(r"`([A-Z]+(?:_[A-Z]+)*)`", "\n".join(rows)))
