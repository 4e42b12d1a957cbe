"""Two hundred searches and what they look through: many scripts, signs that mean something to a database, words inside words. What each
is to find is told by a plain reading of every text, which knows no database and no index."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

# Question, thought, answer.
TURNS = [
    (
        "How do I add an index without locking everyone out?",
        "They want CONCURRENTLY.",
        "Without locking anybody: CREATE INDEX CONCURRENTLY.",
    ),
    (
        "Which café in Zürich?",
        "Zürich has many cafés; naïve ranking…",
        "Café Odeon. Also CAFE\u0301 SCHOBER on the Straße.",
    ),
    (
        "100 % sure about snake_case?",
        "50% of _all_ names are snake_case, 100% of files",
        r"Use C:\temp\new_file, 5 % off, not 5 percent",
    ),
    (
        "東京で一番の寿司は?",
        "東京都の寿司屋を比べる。京都ではない。",
        "銀座の寿司は東京の名物です。カタカナとｶﾀｶﾅ。",
    ),
    ("我想学习中文", "学生想学汉语,不是日语。", "每天学一个字。中文不难学。"),
    ("한국어를 배우고 싶어요", "한글부터 시작하자.", "한국어는 재미있어요. 한국 음식도!"),
    ("Где ёлка?", "Ёлка стоит в углу; елка без точек.", "ЁЛКА — в гостиной."),
    ("Πού είναι η οδός;", "Η ΟΔΟΣ ΕΡΜΟΥ.", "Στην οδό Ερμού."),
    ("שלום עולם?", "שָׁלוֹם עם ניקוד", "שלום!"),
    ("مرحبا بالعالم", "مَرْحَبًا مع التشكيل", "مرحبا"),
    ("हिन्दी में लिखो", "हिंदी की मात्राएँ", "हिन्दी ठीक है।"),
    ("ภาษาไทยยากไหม", "ไทยมีวรรณยุกต์", "ไม่ยากมาก"),
    ("Party 🎉🎉 or 👩‍👩‍👧 day?", "❤️ and ❤ are one", "🎉 wins, 👍🏽 too. 🇩🇪"),
    ('What does "quoted text" mean?', "He said “quoted text” twice.", "It means 'quoted   text' here."),
    ("line\nbreaks  and\ttabs", "line breaks and tabs", "A line\u2028breaks,\u00a0and tabs."),
    ("İstanbul ve ISPARTA", "istanbul, ısparta", "Istanbul'da"),
    ("ﬁne ﬂow ½ x² №5", "fine flow 1⁄2 x2 no5", "ＦＩＮＥ　ｆｌｏｗ"),
    ("SELECT * FROM a WHERE b LIKE '%c_d%' ESCAPE '\\';", "[glob] ? * and {1,2}", "'; DROP TABLE x; --"),
    ("co\u00adoperate soft hyphen", "zero\u200bwidth", "join\u200ders"),
    ("a", "aa aaa aaaa", "abcabcabcabd"),
]

# Each on a line of its own, with blanks where they count.
QUERIES = tuple((Path(__file__).parent / "queries.txt").read_text().splitlines())

_DROPPED = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u20d0-\u20ff\ufe00-\ufe0f]"
)


def plain(text: str) -> str:
    """Read as a person would who looks past accents and case."""
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    seen = "".join(
        sign for sign in _DROPPED.sub("", apart) if sign.isspace() or unicodedata.category(sign) != "Cf"
    )
    return unicodedata.normalize("NFC", re.sub(r"\s+", " ", seen)).strip()


def plain_terms(query: str) -> list[str]:
    """Words, and what stands between two quotes."""
    parts = re.split(r'["“”«»]', query)
    return [
        plain(part)
        for n, piece in enumerate(parts)
        for part in ([piece] if n % 2 else piece.split())
        if plain(part)
    ]


def expected(query: str) -> set[tuple[int, str]]:
    """Which turn, and what of it."""
    terms = plain_terms(query)
    kinds = ("question", "thought", "answer")
    return {
        (n, kind)
        for n, turn in enumerate(TURNS)
        for kind, text in zip(kinds, turn, strict=True)
        if terms and all(term in plain(text) for term in terms)
    }
