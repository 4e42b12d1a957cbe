"""Going between branches: picker, map, compare, fork."""
