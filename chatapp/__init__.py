"""Thoughtline, a chat for reasoning models: project package and its one app at once."""
