"""Static files: collected under names that carry their fingerprint, so that browsers may keep them for ever;
where nobody has collected them, served under their own names."""

from __future__ import annotations

import fcntl
import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import isawaitable
from pathlib import Path
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile
from whitenoise.storage import CompressedManifestStaticFilesStorage


class Storage(CompressedManifestStaticFilesStorage):
    # Our scripts ask for each other by the names with fingerprints, too.
    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("js/*.js", ((r'(?P<matched>from "(?P<url>\./[^"]+)")', 'from "%(url)s"'),)),
    )

    def stored_name(self, name: str) -> str:
        return str(self.hashed_files.get(self.hash_key(name), name))

    def compress_files(self, paths: set[str]) -> Iterator[tuple[str, str]]:
        """Under the names that pages ask for. To do it again under the plain ones takes as long, and nobody asks for those."""
        yield from super().compress_files(paths & set(self.hashed_files.values()))


class StaticFiles(WhiteNoiseMiddleware):
    """WhiteNoise for a chain of middleware that is async from end to end."""

    sync_capable = async_capable = True

    def __init__(self, get_response: Callable[..., Any]) -> None:
        super().__init__(get_response)
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        return self._awaited(request) if iscoroutinefunction(self) else super().__call__(request)

    async def _awaited(self, request: HttpRequest) -> Any:
        answer = super().__call__(request)
        return await answer if isawaitable(answer) else answer

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """The whole file at once: ours are small, and Django would gather a stream first anyway."""
        found = static_file.get_response(request.method, request.META)
        with found.file or io.BytesIO() as file:
            response = HttpResponse(file.read(), status=int(found.status))
        del response["content-type"]
        for name, value in found.headers:
            response[name] = value
        return response

    def add_files(self, root: str | Path, prefix: str | None = None) -> None:
        if Path(root).is_dir():
            super().add_files(root, prefix)


def collect_when_changed() -> bool:
    """Of several servers that start at once, one collects and the others wait."""
    with _alone():
        return _collect_when_changed()


@contextmanager
def _alone() -> Iterator[None]:
    root = Path(settings.STATIC_ROOT)
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _collect_when_changed() -> bool:
    note = Path(settings.STATIC_ROOT, ".collected")
    now = _fingerprint()
    if note.exists() and note.read_text() == now:
        return False
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=["*.map"])
    note.write_text(now)
    return True


def _fingerprint() -> str:
    """Changes with the name, size or time of any static file."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list(None):
            stat = Path(storage.path(name)).stat()
            digest.update(f"{name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()
