"""Answers with the habits of several models, and how an answer looks while it grows."""
