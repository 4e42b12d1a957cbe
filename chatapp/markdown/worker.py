"""The process that renders what may be hostile: it answers one job after another, and the kernel ends it when one takes too long.

Run as `python -m chatapp.markdown.worker`; jobs come and answers go as frames.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from ..processes.limits import limit_cpu
from .asked.question import render_question
from .frames import framed, read_frame
from .parser import TooMuch
from .tail import Known, advance
from .whole import render_blocks


def _blocks(text: str, message: str, key: str) -> list[str]:
    return render_blocks(text, message=message, key=key)


def _advance(tail: str, known: dict[str, Any], ids: str) -> dict[str, Any]:
    return asdict(advance(tail, Known(**known), ids))


JOBS: dict[str, Callable[..., Any]] = {"blocks": _blocks, "question": render_question, "advance": _advance}


def main(cpu_seconds: float) -> None:
    jobs, answers = sys.stdin.buffer, sys.stdout.buffer
    while frame := read_frame(jobs):
        limit_cpu(cpu_seconds)
        answer = _answer(*json.loads(frame))
        limit_cpu(0)
        answers.write(framed(answer))
        answers.flush()


def _answer(name: str, arguments: list[Any]) -> dict[str, Any]:
    """What went wrong is told by its kind alone, since its words may hold the text."""
    try:
        return {"made": JOBS[name](*arguments)}
    except TooMuch:
        return {}
    except Exception as error:
        return {"wrong": type(error).__name__}


if __name__ == "__main__":
    main(float(sys.argv[1]))
