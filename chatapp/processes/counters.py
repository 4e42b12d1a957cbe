"""What this process has counted since it started."""

from __future__ import annotations

from collections import Counter

# By status code.
REQUESTS: Counter[str] = Counter()
# Turns, by how they ended.
ENDED: Counter[str] = Counter()
