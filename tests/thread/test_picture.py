"""The frame in which a diagram is drawn reaches nothing and nobody."""

from __future__ import annotations

import re

import pytest

from chatapp.config.mermaid import FILE, FOLDER
from chatapp.markdown import render

pytestmark = pytest.mark.django_db


def policy(response) -> dict[str, str]:
    return dict(part.split(" ", 1) for part in response["Content-Security-Policy"].split("; "))


def test_its_policy_lets_it_run_its_own_two_programs_and_nothing_else(client):
    response = client.get("/picture/")
    nonce = re.search("'nonce-([^']+)'", response["Content-Security-Policy"])[1]
    assert policy(response) == {
        "default-src": "'none'",
        "script-src": f"'nonce-{nonce}'",
        "style-src": "'unsafe-inline'",
        "connect-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'self'",
        "sandbox": "allow-scripts",
    }
    assert response.text.count("<script") == response.text.count(f'nonce="{nonce}"') == (2 if FOLDER else 0)
    assert "X-Frame-Options" not in response
    assert "no-store" in response["Cache-Control"]
    assert nonce not in client.get("/picture/").text


def test_a_picture_is_offered_where_the_program_is_that_draws_it():
    html = render("```mermaid\ngraph TD; a-->b\n```")
    assert ("data-picture" in html) is bool(FOLDER)
    assert "data-picture" not in render("```python\n1\n```")


@pytest.mark.skipif(not FOLDER, reason="requirements/pictures.txt is not installed")
def test_the_program_is_served_by_this_server_with_its_licence_beside_it(client):
    assert client.get(f"/static/mermaid/{FILE}").status_code == 200
    assert client.get("/static/mermaid/LICENSE").status_code == 200
