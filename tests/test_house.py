"""What holds for the house as a whole: its dependencies, its scripts, its pages."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.core.management import get_commands
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from chatapp.apps import HEARD_FROM
from chatapp.checks import FLOORS

ROOT = Path(__file__).parent.parent
LOCKS = {
    "requirements/checkout.in": "requirements.txt",
    "requirements/requirements.in": "requirements/product.txt",
    "requirements/build.in": "requirements/build.txt",
    "requirements/scale.in": "requirements/scale.txt",
    "requirements/dev.in": "requirements/dev.txt",
}
# With the file that says what the folder is.
MOST_IN_A_FOLDER = 22
LONGEST_LINE = 160
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
MODULES = [file for file in sorted((ROOT / "chatapp").rglob("*.py")) if "migrations" not in file.parts]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
LAYERS = CONTRACTS[0]["layers"]
# Those that are not named for what is drawn or told there, piece by piece, for what a request of a program goes through, or for the
# way out and the formats of files.
OTHERWISE = {"thread", "live", "gateway", "exchange"}
ROOMS = {*LAYERS[LAYERS.index("templatetags") + 1 : LAYERS.index("turns")]} - OTHERWISE
IN_A_ROOM = {
    *("models", "store", "page", "news", "forms", "views", "urls", "admin", "access"),
    *("verify", "part"),
}
MADE_LATER = {"DATA_DIR/secret-key", "var/secret-key", "deploy/.env"}
# How whoever a question is about is called.
PERSONS = {"user", "person", "owner", "author", "viewer", "reader", "reviewer", "by", "who"}
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "bench/README.md"]
OUR_FOLDERS = ("chatapp", "templates", "static", "tests", "bench")
STYLES = sorted((ROOT / "static/css").glob("*.css"))


def wanted(file: str) -> list[Requirement]:
    lines = (ROOT / file).read_text().splitlines()
    return [Requirement(line) for line in lines if re.match(r"[A-Za-z]", line)]


def locked(file: str) -> dict[str, set[str]]:
    """Name to versions; a name may be locked differently for another kind of Python."""
    found: dict[str, set[str]] = {}
    for name, number in re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / file).read_text(), re.MULTILINE):
        found.setdefault(canonicalize_name(name), set()).add(number)
    return found


@pytest.mark.parametrize(("source", "lock"), LOCKS.items())
def test_every_lock_fits_what_is_wanted(source, lock):
    versions = locked(lock)
    for requirement in wanted(source):
        assert any(
            number in requirement.specifier for number in versions[canonicalize_name(requirement.name)]
        )


@pytest.mark.parametrize("lock", sorted({*LOCKS.values()} - {"requirements.txt"}))
def test_locks_agree_with_each_other(lock):
    runtime = locked("requirements.txt")
    assert {
        name: numbers
        for name, numbers in locked(lock).items()
        if name in runtime and numbers != runtime[name]
    } == {}


@pytest.mark.parametrize(
    "lock", [*sorted({*LOCKS.values()}), "requirements/local-model.txt", "requirements/pictures.txt"]
)
def test_locks_have_hashes_and_name_no_machine(lock):
    text = (ROOT / lock).read_text()
    for block in re.split(r"\n(?=\w)", text):
        if re.match(r"[\w.-]+==", block):
            assert "--hash=sha256:" in block
    assert not re.search(
        r"https?://|file:|--index|--find-links|\s/\w", re.sub(r"^ *#.*$", "", text, flags=re.MULTILINE)
    )


def test_a_checkout_has_all_that_a_wheel_depends_on():
    assert locked("requirements/product.txt").items() <= locked("requirements.txt").items()


def test_by_hand_the_test_runner_comes_with_the_product():
    assert {"pytest", "pytest-django"} <= locked("requirements.txt").keys()


@pytest.mark.parametrize("name", FLOORS)
def test_what_is_locked_and_installed_is_above_the_security_floor(name):
    (number,) = locked("requirements.txt")[canonicalize_name(name)]
    assert Version(number).release >= FLOORS[name]
    assert Version(version(name)).release >= FLOORS[name]


@pytest.mark.parametrize("name", ["start", "check", ".ci/run", "requirements/install", "requirements/lock"])
def test_scripts_can_be_run_as_they_are(name):
    assert (ROOT / name).stat().st_mode & 0o111 == 0o111


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_pages_hold_no_inline_style_or_script_and_nothing_from_elsewhere(file):
    assert not re.search(
        r"\sstyle=|<style|\son\w+=|javascript:|<script(?![^>]*\ssrc=)|(src|href)=.https?:", file.read_text()
    )


def test_no_line_of_a_template_is_longer_than_one_can_read():
    lines = [(file.name, line) for file in TEMPLATES for line in file.read_text().splitlines()]
    assert [(name, line) for name, line in lines if len(line) > LONGEST_LINE] == []


@pytest.mark.parametrize("file", STYLES, ids=lambda file: file.name)
def test_only_the_tokens_name_a_colour(file):
    if file.name != "tokens.css":
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b(?<!#0000)|\brgba?\(|\bhsla?\(|\boklch\(", file.read_text())


def test_whoever_hears_the_engine_is_loaded_with_the_app():
    """Unloaded, a limit would limit nothing, and say nothing of it."""
    joins = re.compile(
        r"^(@receiver\(|ALSO\.append\(|PARTS\.append\(|deleting\.ALSO\.append\()", re.MULTILINE
    )
    files = (file for file in (ROOT / "chatapp").rglob("*.py") if joins.search(file.read_text()))
    names = {".".join(file.relative_to(ROOT / "chatapp").with_suffix("").parts) for file in files}
    assert names == set(HEARD_FROM)


def test_whoever_a_question_is_about_is_somebody():
    """A type checker has nothing to say of `Any`."""
    named = [
        (file, node.lineno, getattr(node, "arg", None) or getattr(node.target, "id", ""), node.annotation)
        for file in MODULES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation
    ]
    assert [
        f"{file.relative_to(ROOT)}:{line} {name}"
        for file, line, name, promised in named
        if name in PERSONS and "Any" in (each.id for each in ast.walk(promised) if isinstance(each, ast.Name))
    ] == []


def test_a_room_holds_files_of_the_same_few_names():
    """What outgrew one is a folder of that name."""
    others = {
        str(file.relative_to(ROOT))
        for room in ROOMS
        for file in (ROOT / "chatapp" / room).iterdir()
        if file.name != "__pycache__" and file.stem not in {*IN_A_ROOM, "__init__"}
    }
    assert others == set()


def test_a_class_has_a_name_of_its_own():
    """But for what is one idea on several sides: a row and its value, what each wire knows of its models, a command."""
    homes: dict[str, list[str]] = {}
    for file in MODULES:
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(file.relative_to(ROOT)))
    assert {name: files for name, files in homes.items() if len(files) > 1}.keys() == {
        "Command",
        "Draft",
        "Facts",
        "Item",
    }


@pytest.mark.parametrize("kind", ["chatapp", "templates"])
def test_no_folder_holds_more_than_one_can_look_through(kind):
    # Changes of the tables only grow in number, and are read in their order.
    others = {"__pycache__", "migrations"}
    folders = [folder for folder in (ROOT / kind).rglob("*") if folder.is_dir() and folder.name not in others]
    sizes = {
        str(folder.relative_to(ROOT)): sum(file.is_file() for file in folder.iterdir()) for folder in folders
    }
    assert {name: size for name, size in sizes.items() if size > MOST_IN_A_FOLDER} == {}


@pytest.mark.parametrize("kind", ["chatapp", "tests", "bench", ".ci"])
def test_nothing_looks_above_the_repository(kind):
    """A plain clone is all that is needed."""
    climbs = re.compile(r"__file__\)(?:\.resolve\(\))?((?:\.parent\b)*)(?:\.parents\[(\d+)\])?")
    for file in (ROOT / kind).rglob("*.py"):
        text, depth = file.read_text(), len(file.relative_to(ROOT).parts)
        for steps, further in climbs.findall(text):
            assert steps.count(".parent") + (int(further) + 1 if further else 0) <= depth, file
        assert not re.search(r"\bROOT\.parent\b", text), file


@pytest.mark.parametrize("document", ["README.md", "docs/development.md"])
def test_what_a_document_names_is_there(document):
    """From the root, from `chatapp/`, or a file of that name anywhere."""
    named = set(
        re.findall(r"`((?:[\w.*-]+/)+[\w.*-]*|[\w-]+\.(?:py|md|toml|js))`", (ROOT / document).read_text())
    )
    folders = [ROOT / name for name in ("chatapp", "static", "tests")]
    assert {
        name
        for name in named - MADE_LATER
        if not any(any(folder.glob(f"**/{name}")) for folder in folders) and not any(ROOT.glob(name))
    } == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_what_a_document_leads_to_and_tells_to_run_is_there(document):
    """What stands in a page of docs/adr may be somebody else's, but not where it begins with a folder of ours."""
    text = document.read_text()
    ours = re.findall(rf"`((?:{'|'.join(OUR_FOLDERS)})/[\w.*/-]*)`", text)
    links = re.findall(r"\]\((?!https?:)([\w./-]+)(?:#[\w-]+)?\)", re.sub(r"`[^`\n]*`", "", text))
    modules = re.findall(r"python -m ((?:bench|chatapp|tests)[\w.]*\w)", text)
    assert [path for path in ours if not any(ROOT.glob(path))] == []
    assert [link for link in links if not (document.parent / link).exists()] == []
    assert [name for name in modules if find_spec(name) is None] == []
    assert set(re.findall(r"manage\.py (\w+)", text)) <= get_commands().keys()


@pytest.mark.parametrize("file", sorted((ROOT / "bench").rglob("*.py")), ids=lambda file: file.stem)
def test_what_a_bench_takes_from_the_house_is_there(file):
    """Nothing runs them every day."""
    taken = [
        (node.module, name.name)
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom)
        and node.module
        and node.module.split(".")[0] in ("chatapp", "tests")
        for name in node.names
    ]
    missing = [
        (module, name)
        for module, name in taken
        if not hasattr(import_module(module), name) and find_spec(f"{module}.{name}") is None
    ]
    assert missing == []


def test_every_folder_is_on_the_map():
    folders = {folder.name for folder in (ROOT / "chatapp").iterdir() if (folder / "__init__.py").exists()}
    text = (ROOT / "README.md").read_text()
    assert {name for name in folders - {"migrations", "templatetags"} if f"`{name}/`" not in text} == set()


def test_whoever_speaks_http_is_named_and_nobody_else_may():
    (told,) = (each for each in CONTRACTS if each["name"].startswith("Only the network"))
    layers = {name for layer in LAYERS for name in layer.split(" | ")}
    silent = {name.removeprefix("chatapp.") for name in told["source_modules"]}
    assert layers - silent == {"net", "providers", "tools", "settings"}
