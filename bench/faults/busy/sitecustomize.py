"""A process that is told so is busy for a while: its loop stands still, and its threads do not. Python reads this file where its folder
is in PYTHONPATH."""

import signal
import time

SECONDS = 16


def be_busy(*_: object) -> None:
    time.sleep(SECONDS)


signal.signal(signal.SIGUSR2, be_busy)
