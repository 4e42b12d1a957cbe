"""What stands beside the words of a question or a result: a picture, or a file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class AttachedKind(StrEnum):
    PICTURE = "picture"
    FILE = "file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """Where its bytes are: at an address (`url`), here (`data`, in base64), or with its provider (`file_id`)."""

    kind: AttachedKind
    url: str = ""
    data: str = ""
    file_id: str = ""
    media_type: str = ""
    name: str = ""
    detail: str = ""

    @property
    def in_words(self) -> str:
        """For a model that cannot take it."""
        called = f" named {self.name}" if self.name else ""
        return f"[A {self.kind}{called} stood here. This model cannot take it.]"
