"""The life of the model process: take the place, install, load, serve, and end when nobody has needed it for a while."""

from __future__ import annotations

import argparse
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import IO

from . import STARTING, install, smollm2
from .files import ProcessNote, ProcessState, RunFiles, is_still_held
from .holder import Holder

INSTALLING = "The local model is being installed (about 130 MB, once)."
READY = "The local model is ready."

Serve = Callable[[str, str], tuple[object, int]]


def main(
    *,
    prepare: Callable[[], None] = install.ensure,
    serve: Serve = smollm2.serve,
    version: str = "",
    grace: float = 600.0,
    pulse: float = 5.0,
) -> None:
    """Ends by itself `grace` seconds after the last web process; looks every `pulse` seconds."""
    options = _options()
    files = RunFiles(options.data_dir)
    version = version or code_version()
    place = Holder(files, version).replaced() if options.place is None else os.fdopen(options.place, "ab")
    if place is None:
        return
    note = ProcessNote(state=ProcessState.LOADING, sentence=STARTING, pid=os.getpid(), version=version)
    running = _serving(files, note, prepare, serve)
    if running is not None:
        _stay(files, place, grace=grace, pulse=pulse)
    # Nothing is left to tidy up, and the model's own threads need not be waited for.
    os._exit(0 if running else 1)


def code_version() -> str:
    """Changes with anything that makes the process what it is, so that an older one is not kept."""
    sources = [*sorted(Path(__file__).parent.glob("*.*")), install.REQUIREMENTS]
    return sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--place", type=int, help="an open file that holds the place")
    parser.add_argument("--data-dir", type=Path, required=True)
    return parser.parse_args()


def _serving(files: RunFiles, note: ProcessNote, prepare: Callable[[], None], serve: Serve) -> object | None:
    """What serves now, or None with the reason written down."""
    identity, key = secrets.token_hex(8), secrets.token_urlsafe(24)
    try:
        files.write(replace(note, state=ProcessState.INSTALLING, sentence=INSTALLING))
        prepare()
        files.write(note)
        running, port = serve(identity, key)
    except install.CannotInstall as error:
        files.write(replace(note, state=ProcessState.FAILED, sentence=str(error)))
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        files.write(
            replace(note, state=ProcessState.FAILED, sentence=f"The local model could not start: {error}")
        )
    else:
        files.write(replace(note, state=ProcessState.READY, sentence=READY, port=port, id=identity, key=key))
        return running
    return None


def _stay(files: RunFiles, place: IO[bytes], *, grace: float, pulse: float) -> None:
    """Until nobody needs it, or its folder is gone."""
    needed = time.monotonic()
    while is_still_held(place, files.place) and time.monotonic() - needed < grace:
        time.sleep(pulse)
        if files.in_use():
            needed = time.monotonic()


if __name__ == "__main__":
    main()
