"""Code: its colours, and the well in which it stands."""
