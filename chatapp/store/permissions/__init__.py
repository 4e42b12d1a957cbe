"""What may run without asking, and what was said of what asked."""
