"""Broken builds, which must be caught: a copy of the product in which one thing is otherwise."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.browser.served import ROOT

NEEDED = ("chatapp", "templates", "static", "manage.py", "pyproject.toml")
FENCE = (
    "chatapp/store/rows.py",
    "    row: Message | None = _HELD.first(claim.message, claim.attempt)\n",
    "    row: Message | None = with_owner(Message.objects.all()).filter(pk=claim.message).first()\n",
)
HEARTBEAT = (
    "chatapp/turns/heartbeat.py",
    """                self._thread = Thread(target=self._keep_beating, name="heartbeat", daemon=True)
                self._thread.start()
""",
    """                import asyncio

                async def keep_beating() -> None:
                    while await asyncio.to_thread(self._is_needed):
                        await asyncio.to_thread(self._beat)
                        await asyncio.sleep(self._every)

                self._thread = Thread(target=str)
                self._thread.start()
                self._beating = asyncio.get_running_loop().create_task(keep_beating())
""",
)
BROKEN = {"without-fence": FENCE, "heartbeat-on-the-loop": HEARTBEAT}


def broken_copy(name: str, above: Path) -> Path:
    file, right, wrong = BROKEN[name]
    copy = above / name
    copy.mkdir()
    for each in NEEDED:
        if (ROOT / each).is_dir():
            shutil.copytree(ROOT / each, copy / each, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / each, copy)
    text = (copy / file).read_text()
    assert text.count(right) == 1, f"{file} is not as this knows it."
    (copy / file).write_text(text.replace(right, wrong))
    return copy
