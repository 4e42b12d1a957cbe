"""What holds for every address, whoever asks: headers, rights, and refusals in our own look."""

from __future__ import annotations

import logging
import re
from uuid import UUID

import pytest
from django.conf import settings as house

from tests.support.addresses import ADDRESSES

# All that a page of ours may do; what is not named may not be done at all.
POLICY = {f"{what}-src 'self'" for what in ("script", "style", "img", "connect", "frame", "font")}
POLICY |= {"default-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"}
# Has a policy of its own; tests/thread/test_picture.py has what it is.
DRAWN = {"/picture/"}
STRANGE = {"/no/such/page", "/static/no/such/file.css"}


@pytest.fixture(params=["anonymous", "alice", "bob", "charlie", "dana"])
def visitor(request, client, db):
    if request.param != "anonymous":
        client.force_login(request.getfixturevalue(request.param))
    client.raise_request_exception = False
    return client


@pytest.mark.parametrize("path", [*sorted(ADDRESSES.keys() - DRAWN), *sorted(STRANGE)])
def test_every_answer_is_private_and_strict(visitor, path):
    response = visitor.get(re.sub("<uuid:[a-z]+>", str(UUID(int=1)), path))
    assert set(response["Content-Security-Policy"].split("; ")) == POLICY
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    assert "no-store" in response["Cache-Control"]


@pytest.mark.django_db
def test_a_missing_page_is_told_in_our_look(client):
    response = client.get("/no/such/page")
    assert response.status_code == 404
    assert "Nothing here" in response.text and "css/base" in response.text


@pytest.mark.django_db
def test_another_method_is_refused_in_our_look(client):
    response = client.put("/accounts/logout/")
    assert response.status_code == 405
    assert "Not in this way" in response.text
    assert int(response["Content-Length"]) == len(response.content)


@pytest.mark.django_db
def test_a_foreign_host_name_is_refused_in_our_look(client):
    response = client.get("/accounts/login/", headers={"host": "elsewhere.example"})
    assert response.status_code == 400
    assert "That request made no sense" in response.text
    assert "elsewhere" not in response.text


@pytest.mark.django_db
def test_a_failure_of_ours_is_told_without_its_inside(client, settings):
    settings.ROOT_URLCONF = "tests.pages.broken_urls"
    client.raise_request_exception = False
    response = client.get("/")
    assert response.status_code == 500
    assert "Something broke" in response.text
    assert "canary" not in response.text
    assert "default-src 'none'" in response["Content-Security-Policy"]


@pytest.mark.django_db
def test_debug_pages_cannot_be_asked_for(client, settings):
    settings.ROOT_URLCONF = "tests.pages.broken_urls"
    client.raise_request_exception = False
    response = client.get("/?DEBUG=1", headers={"X-Debug": "1", "host": "localhost"})
    assert "Traceback" not in response.text and "broken_urls" not in response.text


@pytest.mark.django_db
def test_each_request_is_one_line_without_its_query(client, caplog):
    with caplog.at_level(logging.DEBUG, logger="chatapp.requests"):
        client.get("/no such%0Apage?q=canary")
    (line,) = caplog.records
    assert (line.method, line.path, line.status) == ("GET", "/no%20such%0Apage", 404)
    assert line.ms >= 0
    assert "canary" not in str(vars(line))


@pytest.mark.parametrize("name", house.MIDDLEWARE)
def test_every_middleware_is_async(name):
    from django.utils.module_loading import import_string

    assert import_string(name).async_capable
