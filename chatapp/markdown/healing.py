"""The end of a text that still grows, so that nothing half-written looks broken: what is begun is closed, or waits."""

from __future__ import annotations

import re

# Only so much of the end is looked at, since a pattern that searches costs more than the length.
_REACH = 400
# A last line that is nothing but marks may become a list, a rule, a heading, a fence or a table.
_MARKS = re.compile(r"[-=*+_#|`~$:\\\[ \t>]+|[ \t>]*[0-9]{1,3}[.)]")
_ROW = re.compile(r"([ \t>]*)(\|.*)")
_RULE = re.compile(r"[|:\-> \t]*")
_LINK = re.compile(r"!?\[([^\]\n]*)(?:\](?:\([^)\s]*)?)?\Z")
_PAIRS = ("**", "~~", "__")


def healed(source: str) -> str:
    """A source for a look in between. The finished text is never asked this."""
    before, gap, last = source.rstrip("\n").rpartition("\n")
    if len(last) <= _REACH and _MARKS.fullmatch(last):
        before, gap, last = before.rpartition("\n")
    table = _with_rule(before.rpartition("\n")[2], last)
    return f"{before}{gap}{table}" if table else _closed(before + gap + last)


def _with_rule(above: str, last: str) -> str:
    """A row that begins a table, with the second line that makes it one."""
    row = _ROW.fullmatch(last)
    if not row or _ROW.fullmatch(above) or row[2] == "|":
        return ""
    columns = row[2].strip().strip("|").count("|") + 1
    return f"{row[0].rstrip().removesuffix('|')}|\n{row[1]}|{'-|' * columns}"


def _closed(source: str) -> str:
    source = (source[:-_REACH] + _LINK.sub(r"\1", source[-_REACH:])).rstrip("*_~` \t")
    paragraph = source.rpartition("\n\n")[2]
    if paragraph.count("`") % 2:
        return source + "`"
    left_open = [mark for mark in _PAIRS if paragraph.count(mark) % 2]
    return source + "".join(sorted(left_open, key=paragraph.rfind, reverse=True))
