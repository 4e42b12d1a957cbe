"""Finds addresses in running text, in time that grows with its length alone.

The library follows an address to its end from each place where one begins, also inside another, and drops those afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from linkify_it import LinkifyIt
from linkify_it.main import Match


class Addresses(LinkifyIt):
    """Full addresses and those of mail. Names of files look like names of hosts, so a bare name is none."""

    def __init__(self) -> None:
        super().__init__(options={"fuzzy_link": False, "fuzzy_email": True, "fuzzy_ip": False})
        self.add("ftp:", None).add("//", None)

    def match(self, text: str) -> list[Match] | None:
        """Each where the one before has ended; of two that begin together the longer one."""
        found: list[Match] = []
        end = 0
        for schema, start, last in self._candidates(text):
            if start >= end:
                found.append(self._create_match(text, schema, start, last))
                end = last
        return found or None

    def _candidates(self, text: str) -> Iterator[tuple[str, int, int]]:
        """In the order of their beginnings. What begins inside an address that was told already is not followed."""
        mails = _MAIL.finditer(text)
        mail, end = next(mails, None), 0
        for opening in _OPENING.finditer(text):
            start = opening.end(1)
            while mail and mail.end(1) < start:
                end = max(end, mail.end())
                yield "mailto:", mail.end(1), mail.end()
                mail = next(mails, None)
            if start < end:
                continue
            length = self.test_schema_at(text, opening[2], opening.end())
            last = opening.end() + length
            if length and not (mail and mail.end(1) == start and mail.end() > last):
                end = last
                yield opening[2], start, last
        while mail:
            yield "mailto:", mail.end(1), mail.end()
            mail = next(mails, None)


_RULES = Addresses().re
_OPENING = re.compile(_RULES["schema_search"], re.IGNORECASE)
_MAIL = re.compile(_RULES["email_fuzzy"], re.IGNORECASE)
