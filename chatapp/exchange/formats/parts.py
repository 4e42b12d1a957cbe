"""A file as it was brought: what can be read of it is itself, or stands inside it where it is a zip. Nothing is ever unpacked to a disk."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Protocol

from ...core.plural import many
from .json_reader import Broken

MB = 1024 * 1024
# Names in a zip, and bytes that what is read of it unpacks to: text is seldom packed to a hundredth.
MOST_NAMES, MOST_UNPACKED = 50_000, 2048 * MB
TIMES, AT_LEAST = 100, 64 * MB
_CHUNK = 64 * 1024
_ZIP = b"PK\x03\x04"
_ENDINGS = (".json", ".jsonl")
# In which other programs keep what is said; the other JSON in their zips tells of the account.
_TOLD = ("conversations", "chats", "rollout")


class Uploaded(Protocol):
    """All its bytes can be asked for, in any order."""

    def seek(self, offset: int, whence: int = 0, /) -> int: ...
    def read(self, size: int = -1, /) -> bytes: ...
    def pieces(self) -> Iterator[bytes]: ...


@dataclass(frozen=True, slots=True)
class FilePart:
    """`name`: inside of a zip; "" where the file is what is read."""

    name: str
    opened: Callable[[], Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class FileParts:
    """`others`: the names of what is not read."""

    read: tuple[FilePart, ...]
    others: tuple[str, ...] = ()


def parts_of(file: Uploaded) -> FileParts:
    """Broken where it is a zip that nobody should open."""
    file.seek(0)
    if not file.read(len(_ZIP)).startswith(_ZIP):
        return FileParts((FilePart("", file.pieces),))
    try:
        packed = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError, EOFError):
        raise Broken("it is a zip that is damaged, or ends in the middle") from None
    entries = packed.infolist()
    if len(entries) > MOST_NAMES:
        raise Broken(f"it holds more than {many(MOST_NAMES, 'file')}")
    _refuse_bad_names(entries)
    wanted = [entry for entry in entries if _is_told(entry.filename)]
    read = (FilePart(entry.filename, _opener(packed, entry)) for entry in _in_order(wanted))
    others = (entry.filename for entry in entries if entry not in wanted and not entry.is_dir())
    return FileParts(tuple(read), tuple(others))


def _is_told(name: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix in _ENDINGS and (path.name.startswith(_TOLD) or path.suffix == ".jsonl")


def _in_order(entries: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    return sorted(entries, key=lambda entry: entry.filename)


def _refuse_bad_names(entries: list[zipfile.ZipInfo]) -> None:
    seen = set[str]()
    for entry in entries:
        name = entry.filename
        shown = f"“{name[:80]}”"
        if name in seen:
            raise Broken(f"{shown} is in it twice")
        seen.add(name)
        if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/") or ":" in name[:2]:
            raise Broken(f"{shown} leads out of it")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise Broken(f"{shown} is a link to another file")
        if entry.flag_bits & 0x1:
            raise Broken(f"{shown} is encrypted; bring it without a password")


def _opener(packed: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Callable[[], Iterator[bytes]]:
    most = min(MOST_UNPACKED, AT_LEAST + TIMES * entry.compress_size)

    def opened() -> Iterator[bytes]:
        try:
            with packed.open(entry) as inside:
                yield from _bounded(inside, most)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
            raise Broken(f"“{entry.filename[:80]}” in it is damaged") from None

    return opened


def _bounded(inside: IO[bytes], left: int) -> Iterator[bytes]:
    most = left
    while some := inside.read(_CHUNK):
        left -= len(some)
        if left < 0:
            raise Broken(f"it unpacks to more than {most // MB:,} MB, which no conversations do")
        yield some
