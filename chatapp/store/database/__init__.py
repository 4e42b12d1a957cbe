"""The database itself: threads that ask it, and what is done when it cannot answer."""
