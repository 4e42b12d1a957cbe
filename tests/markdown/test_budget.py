"""Texts made to cost much: counted in calls, not in seconds; and what happens to those that pass every count."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import pytest

from chatapp.markdown import Growing, GrowingPieces, feed_within, render_blocks, render_blocks_within
from chatapp.markdown.renderers import GivenUp, Renderers
from chatapp.markdown.tail import Known
from chatapp.markdown.within import SMALL, blocks_waiting, is_small
from tests.support.patience import PATIENCE

SIZE = 2 * 1024
PATTERNS = (
    *(
        "[",
        "![",
        "[x](",
        "[a][",
        "[a](<b",
        "](",
        "[a](b)[c](",
        "[^",
        "[^1]",
        "*",
        "*a_",
        "**x *y ",
        "_*a*_ ",
        "***",
        "~~a",
        "a**b",
    ),
    *(
        "<",
        "<a ",
        "<a:",
        "<http://a",
        "<http://a.b>",
        "<br>",
        "<!-- ",
        "&",
        "&amp;",
        "&#x",
        "\\",
        "\\(",
        "\\[",
        "\\[\n",
        "$a ",
        "$x$",
    ),
    *(
        "$a",
        "$$\n",
        "$$a\n",
        "`",
        "`` `a` ",
        "|",
        "|a|\n",
        "a|",
        "> ",
        ">",
        "- ",
        "- - - a\n",
        "1. ",
        "*\n",
        "-\t",
        "# a\n",
        "a\n=\n",
    ),
    *(
        "a\n---\n",
        "```\n",
        "~~~ x\n",
        "http://a ",
        "http://",
        "mailto:",
        "a@b.c ",
        "a@",
        "a.b@",
        "a.b.c.d.",
        "http://a.b?",
        "\t",
    ),
    *(
        " ",
        "\n",
        "a\n",
        "[a]:\n",
        '[a]: b "\n',
        "[a1]: x\n",
        "\u202e",
        "é[",
        "<sub>",
        "</sup>",
        "*<sub>a*",
        "<details>\n",
        "<details>\n</details>\n",
        "</details>\n",
        "中**",
        "\\begin{align}\n",
        "\\begin{align}\\end{align}\n",
        "\\eqref{a}",
        "$\\def\\a{b}$ ",
        "$\\ce{[}$ ",
        "\x00",
        "[![a](http://b.c)](http://d.e) ",
    ),
)
BOMBS = {
    **{pattern: pattern * (SIZE // len(pattern)) for pattern in PATTERNS},
    "runs of backticks": " ".join("`" * n for n in range(1, 180)),
    "wide and long table": "a|" * 300 + "\n" + "-|" * 300 + "\n" + "x\n" * 1500,
    "narrow and long table": "|a|b|\n|-|-|\n" + "|x|y|\n" * 700,
    "deep list": "".join("  " * n + "- a\n" for n in range(64)),
    "deep quote, lazy lines": ">" * 50 + "a\n" * 2000,
    "deep footnotes": "".join("    " * n + f"[^{n}]: x\n" for n in range(40)),
    "many footnotes": "".join(f"[^{n}]: x\n" for n in range(400)) + "[^1]" * 100,
    "one definition, many uses": "[a]: http://b.c\n\n" + "[a] " * 1000,
    "title without end": '[a]: b "' + "x\n" * 2000,
    "address without end": "http://a.b/" + "(" * SIZE,
    "brackets in a formula": "$" + "(" * 3900 + "$",
    "links in a link": "[a " * 700 + "](http://b.c)" * 150,
    "name like a host": "[" + "a." * 2000 + "](http://b.c)",
    "hidden signs in code": "`" + "\u202e" * SIZE + "`",
    "spaces": "a" + " " * SIZE + "b",
    **{f"code in {name}": f"```{name}\n{sign * (SIZE // len(sign))}\n```" for name, sign in (
        ("python", "'''\n"), ("python", "("), ("js", "`${"), ("js", "/"), ("cpp", "#if 0\n"), ("html", "<a b='"), ("css", "a{"),
        ("sql", "/*"), ("yaml", "- "), ("perl", "s{"), ("ruby", "<<A,"), ("latex", "\\"), ("php", "<?php "), ("bash", "$(("),
    )},
}  # fmt: skip
# Deep quotes with lazy lines cost most: every line is tried against every level.
CALLS_PER_SIGN = 500


def calls(work, *arguments) -> int:
    """How many functions this calls, which no busy machine can change."""
    count = 0

    def look(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(look)
    try:
        work(*arguments)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", BOMBS)
def test_the_cost_of_a_text_grows_with_its_length_alone(name):
    text = BOMBS[name]
    assert calls(render_blocks, text) < 50_000 + CALLS_PER_SIGN * len(text)


@pytest.mark.parametrize("name", BOMBS)
def test_a_look_at_an_open_end_is_bounded_too(name):
    text = BOMBS[name]
    assert calls(Growing().feed, text) < 50_000 + 2 * CALLS_PER_SIGN * len(text)


@pytest.mark.parametrize("name", [name for name, text in BOMBS.items() if "$" in text or ")" in text])
def test_the_pieces_of_a_text_cost_no_more_than_the_text(name):
    """However it comes: what comes at once is looked at once, what comes by signs may have ended a piece with each of them."""
    text = BOMBS[name]
    assert calls(GrowingPieces().feed, text, Known()) < 50_000 + CALLS_PER_SIGN * len(text)
    found = GrowingPieces()
    assert calls(lambda: [found.feed(sign, Known()) for sign in text]) < 50_000 + 2 * CALLS_PER_SIGN * len(
        text
    )


@pytest.mark.parametrize("name", BOMBS)
def test_what_is_small_enough_to_be_rendered_here_costs_next_to_nothing(name):
    text = BOMBS[name][:SMALL]
    assert not is_small(text) or calls(render_blocks, text) < 250_000


def test_sixteen_thousand_brackets_are_nothing_special():
    assert calls(render_blocks, "[" * 16 * 1024) < CALLS_PER_SIGN * 16 * 1024


def test_a_table_of_empty_cells_is_shown_as_it_is():
    [html] = render_blocks(BOMBS["wide and long table"])
    assert html.startswith('<pre class="plain">a|a|')


# Processes


@pytest.fixture(scope="module")
def renderers():
    made = Renderers(size=1)
    yield made
    made.close()


@pytest.fixture
def hasty():
    """Gives up at once."""
    made = Renderers(size=1, cpu_seconds=0.02)
    yield made
    made.close()


COSTLY = "\n".join(f"[a{n}][" * 200 for n in range(40))


def test_another_process_renders_the_same(renderers):
    text = "# a\n\nx[^1] `b` $c$\n\n```py\nd = 1\n```\n\n[^1]: e\n" * 20
    blocks = asyncio.run(render_blocks_within(text, message="m", key="k", renderers=renderers))
    assert blocks == render_blocks(text, message="m", key="k")
    assert blocks_waiting(text, message="m", key="k", renderers=renderers) == blocks


def test_a_text_grows_in_another_process_as_it_does_here(renderers):
    text = "[a]: https://b.org\n\n" + "see [a] and b[^1]\n\n```py\nd = 1\n```\n\n" * 40 + "[^1]: e\n"

    async def grow() -> tuple[list[str], list[tuple[int, str]]]:
        growing, found = Growing(), []
        for end in range(0, len(text), 900):
            found += await feed_within(growing, text[:end], renderers=renderers)
        return found, growing.settle(await render_blocks_within(text, renderers=renderers))

    found, late = asyncio.run(grow())
    page = dict(enumerate(found)) | dict(late)
    assert list(page.values()) == render_blocks(text)


def test_a_text_that_takes_too_long_is_shown_as_it_is_and_not_tried_again(hasty):
    plain = [f'<pre class="plain">{COSTLY}</pre>']
    assert asyncio.run(render_blocks_within(COSTLY, renderers=hasty)) == plain
    with pytest.raises(GivenUp):
        hasty.do("blocks", COSTLY, "", "")
    assert blocks_waiting(COSTLY, renderers=hasty) == plain


def test_a_process_that_was_given_up_is_replaced(hasty):
    with pytest.raises(GivenUp):
        hasty.do("blocks", COSTLY, "", "")
    assert hasty.do("blocks", "*a*", "", "") == ['<p dir="auto"><em>a</em></p>']


def test_processes_that_nobody_needs_are_ended_and_come_back():
    made = Renderers(size=1, idle_seconds=0.05)
    try:
        assert made.do("blocks", "*a*", "", "") == ['<p dir="auto"><em>a</em></p>']
        [renderer] = made._all
        until = time.monotonic() + PATIENCE
        while renderer._helper and time.monotonic() < until:
            time.sleep(0.01)
        assert renderer._helper is None
        assert made.do("blocks", "*b*", "", "") == ['<p dir="auto"><em>b</em></p>']
    finally:
        made.close()


def test_of_a_growing_text_that_takes_too_long_no_block_is_told_until_its_end(hasty):
    growing = Growing()
    assert asyncio.run(feed_within(growing, COSTLY + "\n\nb\n", renderers=hasty)) == []
    assert growing.lost


def test_a_process_that_hangs_is_given_up():
    hanging = Renderers(size=1, wall_seconds=0.001)
    try:
        with pytest.raises(GivenUp):
            hanging.do("blocks", "a", "", "")
    finally:
        hanging.close()


def test_a_mistake_in_rendering_is_told_without_the_text(renderers, caplog):
    with pytest.raises(GivenUp):
        renderers.do("blocks", "secret words")
    assert "TypeError" in caplog.text and "secret" not in caplog.text


def test_the_event_loop_goes_on_while_a_bomb_is_rendered(renderers):
    """Counted in turns of the loop: one that stood still would make none."""

    async def both() -> int:
        turns, bomb = 0, asyncio.create_task(render_blocks_within(COSTLY, renderers=renderers))
        while not bomb.done():
            await asyncio.sleep(0)
            turns += 1
        return turns

    assert asyncio.run(both()) > 100


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="This system does not show environments.")
def test_the_processes_get_no_environment(renderers, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    fresh = Renderers(size=1)
    try:
        fresh.do("blocks", "a", "", "")
        [renderer] = fresh._all
        assert renderer._helper is not None
        with open(f"/proc/{renderer._helper.process.pid}/environ") as environment:
            assert "sk-secret" not in environment.read()
    finally:
        fresh.close()
