"""Code with its colours: the highlighter's many classes become the five that the style sheet knows."""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby

from markdown_it.common.utils import escapeHtml
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

from .signs import marked

MOST_SIGNS = 50_000
LONGEST_LINE = 2_000
CLASSES = frozenset("ksmcn")

# Other languages stay plain: a lexer is code that runs on hostile text, so the list is of those that people use.
_NAMES = """
    awk bash bat c clojure cmake console cpp csharp css dart diff docker elixir elm erlang fortran fsharp gherkin glsl go
    graphql groovy haskell hcl html http ini java javascript json julia kotlin latex less lisp lua make matlab nginx nix
    objective-c ocaml perl php powershell prolog protobuf python r ruby rust scala scheme scss sql swift tcl
    terraform toml typescript vim vue xml yaml zig
"""
_LANGUAGES = frozenset(_NAMES.split())
_ALIASES = {
    "c#": "csharp",
    "c++": "cpp",
    "cs": "csharp",
    "docker-compose": "yaml",
    "dockerfile": "docker",
    "golang": "go",
    "h": "c",
    "hs": "haskell",
    "htm": "html",
    "js": "javascript",
    "json5": "json",
    "jsonc": "json",
    "jsx": "javascript",
    "kt": "kotlin",
    "makefile": "make",
    "mjs": "javascript",
    "mysql": "sql",
    "objc": "objective-c",
    "pgsql": "sql",
    "pl": "perl",
    "postgres": "sql",
    "postgresql": "sql",
    "proto": "protobuf",
    "ps1": "powershell",
    "py": "python",
    "py3": "python",
    "python3": "python",
    "rb": "ruby",
    "rs": "rust",
    "sass": "scss",
    "sh": "bash",
    "shell": "bash",
    "shell-session": "console",
    "sqlite": "sql",
    "svg": "xml",
    "tex": "latex",
    "tf": "terraform",
    "ts": "typescript",
    "tsx": "typescript",
    "yml": "yaml",
    "zsh": "bash",
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
)


def language(info: str) -> str:
    """The name in a fence's first line, as it may be shown."""
    found = re.match(r"\{?\.?([\w+#.-]{1,24})", info.strip())
    return found[1].lower() if found else ""


def highlighted(text: str, name: str) -> str:
    """Escaped code; coloured where the language is known and the code is of a bearable size."""
    known = _ALIASES.get(name, name)
    if known not in _LANGUAGES or not _bearable(text):
        return marked(escapeHtml(text))
    return _coloured(text, _lexer(known))


def _bearable(text: str) -> bool:
    # The highlighter would take a byte order mark away.
    longest = max(map(len, text.split("\n")))
    return len(text) <= MOST_SIGNS and longest <= LONGEST_LINE and not text.startswith("\ufeff")


def _coloured(text: str, lexer: Lexer) -> str:
    runs = [
        (sort, "".join(piece for _, piece in run)) for sort, run in groupby(lexer.get_tokens(text), _class)
    ]
    if "".join(run for _, run in runs) != text:
        # A few highlighters lose the end of what they do not understand.
        return marked(escapeHtml(text))
    return "".join(_span(run, sort) for sort, run in runs)


def _span(text: str, sort: str) -> str:
    html = marked(escapeHtml(text))
    return f'<span class="{sort}">{html}</span>' if sort and text.strip() else html


@cache
def _lexer(name: str) -> Lexer:
    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


def _class(token: tuple[_TokenType, str]) -> str:
    return _class_of(token[0])


@cache
def _class_of(kind: _TokenType) -> str:
    return next((name for parent, name in _KINDS if kind in parent), "")
