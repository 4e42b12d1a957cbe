"""Keeps what a turn has to write until it stands in the database, whatever becomes of the database or of this process."""
