"""Turns: how one question is answered, tools included, whatever happens to the process."""
