"""Finds what somebody pasted without a fence: logs, traces of errors, sessions of a terminal, code. In doubt it is prose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

# So many lines at least, and so many of them that nobody writes in prose.
FEWEST, FEWEST_SURE = 3, 2
# Lines that say nothing of themselves, between two that are sure: what a program printed, or a line of code.
_BETWEEN = {"log": 8, "code": 1}
_BLANK_BETWEEN = 2
# So much of a line is looked at.
_LOOKED_AT, _END_LOOKED_AT = 300, 40

_DIFF = re.compile(r"@@ -\d+|diff --git |--- [ab]/|\+\+\+ [ab]/|index [0-9a-f]{7,40}\.\.")
_IN_DIFF = ("+", "-", " ", "@@", "\\", "diff ", "index ")
_LOG = re.compile(
    r"""(?x)
    \[?\d{4}[-/]\d\d[-/]\d\d[T\ ]\d\d:\d\d
    | \[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?\s
    | [A-Z][a-z]{2}\ {1,2}\d{1,2}\ \d\d:\d\d:\d\d\s
    | \[\s{0,8}\d{1,9}\.\d{6}\]
    | \d{1,3}(?:\.\d{1,3}){3}\ -\ \S{1,40}\ \[
    | [IWEF]\d{4}\ \d\d:\d\d
    | \[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL)\]?[\s:]
    | Traceback\ \(most\ recent\ call\ last\)
    | \s+File\ "[^"]+",\ line\ \d
    | \s+[~^]{2,}\s*$
    | \s+at\ \S
    | Caused\ by:\s
    | \s+\.\.\.\ \d+\ more
    | (?:[A-Za-z_][\w$]{0,60}\.){0,8}\w{0,60}(?:Error|Exception|Warning|Interrupt|Exit)(?::\s|$)
    | Exception\ in\ thread\s
    | goroutine\ \d+\ \[
    | panic:\s
    | thread\ '[^']{0,80}'\ panicked
    | error\[\w{1,9}\]:
    | \s+-->\ \S
    | [\w./\\-]{2,160}:\d{1,7}(?::\d{1,7})?:\s
    | npm\ (?:ERR!|error|warn)\s
    | E\s{3}
    | (?:FAILED|PASSED)\s\S+::
    | \#\d{1,3}\s+(?:0x|in\s|\w+\s?\()
    | \$\ [a-z./~]
    | >>>\s
    | [\w.-]{1,40}@[\w.-]{1,60}[:\s][^\s$\#]{0,80}[$\#]\s
    | PS\ [A-Z]:\\
    | [A-Z]:\\[^>]{0,120}>
    | (?:In|Out)\ ?\[\d{1,4}\]:
    """
)
_CODE = re.compile(
    r"""(?x)
    \s*+(?:
      (?:async\ )?def\ \w+\s?\(
    | class\ \w+\s*[(:{]
    | (?:else|try|finally)\s?:$
    | except\b[^.!?]{0,80}:$
    | for\ \w+(?:,\ ?\w+){0,4}\ in\ [^?]+:$
    | from\ [\w.]+\ import\ \S
    | import\ (?:[\w.]+;|[\w.]+(?:\ as\ \w+)?$|static\ |["'{*]|\w+\ from\ ["'])
    | \#include\s?[<"]
    | \#(?:define|ifn?def|endif|pragma)\b
    | (?:const|let|var|val)\ [\w{\[][^=]{0,120}=
    | (?:export\ )?(?:default\ )?(?:async\ )?function\b\s?\w*\s?\(
    | (?:export\ )?(?:pub\ )?(?:fn|func)\ [\w(]
    | (?:public|private|protected|static|final|abstract|override)\ [\w<>\[\],\ ]+[({;=]
    | (?:package|using|namespace)\ [\w.:]+\s?[;{]
    | (?:struct|enum|interface|trait|impl|type)\ \w[^.!?]{0,80}\{
    | </?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>
    | <!DOCTYPE\ | <\?(?:xml|php)\b | <!--
    | "[^"]{1,120}"\s?:\s?\S
    | [}\])]+[;,)]*$
    | [\[{(]$
    | //\s | /\*
    | (?:SELECT|INSERT\ INTO|UPDATE|DELETE\ FROM|CREATE|ALTER|DROP)\s\w
    | (?:FROM|WHERE|(?:LEFT\ |RIGHT\ |INNER\ |OUTER\ |FULL\ |CROSS\ )?JOIN|GROUP\ BY|ORDER\ BY|HAVING|VALUES)\s[\w("]
    | \.\w+\(
    | \w{3,60}(?:\.\w{1,60}){0,8}\([^?!]*\)[;{:]?$
    )
    """
)
_CONDITION = re.compile(r"\s*+(?:(?:el)?if|while|switch|with|for|return|case|elseif|unless)\b")
_ASSIGNS = re.compile(r"\s*+[\w.\[\]$\"'-]{1,80}\s?(?:[-+*/|&:]?=|<-)\s?\S")
_ENDS = ("{", "};", "});", ");", "=> {", "*/")
_SIGNS_OF_CODE = ("=", "(", "[", "->", "::")
_OPENS_OTHERWISE = re.compile(r" {0,3}(?:>\s|[-*+]\s|\d{1,3}[.)]\s)")
_INDENTED = re.compile(r"(?: {2}|\t)[ \t]*+(?![-*+]\s|\d{1,3}[.)]\s|>\s)\S")
_MAY_BE_CODE = re.compile(r"\s*+(?:#|@\w|\.\.\.\s|-- )")


class _Sort(IntEnum):
    PROSE = 0
    BLANK = 1
    # As it stands in code and in logs, but elsewhere, too.
    LIKELY = 2
    CODE = 3
    LOG = 4

    @property
    def is_sure(self) -> bool:
        return self >= _Sort.CODE


@dataclass(frozen=True, slots=True)
class Pasted:
    """Lines from `start` up to `end`, and what they are: a log, code, or a diff."""

    start: int
    end: int
    what: str


def find_pasted(lines: Sequence[str]) -> list[Pasted]:
    """In their order, none over another."""
    found = list[Pasted]()
    at = 0
    for diff in _diffs(lines):
        found += [*_others(lines, at, diff.start), diff]
        at = diff.end
    return [*found, *_others(lines, at, len(lines))]


def _diffs(lines: Sequence[str]) -> Iterator[Pasted]:
    at = 0
    while at < len(lines):
        start = at
        if _DIFF.match(lines[at]):
            while at < len(lines) and lines[at].startswith(_IN_DIFF):
                at += 1
            if at - start >= FEWEST:
                yield Pasted(start, at, "diff")
        at = max(at, start + 1)


def _others(lines: Sequence[str], start: int, end: int) -> Iterator[Pasted]:
    within = lines[start:end]
    sorts, before = _sorts(within), 0
    for first, last in _joined(within, sorts):
        while first > before and sorts[first - 1] is _Sort.LIKELY:
            first -= 1
        last = _grown(within, sorts, last)
        before = last + 1
        if _is_enough(sorts[first : last + 1]):
            what = "log" if _is_log(sorts[first : last + 1]) else "code"
            yield Pasted(start + first, start + last + 1, what)


def _grown(lines: Sequence[str], sorts: Sequence[_Sort], last: int) -> int:
    """The last line with those after it that go with it; behind a blank one only what is indented."""
    at = last + 1
    while at < len(sorts) and at - last <= _BLANK_BETWEEN + 1:
        indented = bool(_INDENTED.match(lines[at][:_LOOKED_AT]))
        if sorts[at] is _Sort.LIKELY and (at == last + 1 or indented):
            last = at
        elif sorts[at] is not _Sort.BLANK:
            break
        at += 1
    return last


def _sorts(lines: Sequence[str]) -> list[_Sort]:
    sorts, in_comment = list[_Sort](), False
    for line in lines:
        starred = in_comment and line.lstrip()[:1] == "*"
        sorts.append(_Sort.LIKELY if starred else _sort(line))
        in_comment = (starred or line.lstrip()[:2] == "/*") and "*/" not in line
    return sorts


def _joined(lines: Sequence[str], sorts: Sequence[_Sort]) -> Iterator[tuple[int, int]]:
    """From a sure line to a sure line, as far as nothing else lies between."""
    sure = [at for at, sort in enumerate(sorts) if sort.is_sure]
    if not sure:
        return
    first = sure[0]
    for one, other in pairwise(sure):
        if not _belong_together(lines, sorts, one, other):
            yield first, one
            first = other
    yield first, sure[-1]


def _belong_together(lines: Sequence[str], sorts: Sequence[_Sort], one: int, other: int) -> bool:
    between = range(one + 1, other)
    prose = sum(sorts[at] is _Sort.PROSE for at in between)
    blank = sum(sorts[at] is _Sort.BLANK for at in between)
    if not prose:
        return blank <= _BLANK_BETWEEN
    both_log = sorts[one] is sorts[other] is _Sort.LOG
    most = _BETWEEN["log" if both_log else "code"]
    asks = any(lines[at].rstrip().endswith("?") or _OPENS_OTHERWISE.match(lines[at]) for at in between)
    return not blank and prose <= most and not asks


def _is_enough(sorts: Sequence[_Sort]) -> bool:
    return len(sorts) - sorts.count(_Sort.BLANK) >= FEWEST and sum(s.is_sure for s in sorts) >= FEWEST_SURE


def _is_log(sorts: Sequence[_Sort]) -> bool:
    return sorts.count(_Sort.LOG) >= sorts.count(_Sort.CODE)


def _sort(line: str) -> _Sort:
    beginning, end = line[:_LOOKED_AT].rstrip(), line[-_END_LOOKED_AT:].rstrip()
    if not beginning:
        return _Sort.BLANK if not end else _Sort.PROSE
    if _OPENS_OTHERWISE.match(beginning):
        return _Sort.PROSE
    if _LOG.match(beginning):
        return _Sort.LOG
    if _CODE.match(beginning) or _is_code(beginning, end):
        return _Sort.CODE
    likely = _INDENTED.match(beginning) or _ASSIGNS.match(beginning) or _MAY_BE_CODE.match(beginning)
    return _Sort.LIKELY if likely else _Sort.PROSE


def _is_code(beginning: str, end: str) -> bool:
    if end.endswith(_ENDS):
        return True
    signs = any(sign in beginning for sign in _SIGNS_OF_CODE)
    return signs and (end.endswith(";") or bool(end.endswith(":") and _CONDITION.match(beginning)))
