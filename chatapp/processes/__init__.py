"""Processes beside this one: how they start, what they may use, and how they end."""
