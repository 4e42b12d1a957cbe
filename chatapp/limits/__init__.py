"""Daily limits."""
