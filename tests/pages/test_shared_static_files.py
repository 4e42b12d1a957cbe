"""While a new version takes the place of the old one, a page may come from one server and its files be asked of another."""

from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from chatapp.pages.static_files import StaticFiles, prepare_static_files

FINDER = "django.contrib.staticfiles.finders.FileSystemFinder"


@pytest.fixture
def server(settings, tmp_path):
    """Starts a server whose style is this one; gives what answers there, and the address of its style."""
    settings.STATIC_SHARED = tmp_path / "shared"
    settings.STATICFILES_FINDERS = [FINDER]

    def start(version, style):
        settings.STATIC_ROOT, source = tmp_path / version / "served", tmp_path / version / "static"
        source.mkdir(parents=True)
        (source / "page.css").write_text(style)
        settings.STATICFILES_DIRS = [source]
        prepare_static_files()
        (served,) = settings.STATIC_ROOT.glob("page.????????????.css")
        middleware = StaticFiles(lambda request: HttpResponse(status=404))
        return lambda path, **headers: middleware(
            RequestFactory().get(path, headers=headers)
        ), f"/static/{served.name}"

    return start


OLD, NEW = "a { color: red }\n" * 100, "a { color: blue }\n" * 100


def test_each_version_serves_the_files_of_the_other(server):
    old, style_of_old = server("old", OLD)
    new, style_of_new = server("new", NEW)
    assert style_of_old != style_of_new
    assert (old(style_of_new).content.decode(), new(style_of_old).content.decode()) == (NEW, OLD)
    assert (old(style_of_old).content.decode(), new(style_of_new).content.decode()) == (OLD, NEW)


def test_files_of_another_version_are_compressed_and_kept_for_ever_too(server):
    old, _ = server("old", OLD)
    new, style_of_new = server("new", NEW)
    ours, theirs = (each(style_of_new, **{"accept-encoding": "gzip"}) for each in (new, old))
    assert theirs.content == ours.content and theirs["Content-Encoding"] == "gzip"
    for name in ("Cache-Control", "Content-Type", "Vary"):
        assert theirs[name] == ours[name]


def test_they_stay_when_nobody_of_that_version_lives_any_more(server, tmp_path):
    _, style_of_old = server("old", OLD)
    for file in (tmp_path / "old/served").iterdir():
        file.unlink()
    new, _ = server("new", NEW)
    assert new(style_of_old).content.decode() == OLD


@pytest.mark.parametrize(
    "path",
    ["../new/static/page.css", "page.css", "", ".", "page.css\0", "a" * 5000, "//etc/passwd", "..%2fold"],
)
def test_nothing_else_is_served_from_there(server, path):
    new, _ = server("new", NEW)
    found = new(f"/static/{path}")
    assert found.status_code == 404 or (path == "page.css" and found.content.decode() == NEW)


def test_what_has_no_fingerprint_is_not_shared(server, tmp_path):
    server("new", NEW)
    assert {file.name.count(".") for file in (tmp_path / "shared").iterdir()} <= {2, 3}
