"""The font of formulas: the signs that answers need, of a font that comes as a package."""
