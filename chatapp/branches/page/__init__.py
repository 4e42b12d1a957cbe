"""Branches, as they are drawn and compared."""
