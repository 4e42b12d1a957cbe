"""Which lines of a diff came and which went. A line's class depends on itself and the one after it alone."""

from __future__ import annotations

from collections.abc import Iterator

PLUS, MINUS, AT = "plus", "minus", "at"
_PLACES = ("@@", "diff ", "index ", "Index: ", "===", "similarity ", "rename ", "new file ", "deleted file ")


def diff_runs(text: str) -> Iterator[tuple[str, str]]:
    """Each line with its class."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        yield _class(line, after), line


def _class(line: str, after: str) -> str:
    match line[:1]:
        case "-" if line.startswith("--- ") and after.startswith("+++ "):
            return AT
        case "+" if line.startswith(("+++ a/", "+++ b/", "+++ /dev/null")):
            return AT
        case "+" | ">":
            return PLUS
        case "-" | "<":
            return MINUS
        case _:
            return AT if line.startswith(_PLACES) else ""
