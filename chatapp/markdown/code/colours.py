"""Code with its colours: the highlighter's many classes become the few that the style sheet knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter

from markdown_it.common.utils import escapeHtml
from pygments.lexer import Lexer
from pygments.lexers import get_all_lexers, get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, _TokenType

from ..signs import marked
from .diff import AT, MINUS, PLUS, diff_runs

# A class of ours, or none, and the letters that have it.
Run = tuple[str, str]

MOST_SIGNS = 50_000
LONGEST_LINE = 2_000
# Most models write PHP without the tag that begins it.
_PHP_ALONE = "php without its tag"
CLASSES = frozenset((*"ksmcnpo", PLUS, MINUS, AT))

# Other languages stay plain: a lexer is code that runs on hostile text, so the list is of those that people use.
_NAMES = """
    ada apacheconf arduino awk bash bat c clojure cmake coffeescript console cpp crystal csharp css cuda cypher cython d dart
    delphi diff django docker elixir elm emacs-lisp erb erlang fish fortran fsharp gas gdscript gherkin glsl go graphql
    graphviz groovy haskell haxe hcl hlsl html html+django html+erb html+php http ini irb java javascript jlcon json jsonnet
    julia kotlin latex less lisp llvm lua make markdown matlab nasm nginx nim nix objective-c ocaml octave perl php powershell
    prolog properties protobuf ps1con puppet pycon pytb python qml r racket rconsole restructuredtext ruby rust sas scala
    scheme scss smalltalk solidity sparql sql sqlite3 stata swift systemverilog tcl tcsh terraform toml turtle twig typescript
    vb.net verilog vhdl vim vue wast wgsl xml xslt yaml zig
"""
_LANGUAGES = frozenset(_NAMES.split())
# Names that models give and the highlighter does not know, or knows as something else.
_ALIASES = {
    "asm": "nasm",
    "assembly": "nasm",
    "docker-compose": "yaml",
    "gitdiff": "diff",
    "h": "c",
    "htm": "html",
    "json5": "json",
    "jinja2": "django",
    "jsonc": "json",
    "jsx": "javascript",
    "kt": "kotlin",
    "mdx": "markdown",
    "mjs": "javascript",
    "mysql": "sql",
    "objdump-nasm": "nasm",
    "patch": "diff",
    "pgsql": "sql",
    "postgres": "sql",
    "postgresql": "sql",
    "sass": "scss",
    "shellsession": "console",
    "sol": "solidity",
    "sqlite": "sql",
    "sv": "systemverilog",
    "svg": "xml",
    "terminal": "console",
    "tf": "terraform",
    "tsx": "typescript",
    "vb": "vb.net",
    "x86asm": "nasm",
}
_KINDS: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "c"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (String, "s"),
    (Number, "m"),
    (Name.Function, "n"),
    (Name.Class, "n"),
    (Name.Tag, "k"),
    (Name.Decorator, "n"),
    (Generic.Heading, "n"),
    (Generic.Subheading, "n"),
    (Generic.Strong, "n"),
    (Generic.Prompt, "p"),
    (Generic.Output, "o"),
    (Generic.Traceback, "o"),
)


def language(info: str) -> str:
    """The name in a fence's first line, as it may be shown."""
    found = re.match(r"\{?\.?([\w+#.-]{1,24})", info.strip())
    return found[1].lower() if found else ""


def highlighted(text: str, name: str) -> str:
    """Escaped code; coloured where the language is known and the code is of a bearable size."""
    return "".join(_span(run, sort) for sort, run in _runs(text, name))


def highlighted_apart(text: str, name: str, at: int) -> tuple[str, str]:
    """The same in two parts, cut at the end of a line."""
    first, rest = list[str](), list[str]()
    for sort, run in _runs(text, name):
        before, behind = run[: max(at, 0)], run[max(at, 0) :]
        first += [_span(before, sort)] if before else []
        rest += [_span(behind, sort)] if behind else []
        at -= len(run)
    return "".join(first), "".join(rest)


def _runs(text: str, name: str) -> list[Run]:
    known = _known(name)
    if not known or not _bearable(text):
        return [("", text)]
    pieces = diff_runs(text) if known == "diff" else _tokens(text, known)
    runs = [(sort, "".join(piece for _, piece in run)) for sort, run in groupby(pieces, itemgetter(0))]
    # A few highlighters lose the end of what they do not understand.
    return runs if "".join(run for _, run in runs) == text else [("", text)]


def _bearable(text: str) -> bool:
    # The highlighter would take a byte order mark away.
    longest = max(map(len, text.split("\n")))
    return len(text) <= MOST_SIGNS and longest <= LONGEST_LINE and not text.startswith("\ufeff")


def _tokens(text: str, name: str) -> Iterator[Run]:
    lexer = _lexer(_PHP_ALONE if name == "php" and "<?" not in text else name)
    return ((_class_of(kind), piece) for kind, piece in lexer.get_tokens(text))


def _span(text: str, sort: str) -> str:
    html = marked(escapeHtml(text))
    return f'<span class="{sort}">{html}</span>' if sort and text.strip() else html


@cache
def _known(name: str) -> str:
    """What the highlighter calls a language that it is asked for, by any of its names; empty for all others."""
    return _ALIASES.get(name) or _names().get(name, "")


@cache
def _names() -> dict[str, str]:
    every = (aliases for _, aliases, *_ in get_all_lexers(plugins=False))
    return {alias: name for aliases in every for name in aliases if name in _LANGUAGES for alias in aliases}


@cache
def _lexer(name: str) -> Lexer:
    """Code in Markdown stays plain, or a text could ask for any highlighter there is."""
    if name == _PHP_ALONE:
        return get_lexer_by_name("php", stripnl=False, ensurenl=False, startinline=True)
    return get_lexer_by_name(name, stripnl=False, ensurenl=False, handlecodeblocks=False)


@cache
def _class_of(kind: _TokenType) -> str:
    return next((name for parent, name in _KINDS if kind in parent), "")
