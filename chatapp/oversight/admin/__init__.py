"""The lists that administrators browse."""
