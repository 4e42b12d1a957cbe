"""The wheel, built and installed as `deploy/Dockerfile` says, and started with everything read-only but its own folders."""

from __future__ import annotations

import json
import re
import subprocess
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from uuid import uuid4

import httpx
import pytest

from tests.deploy.proxied import free_port
from tests.deploy.rehearsal import Image
from tests.support.patience import PATIENCE
from tests.support.shell import ROOT
from tests.test_house import wanted

# All packages are fetched and installed, some of them twice.
pytestmark = pytest.mark.timeout(900) if find_spec("pytest_timeout") else []
QUESTION = "How much is 14 * 60 * 0.8?"


@contextmanager
def serving(image: Image, **environment: str) -> Iterator[str]:
    port = free_port()
    with subprocess.Popen(
        image.contained(*image.command, "--port", str(port)),
        env=image.environment_with(**environment),
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            first = process.stdout.readline()
            assert first.startswith("Thoughtline is at "), process.stderr.read()
            yield f"http://localhost:{port}"
        finally:
            process.terminate()


def run(image: Image, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        image.contained(*words),
        env=image.environment_with(**environment),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


@pytest.fixture(scope="module")
def wheel(image):
    (file,) = (image.folder / "wheels").iterdir()
    with zipfile.ZipFile(file) as packed:
        yield packed


def test_a_wheel_holds_the_code_and_what_it_reads_and_nothing_else(wheel):
    names = set(wheel.namelist())
    for name in (
        "chatapp/settings.py",
        "chatapp/providers/demo/topics/keys.md",
        "chatapp/management/world.toml",
    ):
        assert name in names
    templates = {f"chatapp/built/{file.relative_to(ROOT)}" for file in (ROOT / "templates").rglob("*.html")}
    assert templates <= names
    assert {name.split("/")[0] for name in names} == {"chatapp", "thoughtline-0.1.0.dist-info"}
    assert not [
        name for name in names if re.search(r"__pycache__|\.pyc$|secret-key|\.sqlite|\.env$|/tests/", name)
    ]


def test_static_files_are_in_it_by_name_and_by_fingerprint_with_what_is_made_of_packages(wheel):
    listed = json.loads(wheel.read("chatapp/built/static-served/staticfiles.json"))["paths"]
    ours = {str(file.relative_to(ROOT / "static")) for file in (ROOT / "static").rglob("*.*")}
    assert ours | {"fonts/formulas.woff2", "mermaid/mermaid.min.js", "admin/css/base.css"} <= listed.keys()
    served = {name.removeprefix("chatapp/built/static-served/") for name in wheel.namelist()}
    assert set(listed.values()) <= served
    assert f"{listed['css/base.css']}.gz" in served and f"{listed['css/base.css']}.br" in served


def test_it_depends_on_what_the_product_runs_on(wheel):
    (name,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    needed = re.findall(
        r"^Requires-Dist: ([\w-]+)[^;\n]*(?:; extra == '(\w+)')?", wheel.read(name).decode(), re.M
    )
    assert {n for n, extra in needed if not extra} == {
        r.name.lower() for r in wanted("requirements/requirements.in")
    }
    assert {n for n, extra in needed if extra == "scale"} == {r.name for r in wanted("requirements/scale.in")}


def test_the_image_has_neither_the_tools_nor_the_tests(image):
    packages = {
        path.name.lower() for path in (image.folder / "opt").glob("thoughtline/lib/python*/site-packages/*")
    }
    assert not packages & {"pip", "pytest", "hatchling", "fonttools", "ziamath", "tests", "sphinx_immaterial"}


def test_somebody_signs_up_asks_and_is_answered_on_a_read_only_root(image):
    with (
        serving(image) as url,
        httpx.Client(base_url=url, timeout=PATIENCE, follow_redirects=True) as visitor,
    ):
        page = visitor.get("/accounts/signup/")
        for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text):
            assert visitor.get(address).status_code == 200, address
        style = re.search(r'"(/static/css/base\.[0-9a-f]{12}\.css)"', page.text)[1]
        assert "immutable" in visitor.get(style).headers["cache-control"]
        token = {"csrfmiddlewaretoken": visitor.cookies["csrftoken"]}
        password = {"password1": "a long enough password", "password2": "a long enough password"}
        visitor.post("/accounts/signup/", data={"username": "alice"} | password | token)
        token = {"csrfmiddlewaretoken": visitor.cookies["csrftoken"]}
        asked = {"text": QUESTION, "model": "demo:thinker", "key": str(uuid4())} | token
        answer = visitor.post("/ask/", data=asked)
        assert answer.status_code == 200 and "/c/" in str(answer.url)
        until = time.monotonic() + PATIENCE
        while "672" not in (shown := visitor.get(answer.url.path).text):
            assert time.monotonic() < until, shown
            time.sleep(0.2)
        assert visitor.get("/health/ready").status_code == 200


def test_a_question_is_asked_from_a_terminal(image):
    ended = run(image, "thoughtline", "ask", QUESTION, "--model", "demo:thinker")
    assert ended.returncode == 0, ended.stderr
    assert "672" in ended.stdout


def test_work_alone_says_what_it_needs(image):
    ended = run(image, "thoughtline", "work")
    assert ended.returncode == 1
    assert "DATABASE_URL" in ended.stderr and len(ended.stderr.splitlines()) == 1


def test_every_check_of_a_deployment_passes(image):
    ended = run(
        image,
        "thoughtline",
        "check",
        "--deploy",
        "--fail-level=WARNING",
        PUBLIC_URL="https://chat.example.org",
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_without_a_folder_of_its_own_it_takes_that_of_the_account(image):
    home = image.folder / "data" / "home"
    assert "Data is kept" not in run(image, "sh", "-c", f"mkdir {home}").stdout
    told = run(
        image, "python", "-c", "from chatapp.settings import *; print(DATA_DIR)", DATA_DIR="", HOME=str(home)
    )
    assert told.stdout.strip() == str(home / ".local/state/thoughtline"), told.stderr
    elsewhere = {"DATA_DIR": "", "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    told = run(image, "python", "-c", "from chatapp.settings import *; print(DATA_DIR)", **elsewhere)
    assert told.stdout.strip() == str(home / "state/thoughtline"), told.stderr


def test_servers_of_a_wheel_share_their_static_files(image):
    with serving(image, STATIC_SHARED_DIR=str(image.folder / "static")):
        pass
    shared = {path.name for path in (image.folder / "static").rglob("*.css")}
    assert shared and all(re.fullmatch(r"[\w.-]+\.[0-9a-f]{12}\.css", name) for name in shared)
