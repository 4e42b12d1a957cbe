"""How large the body of a request may be: the one table, for every server that this product runs under."""

from __future__ import annotations

from django.conf import settings
from django.urls import Resolver404, resolve

KB = 1024
# Everywhere, for everybody, also for whoever is not signed in.
LITTLE = 64 * KB
# A text of some ten thousand signs, each of which a form may write as nine.
TEXT = 512 * KB
# The page of a server with all the tools that it may have.
ADMIN = 2 * 1024 * KB
# A piece of a file, and what a form writes around it.
PIECE = 8 * 1024 * KB + LITTLE
# The longest question. Without scripts, Stop sends what is being written along.
QUESTION = settings.DATA_UPLOAD_MAX_MEMORY_SIZE

# By the name of an address, for whoever is signed in. What is not named here takes little.
CAPS = {
    "ask_first": QUESTION,
    "ask": QUESTION,
    "edit": QUESTION,
    "stop": QUESTION,
    "instructions": TEXT,
    "settings": TEXT,
    "tools": TEXT,
    "submit": TEXT,
    "ask_to_submit": TEXT,
    "note": TEXT,
    "verdict": TEXT,
    "rate": TEXT,
    "suggest": TEXT,
    "import_files": PIECE,
    "import_piece": PIECE,
}
# What begins so is no page, and takes so much of whoever may come there.
BESIDE: dict[str, int] = {}


def cap_of(method: str, path: str) -> int:
    """Of a request by somebody who is known."""
    if method != "POST":
        return LITTLE
    if beside := beside_of(path):
        return BESIDE[beside]
    try:
        found = resolve(path)
    except Resolver404:
        return LITTLE
    return ADMIN if "admin" in found.namespaces else CAPS.get(found.url_name or "", LITTLE)


def beside_of(path: str) -> str:
    """The beginning by which it is no page, or ""."""
    return next((begins for begins in BESIDE if path.startswith(begins)), "")


def size_in_words(size: int) -> str:
    return f"{size // (KB * KB)} MB" if size >= KB * KB else f"{size // KB} kB"
