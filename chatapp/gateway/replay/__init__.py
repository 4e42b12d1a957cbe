"""Brings back what programs leave out: by what an answer is known, what is kept of it, and how a history is made whole."""
