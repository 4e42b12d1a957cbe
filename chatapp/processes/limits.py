"""What a process lets itself use. Nobody handles the signal, so the kernel ends it, even in the midst of a search for a pattern."""

from __future__ import annotations

import signal
import sys


def limit_cpu(seconds: float) -> None:
    """From now on; 0 is no limit."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def limit_memory(size: int) -> None:
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))
