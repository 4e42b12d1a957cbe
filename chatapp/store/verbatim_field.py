"""A field that keeps JSON as it came."""

from __future__ import annotations

from typing import Any

from django.db import models

from ..core import verbatim


class VerbatimField(models.TextField):
    """JSON kept as the text it is: key order, U+0000 and lone surrogates come back as they went in."""

    # For the type checker: any JSON value goes in and comes out.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, *_: object) -> Any:
        return None if value is None else verbatim.loads(value)

    def to_python(self, value: Any) -> Any:
        return verbatim.loads(value) if isinstance(value, str) else value

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else verbatim.dumps(value)

    def value_to_string(self, obj: models.Model) -> str:
        return self.get_prep_value(self.value_from_object(obj)) or ""
