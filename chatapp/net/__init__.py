"""The way to every server: whom we speak to is decided here and nowhere else."""
