"""One file per subject."""
