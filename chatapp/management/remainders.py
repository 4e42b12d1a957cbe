"""A number that stands in thoughts alone, and how it shows in the open: by its remainders."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

SMALLEST, LARGEST = 1000, 9999
# Of answers that are made up, not one pair in two hundred fits one number.
ASKED, EDITED = (7, 11, 13), (9, 16, 17)
HIDE = (
    f"Think of a secret whole number between {SMALLEST} and {LARGEST}, and keep it in your thoughts alone: write it nowhere, "
    "and give it to no tool. Call the tool clock once. When it has answered, say only: ready."
)
_PAIR = re.compile(r"(?<!\d)(\d++)\s*+=\s*+(\d++)")
_NUMBER = re.compile(r"\d+")
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)[,. '](?=\d{3})")

Remainders = Mapping[int, int]


def question(divisors: Sequence[int]) -> str:
    wanted = ", ".join(f"{divisor}=…" for divisor in divisors)
    return (
        "Call the tool clock once more. Then tell the remainders of your secret number, the very one you thought of before, "
        f"divided by {' and '.join(map(str, divisors))}. Answer in this form, with nothing else: {wanted}"
    )


def read(words: str, divisors: Sequence[int]) -> Remainders | None:
    """What an answer says; None where one is missing or cannot be."""
    said = {int(divisor): int(rest) for divisor, rest in _PAIR.findall(words.replace("*", ""))}
    found = {divisor: said[divisor] for divisor in divisors if said.get(divisor, divisor) < divisor}
    return found if len(found) == len(divisors) else None


def number_behind(answers: Sequence[Remainders]) -> int | None:
    """The one number that leaves all of these."""
    fitting = [
        number
        for number in range(SMALLEST, LARGEST + 1)
        if all(number % divisor == rest for answer in answers for divisor, rest in answer.items())
    ]
    return fitting[0] if len(fitting) == 1 else None


def stands_in(number: int, words: str) -> bool:
    return str(number) in _NUMBER.findall(_BETWEEN_THOUSANDS.sub("", words))
