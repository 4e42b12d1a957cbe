"""The product's own static files, looked through once in a run."""

from __future__ import annotations

from typing import Any

from chatapp.pages.static_files import StaticFiles


class LookedThroughOnce(StaticFiles):
    _found: dict[tuple[str, ...], dict[str, Any]] = {}

    def update_files_dictionary(self, root: str, prefix: str) -> None:
        self._once(
            (root, prefix), lambda: super(LookedThroughOnce, self).update_files_dictionary(root, prefix)
        )

    def add_files_from_finders(self) -> None:
        self._once((), super().add_files_from_finders)

    def _once(self, what: tuple[str, ...], look: Any) -> None:
        mine = self.files
        if what not in self._found:
            self.files = self._found[what] = {}
            look()
        self.files = mine | self._found[what]
