"""What stands beside the words of a question or a result: a picture, or a file."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from .signs.added import added_to
from .values import fields, word
from .values import rows as dicts


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

    @property
    def in_a_few_words(self) -> str:
        return f"A {self.kind}, {self.name}" if self.name else f"A {self.kind}"

    @property
    def is_there(self) -> bool:
        """Of what was recorded the bytes are not kept."""
        return bool(self.url or self.data or self.file_id)


Part = str | Attached
# How a question or a result that a program told stands in its item's wire: whose words it is, and its parts in their order.
ROLE, PARTS = "role", "parts"


def told(role: str, parts: Sequence[Part]) -> dict[str, Any] | None:
    """The wire of what is more than words of a user's."""
    if role == "user" and len(parts) == 1 and isinstance(parts[0], str) and not added_to(parts[0]):
        return None
    return {ROLE: role, PARTS: [part if isinstance(part, str) else asdict(part) for part in parts]}


def is_told(wire: Any) -> bool:
    """Whether a program told it, and perhaps not in the words of whoever asked alone."""
    return PARTS in fields(wire)


def role_of(wire: Any) -> str:
    return word(fields(wire).get(ROLE)) or "user"


def parts_of(wire: Any) -> tuple[Part, ...]:
    """Empty where the item's text says all."""
    given = fields(wire).get(PARTS)
    rows = given if isinstance(given, list) else []
    if all(isinstance(row, str) for row in rows):
        return ()
    return tuple(row if isinstance(row, str) else _there(Attached(**row)) for row in rows)


def attached_of(wire: Any) -> tuple[Attached, ...]:
    """What stood beside the words, whether it is there still or not."""
    found = [(word(row.get("kind")), word(row.get("name"))) for row in dicts(fields(wire).get(PARTS))]
    return tuple(
        Attached(kind=AttachedKind(kind), name=name) for kind, name in found if kind in list(AttachedKind)
    )


def _there(attached: Attached) -> Part:
    called = f" named {attached.name}" if attached.name else ""
    return attached if attached.is_there else f"[A {attached.kind}{called} stood here. It was not kept.]"


def words_of(parts: Sequence[Part]) -> str:
    return "\n\n".join(part for part in parts if isinstance(part, str))


def words_in(data: str) -> str:
    """Of a file of plain text, as far as it is one."""
    try:
        return b64decode(data).decode(errors="replace")
    except ValueError:
        return ""
