"""The steps of `deploy/Dockerfile` on a machine without a container engine: the same commands in a bare folder, by a user of their
own where there is one to take. What comes out of them runs with nothing to write into but its folders.

Not played: the images that stages begin with (this machine's Python stands for the one, its Debian for the other), and the proxy's.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

from tests.support.shell import ROOT

DOCKERFILE = ROOT / "deploy/Dockerfile"
# The folders that its steps name, each of which lies in the bare folder here.
OURS = re.compile(r"(?<![\w./])/(src|tools|wheels|opt/thoughtline|data|static)(?![\w-])")
PYTHON, HOME_OF_PYTHON = Path(sys.executable).resolve(), Path(sys.base_prefix)
BUILDER, IS_ROOT = 10000, os.geteuid() == 0


class NoPackageIndex(Exception):
    """The packages cannot be had here."""


@dataclass(frozen=True)
class Step:
    word: str
    rest: str

    @property
    def words(self) -> list[str]:
        return json.loads(self.rest) if self.rest.startswith("[") else shlex.split(self.rest)


def steps_of(stage: str) -> list[Step]:
    """Between its own FROM and the next."""
    text = re.sub(r"^\s*#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    steps = [Step(*line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]
    begins = [at for at, step in enumerate(steps) if step.word == "FROM"] + [len(steps)]
    for at, end in pairwise(begins):
        if steps[at].words[-1] == stage:
            return steps[at:end]
    raise LookupError(stage)


@dataclass
class Image:
    """What the last stage comes to. `folder`: the bare folder, which everybody may look into."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    user: int = 0
    command: list[str] = field(default_factory=list)

    def place(self, path: str) -> str:
        return OURS.sub(lambda found: f"{self.folder}/{found[1]}", path)

    def writable(self) -> list[Path]:
        return [self.folder / name for name in ("data", "static", "tmp")]

    def contained(self, *words: str) -> list[str]:
        """This command as a container would run it: everything but its own folders is read-only, and it is nobody here."""
        program = shutil.which(words[0], path=self.environment["PATH"]) or words[0]
        if not may_mount():
            return [program, *words[1:]]
        binds = [f"mount --bind {path} {path}" for path in self.writable()]
        return as_somebody(
            self.user, self.folder, [*binds, "mount -o remount,bind,ro /"], program, *words[1:]
        )

    def environment_with(self, **more: str) -> dict[str, str]:
        return self.environment | {"TMPDIR": str(self.folder / "tmp"), "LANG": "C.UTF-8"} | more


def as_somebody(number: int, folder: Path, mounts: Sequence[str], *words: str) -> list[str]:
    """With mounts that nobody else sees."""
    user = (
        f"--reuid={number} --regid={number} --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs"
    )
    inside = " && ".join(
        ["umask 022", *_opened(HOME_OF_PYTHON, folder), *mounts, f'exec setpriv {user} "$@"']
    )
    return ["unshare", "--mount", "sh", "-c", inside, "sh", *words]


def _opened(*folders: Path) -> list[str]:
    """This machine's Python, or its place for what is temporary, may lie in a folder that is closed to others; then that is made of
    nothing else."""
    closed = {path: above[-1] for path in folders if (above := [*filter(_is_closed, (path, *path.parents))])}
    if not closed:
        return []
    aside = {path: f"/mnt/{number}" for number, path in enumerate(closed)}
    return [
        "mount -t tmpfs tmpfs /mnt",
        *(f"mkdir {place} && mount --rbind {path} {place}" for path, place in aside.items()),
        *(f"mount -t tmpfs -o mode=755 tmpfs {path}" for path in sorted(set(closed.values()))),
        *(f"mkdir -p {path} && mount --rbind {place} {path}" for path, place in aside.items()),
    ]


def _is_closed(folder: Path) -> bool:
    return folder.stat().st_mode & 0o005 != 0o005


@cache
def may_mount() -> bool:
    tried = ("unshare", "--mount", "setpriv", "--bounding-set=-all", "true")
    return (
        IS_ROOT and shutil.which("unshare") is not None and subprocess.run(tried, check=False).returncode == 0
    )


def rehearsed(folder: Path) -> Image:
    """The image, made in this folder; or NoPackageIndex. What is made in an image may be read by everybody."""
    before = os.umask(0o022)
    try:
        (folder / "tmp").mkdir()
        (folder / "tmp").chmod(0o1777)
        (folder / "bin").mkdir()
        (folder / "bin/python").symlink_to(PYTHON)
        image = Image(folder)
        _build(image)
        _finish(image)
    finally:
        os.umask(before)
    return image


def _build(image: Image) -> None:
    folder = image.folder
    home = folder / "home"
    for made in (home, folder / "src", folder / "opt", folder / "tools", folder / "wheels"):
        made.mkdir()
    _give(BUILDER, home, folder / "src", folder / "opt", folder / "tools", folder / "wheels")
    environment = _clean() | {
        "HOME": str(home),
        "TMPDIR": str(folder / "tmp"),
        "PATH": f"{folder}/bin:/usr/bin:/bin",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(_fetched(folder / "fetched")),
    }
    for step in steps_of("build"):
        match step.word:
            case "COPY":
                _copy(step.words, folder / "src")
            case "RUN":
                words = ["sh", "-c", image.place(step.rest)]
                _run(
                    as_somebody(BUILDER, folder, [], *words) if may_mount() else words,
                    folder / "src",
                    environment,
                )
            case "FROM" | "WORKDIR":
                pass
            case other:
                raise NotImplementedError(other)


def _fetched(folder: Path) -> Path:
    """All packages that the steps install. What this machine has fetched before it need not fetch again."""
    locks = sorted(set(re.findall(r"-r (requirements\S*)", DOCKERFILE.read_text())))
    named = [word for lock in locks for word in ("-r", str(ROOT / lock))]
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--require-hashes",
        "--dest",
        str(folder),
        *named,
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise NoPackageIndex(ended.stderr.strip().splitlines()[-1])
    return folder


def _finish(image: Image) -> None:
    entry: list[str] = []
    for step in steps_of("program"):
        match step.word:
            case "RUN":
                own = image.place(step.rest)
                own = own if IS_ROOT else re.sub(r"--(owner|group)=\d+", "", own)
                _run(["sh", "-c", own], image.folder, _clean())
            case "ENV":
                image.environment |= dict(word.split("=", 1) for word in shlex.split(image.place(step.rest)))
            case "USER":
                image.user = int(step.rest.split(":")[0])
            case "ENTRYPOINT":
                entry = step.words
            case "CMD":
                image.command = entry + step.words
            case "FROM" | "EXPOSE" | "COPY":
                # What it copies lies in its place already.
                pass
            case other:
                raise NotImplementedError(other)
    _give(0, image.folder / "opt")
    for path in (image.folder / "opt").rglob("*"):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)


def _copy(words: Sequence[str], into: Path) -> None:
    *sources, target = (word for word in words if not word.startswith("--"))
    for source in (ROOT / name for name in sources):
        place = into / target / source.name if target.endswith("/") and target == "./" else into / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, place)
    _give(BUILDER, into)


def _give(owner: int, *folders: Path) -> None:
    if IS_ROOT:
        subprocess.run(["chown", "--recursive", f"{owner}:{owner}", *map(str, folders)], check=True)


def _run(words: Sequence[str], folder: Path, environment: dict[str, str]) -> None:
    ended = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{words[-1]}\n{ended.stdout}{ended.stderr}"


def _clean() -> dict[str, str]:
    """Nothing that is set for the product, or for pip, on this machine."""
    return {"PATH": os.environ["PATH"]}
