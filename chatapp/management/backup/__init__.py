"""One moment of a database as lines of text, for either database to read: what a backup is, and what moves from one to the other."""
