"""Wall clocks of machines: set while a process runs, and nothing but what people call the time is otherwise."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("clock.c")


def make_clocks(folder: Path) -> Path | None:
    """What processes are started with; none where it cannot be compiled."""
    made = folder / "clock.so"
    command = ["cc", "-shared", "-fPIC", "-O2", "-o", str(made), str(SOURCE), "-ldl"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        why = (getattr(error, "stderr", "") or str(error)).strip()
        print(f"SKIPPED LOUDLY: clocks that differ, since no compiler makes them: {why}", flush=True)
        return None
    return made


def with_clock(made: Path | None, clock: Path) -> dict[str, str]:
    return {"LD_PRELOAD": str(made), "CLOCK_AHEAD": str(clock)} if made else {}


def set_clock(clock: Path, ahead: int) -> None:
    """In seconds. Written in place: who looks at it goes on looking at the same file."""
    with clock.open("r+b" if clock.exists() else "wb") as file:
        file.write(struct.pack("q", ahead))
