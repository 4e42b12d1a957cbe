"""Forms as they come in: what is escaped is read in pieces, because whoever undoes millions of escapes at once needs a hundred times
the memory, and lets nobody else run meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from django.core.handlers.asgi import ASGIRequest
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict

LITTLE = PIECE = 64 * 1024
FORM = "application/x-www-form-urlencoded"


class FormRequest(ASGIRequest):
    # What Django's own has and its types do not tell of.
    _encoding: str | None
    _read_started: bool
    _post: QueryDict
    _files: MultiValueDict

    def _load_post_and_files(self) -> None:
        ours = self.method == "POST" and self.content_type == FORM and self._encoding in (None, "utf-8")
        if ours and (hasattr(self, "_body") or not self._read_started) and len(self.body) > LITTLE:
            self._post, self._files = read_form(self.body), MultiValueDict()
        else:
            super()._load_post_and_files()


def read_form(body: bytes) -> QueryDict:
    """What Django reads."""
    if body.count(b"&") >= settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:
        raise TooManyFieldsSent("The number of fields is more than settings.DATA_UPLOAD_MAX_NUMBER_FIELDS.")
    form = QueryDict(mutable=True, encoding="utf-8")
    for field in filter(None, body.split(b"&")):
        name, _, value = field.partition(b"=")
        form.appendlist(_unquoted(name), _unquoted(value))
    form._mutable = False
    return form


def _unquoted(text: bytes) -> str:
    return b"".join(map(unquote_to_bytes, _whole_escapes(text.replace(b"+", b" ")))).decode(
        "utf-8", "replace"
    )


def _whole_escapes(text: bytes) -> Iterator[bytes]:
    """None ends within an escape."""
    begin = 0
    while begin < len(text):
        end = begin + PIECE
        if end < len(text):
            begun = text.rfind(b"%", end - 2, end)
            end = begun if begun > begin else end
        yield text[begin:end]
        begin = end
