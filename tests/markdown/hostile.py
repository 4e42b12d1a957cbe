"""Texts that would hurt whoever looks at each of their beginnings, as long as one likes."""

from __future__ import annotations

from itertools import pairwise
from string import ascii_lowercase

STORMS = (
    *(
        "<details>\n<summary>s</summary>\n\n",
        "<details><summary>s</summary>\n",
        "> <details>\n> a\n",
        "<sub>a<sup>b<kbd>c<mark>d",
    ),
    *(
        "</sub></sup></kbd></mark>",
        "*<sub>**a<sup>_b*",
        "$",
        "$$ $",
        "$a $b$ ",
        "\\(\\[",
        "`",
        "|a|\n|-",
        "1) a\n2. b\n",
        "- ",
        "> ",
    ),
    *(
        "- > ```\n  > a\n",
        "> 1. ~~~\n>    a\n> b\n",
        "```\n~~~\n",
        "\\begin{align}\n",
        "\u202ea\u2066b\u2069**c\u202c** ",
        "[",
        "[ab][",
        "[ab][c] ",
    ),
    *(
        "[^abc] ",
        "[a](b/c.d)[",
        "[a](http://",
        "***a ",
        "*_",
        "中**",
        "http://a.b/(",
        "&#1234567;&amp",
        "a\n-\n=\n",
        "- [ ] [x] ",
        "\\|",
    ),
)


def hostile(size: int) -> dict[str, str]:
    """By what they are made of."""
    commands = "".join(f"\\newcommand{{\\{b}}}{{\\{a}\\{a}}}" for a, b in pairwise(ascii_lowercase))
    deep = int(size**0.5)
    return {
        **{storm: (storm * size)[:size] for storm in STORMS},
        "details in each other": "<details>\n" * (size // 21) + "</details>\n" * (size // 21),
        "runs of backticks": " ".join("`" * n for n in range(1, deep)),
        "a wide table": "|" + "a|" * 300 + "\n|" + "-|" * 300 + "\n" + "|x\n" * (size // 3),
        "rows of bars": "|a|b|\n|-|-|\n" + "|||||||||\n" * (size // 10),
        "escaped bars": "|a|\n|-|\n" + "\\|" * (size // 2),
        "a deep list": "".join("  " * n + "- a\n" for n in range(deep)),
        "a deep quote": ">" * 40 + "a\n" + "b\n" * (size // 2),
        "commands that double": f"$\\newcommand{{\\a}}{{xx}}{commands}$\n\n" + "$\\z$ " * (size // 5),
        "fractions in fractions": "$" + "\\frac{" * (size // 6) + "$",
        "groups in groups": "$$\n" + "{" * size + "\n$$",
        "hidden signs in code": "`" + "\u202e\u200b" * (size // 2) + "`",
        "links in links": "[ab " * (size // 8) + "][c]" * (size // 8),
        "pictures in pictures": "![a " * (size // 10) + "](b.c)" * (size // 10),
        "a path without end": "[a](" + "a." * (size // 2) + ")",
        "many notes": "".join(f"[^abc{n}] " for n in range(size // 10)),
        "notes in notes": "".join("    " * n + f"[^abc{n}]: x\n" for n in range(deep // 2)),
        "blanks": " " * (size // 2) + "a" + "\t" * (size // 2),
    }
