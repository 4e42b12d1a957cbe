"""Signs that deceive the eye: direction overrides and invisible characters, which are shown by their names.

Joiners and variation selectors are left alone: emoji and several scripts are written with them.
"""

from __future__ import annotations

import re

_RANGES = (
    (0x00, 0x08),
    (0x0B, 0x0C),
    (0x0E, 0x1F),
    (0x7F, 0x9F),
    (0xAD, 0xAD),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180E, 0x180E),
    (0x200B, 0x200B),
    (0x200E, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE007F),
)
HIDDEN = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _RANGES) + "]")


def marked(html: str) -> str:
    """Escaped text in which each hidden sign reads as its number."""
    return HIDDEN.sub(lambda found: f"<mark>U+{ord(found[0]):04X}</mark>", html)
