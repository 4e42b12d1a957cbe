"""Names that only look like other names."""

from __future__ import annotations

import re
from functools import lru_cache

# What many typefaces draw alike, as one of them.
_ALIKE = (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("i", "l"), ("|", "l"), ("5", "s"))
_BETWEEN = re.compile(r"[\s._:/-]+")


@lru_cache(maxsize=16_384)
def outline(name: str) -> str:
    """The same for names that can be taken for one another. Letters beyond ASCII stay what they are: they are suspicious by themselves."""
    text = _BETWEEN.sub("", name.casefold())
    for drawn, alike in _ALIKE:
        text = text.replace(drawn, alike)
    return text
