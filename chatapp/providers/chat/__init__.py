"""The Chat Completions protocol, as many servers speak it."""
