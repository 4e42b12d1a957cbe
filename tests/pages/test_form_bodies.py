"""Long forms are read as Django reads them, in little memory."""

from __future__ import annotations

import tracemalloc

import pytest
from django.core.exceptions import TooManyFieldsSent
from django.http import QueryDict

from chatapp.pages.door import form_bodies
from chatapp.pages.door.form_bodies import FormRequest, read_form
from chatapp.pages.door.handler import PageHandler

FORMS = [
    b"",
    b"&&a&=b&c=&a=1&a=2",
    b"text=%D0%B0%D0%b1+%2B+%25&key=a%3Db%26c",
    b"a=%&b=%4&c=%zz&d=%%41&e=%4%31&%41=%42",
    b"text=%0D%0A%00%ff%f0%9f%99%82&x=a=b=c",
    b"a=" + bytes(range(0x21, 0x26)) + b"+;/?:@",
    "name=ö&ö=%C3%B6".encode(),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("piece", [3, 4, 5, 64])
def test_a_form_is_read_as_django_reads_it(monkeypatch, form, piece):
    monkeypatch.setattr(form_bodies, "PIECE", piece)
    assert read_form(form) == QueryDict(form, encoding="utf-8")


def test_too_many_fields_are_refused(settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 3
    assert len(read_form(b"a=1&b=2&c=3")) == 3
    with pytest.raises(TooManyFieldsSent):
        read_form(b"a=1&b=2&c=3&d=4")


def test_what_pages_are_given_reads_forms_so():
    assert PageHandler.request_class is FormRequest


def test_escapes_cost_little_memory():
    body = b"text=" + b"%41" * 300_000
    tracemalloc.start()
    try:
        form = FormRequest(_scope(), _Body(body)).POST
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert form["text"] == "A" * 300_000
    # Several copies of the body, and not a hundred octets for each of its escapes.
    assert peak < 8 * len(body)


class _Body:
    def __init__(self, body):
        self._left = body

    def read(self, *size):
        body, self._left = self._left, b""
        return body

    def close(self):
        pass


def _scope():
    headers = [(b"content-type", b"application/x-www-form-urlencoded"), (b"content-length", b"900005")]
    return {"type": "http", "method": "POST", "path": "/ask/", "headers": headers, "query_string": b""}
