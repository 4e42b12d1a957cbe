"""What HTML made of foreign text may hold, written down a second time, so that a mistake in the first list is seen."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_PLAIN = """
    b blockquote br code del details div em h1 h2 h3 h4 h5 h6 header hr i kbd label li mark math menclose mfrac mi mmultiscripts mn mo mover
    mpadded mphantom mroot mrow mspace msqrt msub msubsup msup mtable mtd mtext mtr munder munderover ol p pre s section
    small span strong sub summary sup table tbody td th thead tr u ul merror mprescripts mstyle
"""
TAGS = {*_PLAIN.split(), "a", "button", "input"}
VOID = {"br", "hr", "input"}
CLASSES = {
    *(
        "code",
        "wide",
        "plain",
        "footnotes",
        "faint",
        "fresh",
        "tap",
        "k",
        "s",
        "m",
        "c",
        "n",
        "o",
        "p",
        "plus",
        "minus",
        "at",
        "more",
        "less",
        "left",
        "right",
        "apart",
    ),
    *("tight", "whole", "side", "margin", "red", "orange", "green", "teal", "blue", "purple", "grey"),
    *("flush-left", "flush-right", "rule-left", "rule-right", "rule-top", "rule-bottom"),
}
_ID = r"fn(ref)?-[A-Za-z0-9_-]*-[0-9.]+"
_LINK = rf"https?://[^\s\"<>\\/?#@]+([/?#][^\s\"<>\\]*)?|mailto:[^\s\"<>\\]+|#{_ID}"
_SIZE = r"-?[0-9.]+(r?em|ex)?"
_WORD = r"[A-Za-z0-9 .-]*"
VALUES = {
    "href": _LINK,
    "rel": "noopener noreferrer nofollow",
    "target": "_blank",
    "id": _ID,
    "title": r"(?s:.*)",
    "tabindex": "0",
    "role": "group",
    "type": "button|checkbox",
    "dir": "auto",
    "align": "left|right|center",
    "start": "[0-9]{1,9}",
    "value": "[0-9]{1,3}",
    "autocomplete": "off",
    "data-lines": "[0-9]{2,6}",
    "display": "block",
    "aria-label": r"Table|Formula|Footnotes|Footnote [0-9]+|Back to the text|Done|To do",
    "data-lang": r"[\w+#.-]{0,24}",
    **dict.fromkeys(("disabled", "checked", "data-copy-code", "data-grows", "data-wrap", "data-fold"), ""),
    **dict.fromkeys(("width", "height", "depth", "lspace", "rspace", "voffset", "minsize", "maxsize"), _SIZE),
    **dict.fromkeys(
        ("accent", "accentunder", "displaystyle", "movablelimits", "stretchy", "symmetric"), "true|false"
    ),
    **dict.fromkeys(("form", "linethickness", "mathvariant", "notation", "scriptlevel"), _WORD),
}
ONLY_ON = {
    "href": "a",
    "rel": "a",
    "target": "a",
    "type": "button input",
    "title": "a code label",
    "value": "li",
    "autocomplete": "input",
    "id": "a li",
}


class Reader(HTMLParser):
    """Reads as a browser would, and complains of whatever does not belong."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.opened: list[str] = []
        self.roots: list[str] = []
        self.text: list[str] = []
        self.links: list[dict[str, str]] = []

    def handle_starttag(self, tag, attrs):
        if tag not in TAGS:
            self.wrong.append(f"<{tag}>")
        if not self.opened:
            self.roots.append(tag)
        if tag not in VOID:
            self.opened.append(tag)
        for name, value in attrs:
            self._look(tag, name, value or "")
        if tag == "a":
            self.links.append(dict(attrs))

    def _look(self, tag, name, value):
        if name == "class":
            self.wrong += [f"class {word}" for word in value.split() if word not in CLASSES]
        elif name not in VALUES or not re.fullmatch(VALUES[name], value):
            self.wrong.append(f"<{tag} {name}={value!r}>")
        elif name in ONLY_ON and tag not in ONLY_ON[name].split():
            self.wrong.append(f"<{tag} {name}>")

    def handle_startendtag(self, tag, attrs):
        self.wrong.append(f"<{tag}/>")

    def handle_endtag(self, tag):
        if not self.opened or self.opened.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        self.wrong.append("comment")

    handle_decl = handle_pi = unknown_decl = handle_comment


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    reader.wrong += [f"<{tag}> stays open" for tag in reader.opened]
    return reader


def words(html: str) -> str:
    return "".join(read(html).text)
