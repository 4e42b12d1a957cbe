"""Anthropic's Messages protocol."""
