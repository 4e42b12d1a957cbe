"""The site of administrators with every page of it: each registers itself."""

from .accounts.admin import people
from .administration import admin as front
from .catalog.admin import known_models, providers
from .gateway import admin as keys
from .gateway.cache import admin as thoughts
from .limits import admin as limits
from .mcp_servers import admin as mcp
from .oversight.admin import conversations, looks
from .pages.staff.site import site

__all__ = [
    "conversations",
    "front",
    "keys",
    "known_models",
    "limits",
    "looks",
    "mcp",
    "people",
    "providers",
    "site",
    "thoughts",
]
