"""Names that only look like other names."""

from __future__ import annotations

import re
from functools import lru_cache

from .alphabets import in_plain_letters

# What many typefaces draw alike, as one of them.
_ALIKE = (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("i", "l"), ("|", "l"), ("5", "s"))
_BETWEEN = re.compile(r"[\s._:/@+-]+")


@lru_cache(maxsize=16_384)
def outline(name: str) -> str:
    """The same for names that can be taken for one another."""
    text = _BETWEEN.sub("", in_plain_letters(name))
    for drawn, alike in _ALIKE:
        text = text.replace(drawn, alike)
    return text
