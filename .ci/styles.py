"""Writes every style sheet as they are read here, a declaration a line; with --check it only names those that are not."""

from __future__ import annotations

import sys
from pathlib import Path

import cssbeautifier

OPTIONS = cssbeautifier.default_options()
OPTIONS.indent_size = 2
OPTIONS.end_with_newline = OPTIONS.space_around_combinator = True


def main(arguments: list[str]) -> None:
    texts = {file: file.read_text() for file in sorted(Path("static/css").glob("*.css"))}
    formatted = {file: beautified(text) for file, text in texts.items()}
    differ = [file for file in texts if texts[file] != formatted[file]]
    if "--check" in arguments and differ:
        sys.exit("\n".join(f"{file} would be written otherwise by .ci/styles.py" for file in differ))
    for file in differ:
        file.write_text(formatted[file])


def beautified(text: str) -> str:
    # It takes the operator of [a~="b"] for a combinator, and parts it.
    return str(cssbeautifier.beautify(text, OPTIONS)).replace(" ~ =", "~=")


main(sys.argv[1:])
