"""What a server's tool is called here: `server.tool`, in letters that every provider takes."""

from __future__ import annotations

import re
from hashlib import sha256

MOST = 60
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")


def full_name(server: str, tool: str) -> str:
    """Another tool of the server gets another name: what had to be changed carries a mark of what it was."""
    room = MOST - len(server) - 1
    plain = _FOREIGN.sub("_", tool)
    if plain == tool and 0 < len(tool) <= room:
        return f"{server}.{tool}"
    mark = sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{server}.{plain[: room - len(mark) - 1]}-{mark}"
