"""Branches, copied and compared where they are kept."""
