"""Figures, as they are shown."""
