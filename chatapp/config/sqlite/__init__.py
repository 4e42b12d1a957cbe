"""SQLite as Django speaks to it, a little faster."""
