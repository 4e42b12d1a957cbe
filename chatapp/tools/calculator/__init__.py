"""The calculator."""
