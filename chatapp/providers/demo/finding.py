"""Finds in a question what a tool could answer: an expression to compute, places whose time is wanted, a page to read."""

from __future__ import annotations

import re

LONGEST = 300
MOST_ZONES = 3
READ = 2000

_FUNCTIONS = r"(?:sqrt|abs|round|floor|ceil|min|max|factorial|gcd|exp|ln|log10)"
_START = rf"(?:[-(]\s*+)*+(?:{_FUNCTIONS}\s*\(|pi\b|\.?[0-9])"
_REST = rf"(?:{_FUNCTIONS}\s*\(|pi\b|[0-9.,()+*/%^×÷−\s-])*"
# Not from the midst of signs and brackets, unless what stands before the first of them is a word.
_NOT_WITHIN = r"(?:(?<![-(])(?<![-(] )|(?<=[\w.][-(])|(?<=[\w.][-(] ))"
_EXPRESSION = re.compile(rf"(?<![\w.]){_NOT_WITHIN}{_START}{_REST}", re.IGNORECASE)
_OPERATION = re.compile(
    rf"(?:[0-9)]|pi)\s*(?:\*\*|//|[-+*/%^×÷−])\s*[-(]*\s*[0-9.a-z]|{_FUNCTIONS}\s*\(", re.IGNORECASE
)
# A date, a range or a score, unless nothing else was asked.
_NOT_MEANT = re.compile(r"^[0-9]+(?:[-/][0-9]+){1,2}$")
_NOTHING_ELSE = re.compile(
    r"\W*+(?:(?:what|how much)(?:'s| is)|calculate|compute|evaluate|solve)?\W*+", re.IGNORECASE
)

_SIGNS_AT_THE_END = " -+*/%^×÷−"

_IN_SIGNS = tuple(
    (re.compile(words, re.IGNORECASE), signs)
    for words, signs in (
        (r"(?<=[0-9]),(?=[0-9]{3}\b)(?![^(]*\))", ""),
        (r"\bsquare root of\s+([0-9.]+)", r"sqrt(\1)"),
        (r"(?<![0-9.])([0-9.]++)\s*(?:%|percent)\s+of\s+([0-9.]+)", r"\1/100*\2"),
        (r"\bto the power of\b", "**"),
        (r"\bplus\b", "+"),
        (r"\bminus\b", "-"),
        (r"\b(?:multiplied by|times)\b", "*"),
        (r"\bdivided by\b", "/"),
        (r"(?<=[0-9)])\s+squared\b", "**2"),
        (r"(?<=[0-9)])\s+cubed\b", "**3"),
        (r"(?<=[0-9)])\s*x\s*(?=[0-9(])", " * "),
    )
)

_TIME = re.compile(
    r"\bwhat(?:'s| is) the (?:current |exact )?(?:time|date)\b(?! (?:of|to|for))|\bcurrent (?:time|date)\b|\btoday'?s date\b|"
    r"\b(?:what|which) (?:time|day|date|year|month|weekday)(?: of the week)? (?:is it|is today|it is|do we have)\b|\btime is it\b",
    re.IGNORECASE,
)
_TIME_THERE = re.compile(r"(?<!thinking )\btime (?:is it |now |it is )?in\b", re.IGNORECASE)
_ZONE = re.compile(
    r"\b(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Za-z_/+-]+[A-Za-z]"
)

_PAGE = re.compile(r"\bhttps?://[^\s<>\"'`]{1,500}", re.IGNORECASE)

CITIES = {
    "amsterdam": "Europe/Amsterdam",
    "auckland": "Pacific/Auckland",
    "bangkok": "Asia/Bangkok",
    "beijing": "Asia/Shanghai",
    "berlin": "Europe/Berlin",
    "cairo": "Africa/Cairo",
    "california": "America/Los_Angeles",
    "chicago": "America/Chicago",
    "delhi": "Asia/Kolkata",
    "dubai": "Asia/Dubai",
    "germany": "Europe/Berlin",
    "hong kong": "Asia/Hong_Kong",
    "india": "Asia/Kolkata",
    "istanbul": "Europe/Istanbul",
    "japan": "Asia/Tokyo",
    "lagos": "Africa/Lagos",
    "lisbon": "Europe/Lisbon",
    "london": "Europe/London",
    "los angeles": "America/Los_Angeles",
    "madrid": "Europe/Madrid",
    "mexico city": "America/Mexico_City",
    "moscow": "Europe/Moscow",
    "mumbai": "Asia/Kolkata",
    "nairobi": "Africa/Nairobi",
    "new york": "America/New_York",
    "paris": "Europe/Paris",
    "rome": "Europe/Rome",
    "san francisco": "America/Los_Angeles",
    "sao paulo": "America/Sao_Paulo",
    "seoul": "Asia/Seoul",
    "shanghai": "Asia/Shanghai",
    "singapore": "Asia/Singapore",
    "sydney": "Australia/Sydney",
    "tokyo": "Asia/Tokyo",
    "toronto": "America/Toronto",
    "vienna": "Europe/Vienna",
    "zurich": "Europe/Zurich",
}
_CITY = re.compile(rf"\b(?:{'|'.join(CITIES)})\b")


def expression(question: str) -> str:
    """The longest expression in it, or nothing."""
    text = " ".join(question[:READ].split())
    for words, signs in _IN_SIGNS:
        text = words.sub(signs, text)
    found = (_trimmed(match[0]) for match in _EXPRESSION.finditer(text))
    longest = max((one for one in found if _is_meant(one, text)), key=len, default="")
    return longest if len(longest) <= LONGEST else ""


def _is_meant(found: str, text: str) -> bool:
    if not _OPERATION.search(found):
        return False
    return not _NOT_MEANT.match(found) or _NOTHING_ELSE.fullmatch(text.replace(found, "", 1)) is not None


def _trimmed(text: str) -> str:
    """Without what belongs to the sentence around it."""
    text = text.strip(" ,.").rstrip(_SIGNS_AT_THE_END)
    while text.endswith(")") and text.count(")") > text.count("("):
        text = text[:-1].rstrip()
    while text.startswith("(") and text.count("(") > text.count(")"):
        text = text[1:].lstrip()
    return text


def zones(question: str) -> list[str]:
    """The zones whose time is asked for, in the order in which they are named. UTC where none is."""
    text = question[:READ]
    low = text.lower()
    named = [(match.start(), match[0]) for match in _ZONE.finditer(text)]
    named += [(match.start(), CITIES[match[0]]) for match in _CITY.finditer(low)]
    found = list(dict.fromkeys(zone for _, zone in sorted(named)))[:MOST_ZONES]
    if _TIME.search(text):
        return found or ["UTC"]
    return found if _TIME_THERE.search(text) else []


def page(question: str) -> str:
    """The first address in it, or nothing."""
    found = _PAGE.search(question[:READ])
    return found[0].rstrip(".,;:!?)]}") if found else ""
