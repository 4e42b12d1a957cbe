"""Static files: collected under names that carry their fingerprint, so that browsers may keep them for ever;
where nobody has collected them, served under their own names."""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import shutil
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

from ..config.places import FROM_WHEEL

# How the names of compressed copies end.
PACKED = (".gz", ".br")


class Storage(CompressedManifestStaticFilesStorage):
    # Our scripts ask for each other by the names with fingerprints, too.
    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("js/*.js", ((r'(?P<matched>from "(?P<url>\./[^"]+)")', 'from "%(url)s"'),)),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._urls: dict[str, str] = {}

    def url(self, name: str, force: bool = False) -> str:
        """Every page says some sixty of them, and they stay the same until files are collected again."""
        if settings.DEBUG or force:
            return str(super().url(name, force))
        if name not in self._urls:
            self._urls[name] = str(super().url(name))
        return self._urls[name]

    def save_manifest(self) -> None:
        self._urls.clear()
        super().save_manifest()

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
        if settings.STATIC_SHARED and request.path_info.startswith(self.static_prefix):
            self._look_among_shared(request.path_info, settings.STATIC_SHARED)
        return self._awaited(request) if iscoroutinefunction(self) else super().__call__(request)

    async def _awaited(self, request: HttpRequest) -> Any:
        answer = super().__call__(request)
        return await answer if isawaitable(answer) else answer

    def _look_among_shared(self, url: str, folder: Path) -> None:
        """A page of another version asks here for what only servers of that version brought along."""
        if url in self.files or not self.url_is_canonical(url):
            return
        path = folder / url.removeprefix(self.static_prefix)
        if os.path.isfile(path):
            self.add_file_to_dictionary(url, str(path))

    def immutable_file_test(self, path: str, url: str) -> bool:
        """The fingerprints of others are not in our list."""
        of_others = settings.STATIC_SHARED and Path(path).is_relative_to(settings.STATIC_SHARED)
        return bool(of_others) or super().immutable_file_test(path, url)

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


def prepare_static_files() -> None:
    """Before anybody is told that this server is there: a page may be asked of one server, and its files of another."""
    if not FROM_WHEEL:
        collect_when_changed()
    if settings.STATIC_SHARED:
        share(settings.STATIC_SHARED)


def share(folder: Path) -> None:
    """Puts what carries a fingerprint into the folder, for servers of other versions. A name never changes what it means."""
    root = Path(settings.STATIC_ROOT)
    names = Storage(root).hashed_files.values()
    for name in (f"{name}{packed}" for name in names for packed in ("", *PACKED)):
        if (root / name).is_file() and not (folder / name).exists():
            _copy(root / name, folder / name)


def _copy(source: Path, target: Path) -> None:
    """Nobody sees it before it is whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copyfile(source, draft)
    draft.replace(target)


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
    collect()
    note.write_text(now)
    return True


def collect() -> None:
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=["*.map"])


def _fingerprint() -> str:
    """Changes with the name, size or time of any static file."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list(None):
            stat = Path(storage.path(name)).stat()
            digest.update(f"{name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()
