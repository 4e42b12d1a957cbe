"""What is changed in the font before it is used, so that browsers draw it as print would."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# A browser keeps as much room for a bracket as for the widest of its forms, so the widest are left out and the parts of the
# tallest are made as narrow as what is left.
_BRACKETS = "()[]{}\u2308\u2309\u230a\u230b\u27e6\u27e7\u27e8\u27e9"
_FORMS_WITH_PARTS, _FORMS_ALONE = 5, 7
_ROOT, _WIDTH_OF_ROOTS = "\u221a", 880
# These lie to the left of their place, over a letter before them; a browser gives them a place of their own.
_MARKS = "\u0305\u0332\u20d6\u20d7"
# How high above an arrow the words over it stand at least; browsers add room for what makes the arrow long.
_OVER_ARROWS = 120
# Slanted letters reach out of their room, where print gives them more unless something hangs below them.
_LETTERS = range(0x1D400, 0x1D800)
# An exponent and nothing else, so its form is that for exponents.
_PRIMES = "\u2032\u2033\u2034\u2035\u2057"
_FOR_EXPONENTS = "ssty"


def mend(font: Any) -> None:
    table, names = font["MATH"].table.MathVariants, font.getBestCmap()
    upright = dict(zip(table.VertGlyphCoverage.glyphs, table.VertGlyphConstruction, strict=True))
    for sign in _BRACKETS:
        _narrow_bracket(font, upright[names[ord(sign)]])
    root = upright[names[ord(_ROOT)]]
    _narrow(
        font,
        {form.VariantGlyph for form in root.MathGlyphVariantRecord} | _glyph_parts(root),
        _WIDTH_OF_ROOTS,
    )
    for construction in table.HorizGlyphConstruction:
        _join_parts(construction)
    for sign in _MARKS:
        _move_into_place(font, names[ord(sign)])
    for sign, name in names.items():
        if sign in _LETTERS:
            _widen(font, name)
    font["MATH"].table.MathConstants.StretchStackTopShiftUp.Value = _OVER_ARROWS
    _raise_primes(font)


def _widen(font: Any, name: str) -> None:
    width, left = font["hmtx"][name]
    font["hmtx"][name] = (max(width, _outline(font, name).xMax), left)


def _narrow_bracket(font: Any, construction: Any) -> None:
    forms, parts = construction.MathGlyphVariantRecord, _glyph_parts(construction)
    del forms[_FORMS_WITH_PARTS if parts else _FORMS_ALONE :]
    construction.VariantCount = len(forms)
    _narrow(font, parts, font["hmtx"][forms[-1].VariantGlyph][0])


def _glyph_parts(construction: Any) -> set[str]:
    assembly = construction.GlyphAssembly
    return {part.glyph for part in assembly.PartRecords} if assembly else set()


def _narrow(font: Any, names: Iterable[str], most: int) -> None:
    for name in names:
        width = font["hmtx"][name][0]
        if width > most:
            glyph = _outline(font, name)
            glyph.coordinates.scale((most / width, 1))
            _measure(font, name, most)


def _move_into_place(font: Any, name: str) -> None:
    glyph = _outline(font, name)
    width = glyph.xMax - glyph.xMin
    glyph.coordinates.translate((-glyph.xMin, 0))
    _measure(font, name, width)


def _outline(font: Any, name: str) -> Any:
    glyph = font["glyf"][name]
    glyph.expand(font["glyf"])
    return glyph


def _measure(font: Any, name: str, width: int) -> None:
    glyph = font["glyf"][name]
    glyph.coordinates.toInt()
    glyph.recalcBounds(font["glyf"])
    font["hmtx"][name] = (width, glyph.xMin)


def _join_parts(construction: Any) -> None:
    """Some ends have the room where they may be joined on their outer side."""
    if not construction.GlyphAssembly:
        return
    parts = construction.GlyphAssembly.PartRecords
    first, last = parts[0], parts[-1]
    if not first.EndConnectorLength:
        first.StartConnectorLength, first.EndConnectorLength = 0, first.StartConnectorLength
    if not last.StartConnectorLength:
        last.StartConnectorLength, last.EndConnectorLength = last.EndConnectorLength, 0


def _raise_primes(font: Any) -> None:
    layout = font["GSUB"].table
    [lookup] = {
        record.Feature.LookupListIndex[0]
        for record in layout.FeatureList.FeatureRecord
        if record.FeatureTag == _FOR_EXPONENTS
    }
    [table] = layout.LookupList.Lookup[lookup].SubTable
    for signs in font["cmap"].tables:
        for sign in map(ord, _PRIMES):
            if forms := table.alternates.get(getattr(signs, "cmap", {}).get(sign)):
                signs.cmap[sign] = forms[0]
