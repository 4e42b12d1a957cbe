"""Conversations as files, made piece by piece from their rows."""
