"""The fake as a process of its own: `python -m tests.upstream --port 9001`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from pathlib import Path

from .scenario import Speed
from .server import SCENARIOS, Upstream, serve


def main() -> None:
    asked = _arguments()
    folders = ([SCENARIOS] if asked.with_builtin or not asked.scenarios else []) + asked.scenarios
    speed = Speed(tps=asked.tps, chunk=asked.chunk, ttft=asked.ttft, batch=asked.batch, delay=asked.delay)
    upstream = Upstream(folders, speed, record=not asked.no_record)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_run(upstream, asked.host, asked.port))


async def _run(upstream: Upstream, host: str, port: int) -> None:
    _, port = await serve(upstream, host, port)
    print(f"fake upstream on http://{host}:{port}/v1 with {len(upstream.scenarios)} scenarios", flush=True)
    await asyncio.Event().wait()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.upstream", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9001)
    parser.add_argument(
        "--scenarios",
        action="append",
        default=[],
        type=Path,
        help="folder of *.yaml (again for more; the first replaces the built-in set unless --with-builtin)",
    )
    parser.add_argument("--with-builtin", action="store_true")
    parser.add_argument("--tps", type=float, default=0)
    parser.add_argument("--chunk", type=int, default=4)
    parser.add_argument("--ttft", type=float, default=0)
    parser.add_argument("--batch", type=int, default=32768)
    parser.add_argument("--delay", type=float, default=1, help="factor for the scenarios' own delays")
    parser.add_argument("--no-record", action="store_true", help="for load runs: keep no request bodies")
    return parser.parse_args()


main()
