"""One file per side."""
