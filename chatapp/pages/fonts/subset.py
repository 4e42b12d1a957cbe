"""The process that makes the font: `python -m chatapp.pages.fonts.subset FROM TO`. It ends, so a server does not carry the tools."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from fontTools import subset

from .mending import mend
from .signs import SIGNS


def main(source: str, target: str) -> None:
    options = subset.Options(
        flavor="woff2",
        hinting=False,
        glyph_names=False,
        # The small forms of exponents would be half the font.
        layout_features=[],
        # Whose it is and under which licence stays in it.
        name_IDs=[0, 7, 13, 14],
        name_languages=[0x409],
        notdef_outline=True,
        drop_tables=["DSIG", "GPOS"],
    )
    font = subset.load_font(source, options)
    mend(font)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=SIGNS)
    subsetter.subset(font)
    made = Path(f"{target}.{os.getpid()}")
    subset.save_font(font, made, options)
    made.replace(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
