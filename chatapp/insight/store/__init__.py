"""Figures, summed up and read."""
