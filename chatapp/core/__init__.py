"""Values and functions of the standard library alone: no clock, no database, no network."""
