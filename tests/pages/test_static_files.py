"""Static files come with their fingerprint where they were collected, and plainly where not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from chatapp.pages.static_files import StaticFiles, collect_when_changed

SHEETS = Path(__file__).parent.parent.parent / "static/css"


@pytest.fixture
def collected(settings, tmp_path):
    """Our own files: those of others, which real servers collect, are many and large."""
    settings.STATIC_ROOT = tmp_path / "served"
    settings.STATICFILES_DIRS = [SHEETS.parent]
    settings.STATICFILES_FINDERS = [
        each for each in settings.STATICFILES_FINDERS if "AppDirectories" not in each
    ]


def test_uncollected_files_are_served_under_their_own_names(client):
    response = client.get("/static/css/tokens.css")
    assert response.content == (SHEETS / "tokens.css").read_bytes()
    assert response["Content-Type"].startswith("text/css")
    assert "public" in response["Cache-Control"]
    assert response["X-Content-Type-Options"] == "nosniff"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/static/../manage.py", "/static/%2e%2e/manage.py", "/static/css/", "/static//etc/passwd"]
)
def test_nothing_else_is_served(client, path):
    assert client.get(path).status_code == 404


def test_files_are_collected_only_when_one_has_changed(collected, settings):
    assert collect_when_changed()
    assert not collect_when_changed()
    (settings.STATIC_ROOT / ".collected").write_text("another time")
    assert collect_when_changed()


def test_collected_files_have_a_fingerprint_and_may_be_kept_for_ever(collected, settings):
    collect_when_changed()
    (sheet,) = settings.STATIC_ROOT.glob("css/tokens.????????????.css")
    middleware = StaticFiles(lambda request: HttpResponse(status=404))
    request = RequestFactory().get(f"/static/css/{sheet.name}", headers={"accept-encoding": "gzip"})
    response = middleware(request)
    assert response.status_code == 200
    assert response["Content-Encoding"] == "gzip"
    assert len(response.content) < len(sheet.read_bytes())


def test_what_no_page_asks_for_is_not_compressed(collected, settings):
    collect_when_changed()
    assert list(settings.STATIC_ROOT.glob("css/tokens.css*")) == [settings.STATIC_ROOT / "css/tokens.css"]


def test_a_collected_script_asks_for_another_by_its_fingerprint(collected, settings):
    collect_when_changed()
    (one,) = settings.STATIC_ROOT.glob("js/growing.????????????.js")
    (other,) = settings.STATIC_ROOT.glob("js/live.????????????.js")
    assert f'from "./{one.name}"' in other.read_text()


def test_in_a_chain_that_is_async_it_is_async_too():
    async def page(request):
        return HttpResponse("page")

    async def both():
        middleware = StaticFiles(page)
        ask = RequestFactory()
        return await middleware(ask.get("/")), await middleware(ask.get("/static/css/base.css"))

    own, file = asyncio.run(both())
    assert own.content == b"page"
    assert file.content == (SHEETS / "base.css").read_bytes()


def test_a_file_that_has_not_changed_is_not_sent_again(client):
    first = client.get("/static/css/tokens.css")
    again = client.get("/static/css/tokens.css", headers={"if-none-match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
