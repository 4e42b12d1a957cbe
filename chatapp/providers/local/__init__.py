"""The real tiny model of this machine: started beside the web server in a process of its own, and how it is doing.

Whoever asks it takes address and key from `state()` anew for each question, since a restart changes both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ...processes.children import leave_running, module
from .files import ProcessNote, ProcessState, RunFiles, is_still_held

__all__ = ["LABEL", "NAME", "WINDOW", "LocalModel", "ProcessState", "model_state", "start_beside"]

NAME = "smollm2"
LABEL = "Local tiny model"
WINDOW = 4096

ABSENT = "The local model is not running."
STARTING = "The local model is starting."
ENDED = "The local model has ended. Start the server again to bring it back."

_COMMAND = module("chatapp.providers.local.process")
_uses: dict[Path, IO[bytes]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """`base_url` and `key` are there when it is ready."""

    state: ProcessState
    sentence: str
    base_url: str = ""
    key: str = field(default="", repr=False)


def start_beside(data_dir: Path, command: Sequence[str] = _COMMAND) -> None:
    """Returns at once. A model process that already serves this folder is kept: the new one finds it and ends."""
    files = RunFiles(data_dir)
    files.make()
    _need(files)
    place = files.take_place()
    if place is None:
        _spawn(files, command)
        return
    with place:
        files.write(ProcessNote(state=ProcessState.LOADING, sentence=STARTING))
        _spawn(files, [*command, "--place", str(place.fileno())], place.fileno())


def model_state(data_dir: Path) -> LocalModel:
    """How it is doing. Who asks also needs it: the model ends some time after the last such process has ended."""
    files = RunFiles(data_dir)
    files.make()
    _need(files)
    note = files.read()
    if note is None:
        return LocalModel(state=ProcessState.ABSENT, sentence=ABSENT)
    if note.state is not ProcessState.FAILED and not files.place_is_taken():
        return LocalModel(state=ProcessState.FAILED, sentence=ENDED)
    if note.state is not ProcessState.READY:
        return LocalModel(state=note.state, sentence=note.sentence)
    return LocalModel(
        state=note.state, sentence=note.sentence, base_url=f"http://127.0.0.1:{note.port}/v1", key=note.key
    )


def _need(files: RunFiles) -> None:
    held = _uses.get(files.users)
    if held is None or not is_still_held(held, files.users):
        _uses[files.users] = files.use()


def _spawn(files: RunFiles, command: Sequence[str], *handles: int) -> None:
    # Who brings no place only looks whether another process is good, and leaves that one's log.
    with files.log.open("wb" if handles else "ab") as log:
        leave_running([*command, "--data-dir", str(files.data_dir)], *handles, log=log)
