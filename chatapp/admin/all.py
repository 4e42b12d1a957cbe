"""The site of administrators with every page of it: each registers itself."""

from . import conversations, known_models, limits, looks, mcp, people, providers
from .site import site

__all__ = ["conversations", "known_models", "limits", "looks", "mcp", "people", "providers", "site"]
