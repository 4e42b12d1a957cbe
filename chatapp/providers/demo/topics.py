"""What the demo can talk about: a Markdown file each, with the words that lead there, three thoughts, and answers to choose from.

In the texts «question» is what was asked, «tools» the tools that are switched on, «results» what they gave, and «memory» the
thoughts that came back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "topics"
BETWEEN = "\n=====\n"
READ = 2000
# What is also said by the way has to be nearly all of a message to be what it is about.
ALONE, FEW_WORDS = "Alone:", 6


@dataclass(frozen=True, slots=True)
class Topic:
    """Of the three thoughts fewer are shown at lower efforts. The answers are alternatives for asking again."""

    name: str
    phrases: tuple[str, ...]
    alone: bool
    thoughts: tuple[str, ...]
    answers: tuple[str, ...]

    def fits(self, words: list[str]) -> int:
        """How many words of a question lead here."""
        text = f" {' '.join(words)} "
        found = [phrase for phrase in self.phrases if f" {phrase} " in text]
        return 0 if self.alone and len(words) > FEW_WORDS else len(" ".join(found).split())


@cache
def topics() -> dict[str, Topic]:
    return {path.stem: _topic(path.stem, path.read_text()) for path in sorted(FOLDER.glob("*.md"))}


def topic_of(question: str) -> Topic | None:
    words = words_of(" ".join(each for each in question[:READ].split() if "/" not in each))
    best = max(topics().values(), key=lambda topic: topic.fits(words))
    return best if best.fits(words) else None


def words_of(text: str) -> list[str]:
    """In small letters, and in one spelling for one and many."""
    return [word.rstrip("s") for word in re.findall(r"[^\W\d_]+", text[:READ].lower())]


def _topic(name: str, text: str) -> Topic:
    head, thoughts, *answers = (part.strip("\n") for part in text.split(BETWEEN))
    phrases = (" ".join(words_of(phrase)) for phrase in head.partition(":")[2].split(","))
    return Topic(
        name,
        tuple(filter(None, phrases)),
        head.startswith(ALONE),
        tuple(thoughts.split("\n")),
        tuple(answers),
    )
