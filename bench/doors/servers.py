"""The doors that are held against each other: none, ours, and the proxy of LiteLLM from an environment of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen

from bench.doors.program import Door
from bench.house import House

RUN = "from litellm.proxy.proxy_cli import run_server; run_server()"
PATIENCE = 120


@contextmanager
def ours(model_url: str) -> Iterator[tuple[Door, Door, House]]:
    """With a key that keeps thoughts alone, and one that records."""
    with TemporaryDirectory() as folder:
        served = House(
            Path(folder), COMPATIBLE_BASE_URL=model_url, COMPATIBLE_API_KEY="bench", LOCAL_MODEL="0"
        )
        try:
            served.start()
            doors = [
                Door(
                    name,
                    f"{served.url}v1",
                    served.clerk("key", owner=served.person()[0], is_recorded=recorded),
                    "compatible:bench",
                )
                for name, recorded in (("Thoughtline", False), ("Thoughtline, recorded", True))
            ]
            yield doors[0], doors[1], served
        finally:
            served.stop()


@contextmanager
def litellm(model_url: str, environment: Path) -> Iterator[tuple[Door, int]]:
    """With the id of its process."""
    port = _free_port()
    with TemporaryDirectory() as folder:
        config = Path(folder, "config.yaml")
        config.write_text(
            "model_list:\n  - model_name: bench\n    litellm_params:\n      model: openai/bench\n"
            f"      api_base: {model_url}\n      api_key: bench\ngeneral_settings:\n  master_key: sk-bench\n"
        )
        command = [str(environment / "bin/python"), "-c", RUN, "--config", str(config), "--port", str(port)]
        command += ["--host", "127.0.0.1", "--num_workers", "1"]
        given = {name: os.environ[name] for name in ("PATH", "HOME")} | {"LITELLM_LOG": "ERROR"}
        with Path(folder, "log").open("w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=given)
        try:
            _wait(f"http://127.0.0.1:{port}/health/liveliness")
            yield Door("LiteLLM", f"http://127.0.0.1:{port}/v1", "sk-bench", "bench"), process.pid
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait(url: str) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            with urlopen(url, timeout=2):
                return
        except (URLError, OSError):
            time.sleep(0.3)
    raise TimeoutError(url)
