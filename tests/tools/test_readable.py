"""HTML becomes text that reads well, and no page can keep the reader for long."""

from __future__ import annotations

import asyncio

import pytest

from chatapp.tools import ToolError
from chatapp.tools.page.page_read import page_read
from chatapp.tools.page.page_text import PageRead
from chatapp.tools.page.readable import LEFT_OUT, MOST_WRITTEN, readable_part

URL = "https://site.example/a/b"
MOST = 2 * 1024 * 1024


def text(html: str) -> str:
    return readable_part(html, URL).text


def test_a_page_reads_as_it_is_seen():
    html = """<!doctype html><title> A
      title </title><body><h1>Fish  and
      chips</h1><p>One <b>t</b>wo<br>three<p>four<ul><li>a<li>b<ul><li>c</ul></ul><ol><li>x<li>y</ol>
      <dl><dt>word<dd>meaning</dl><hr><div>end</div>"""
    page = readable_part(html, URL)
    assert (page.title, page.whole) == ("A title", True)
    assert page.text == (
        "# Fish and chips\n\nOne two\nthree\n\nfour\n\n- a\n- b\n  - c\n\n1. x\n2. y\n\nword\nmeaning\n\nend"
    )


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<h6>deep</h6>x", "###### deep\n\nx"),
        ("<h2></h2><p>x", "x"),
        ("<h2><a href=/c>x</a></h2>", "## x (https://site.example/c)"),
        ("a<br><br>b", "a\n\nb"),
        ("<p> </p><p>&nbsp;</p><div><div>a</div></div><p></p><p>b", "a\n\nb"),
        ("<ul><li></li><li>a</ul>", "- a"),
        ("<ul><li><p>a</p></li></ul>", "- a"),
        ("<li>a", "- a"),
        ("a<img src=x alt=secret>b", "ab"),
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("<details><summary>more</summary>inside</details>", "more\ninside"),
        ("", ""),
    ],
)
def test_blocks_become_lines(html: str, shown: str):
    assert text(html) == shown


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<table><tr><th>K<th>V<tr><td>a<td>1</table>", "K | V\na | 1"),
        ("<table><tr><td><td>b<tr><td>c<td></table>", "| b\nc |"),
        ("<table><tr><td><p>a</p><td><div>b</div></table>", "a | b"),
        ("<table><caption>cap</caption><tr><td>a<td>b</table>after", "cap\na | b\n\nafter"),
        ("<table><tr><td>a<p>b</p><td>c</table>", "a\n\nb\n\nc"),
        ("<table><tr><td><table><tr><td>a<td>b</table><td>c</table>", "a | b | c"),
        ("<table><tr><td> <td></table>x", "x"),
        ("<td>x", "x"),
    ],
)
def test_rows_become_lines_with_bars(html: str, shown: str):
    assert text(html) == shown


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<pre>\n  a\n\n    b</pre>", "```\n  a\n\n    b\n```"),
        ("<p>x<pre><code>a <b>b</b>\n</code></pre>y", "x\n\n```\na b\n```\n\ny"),
        ("<pre>a<br>b<div>c</div>d</pre>", "```\na\nb\nc\nd\n```"),
        ("<pre> </pre>x", "x"),
        ("<pre>a", "```\na\n```"),
    ],
)
def test_what_is_set_as_written_stays_so(html: str, shown: str):
    assert text(html) == shown


@pytest.mark.parametrize(
    ("href", "shown"),
    [
        ("https://x.example/?a=1&amp;b", "go (https://x.example/?a=1&b)"),
        ("../c", "go (https://site.example/c)"),
        ("//x.example", "go (https://x.example)"),
        (" c ", "go (https://site.example/a/c)"),
        ("#part", "go"),
        ("", "go"),
        ("javascript:alert(1)", "go"),
        ("JaVaScRiPt:alert(1)", "go"),
        ("data:text/html,x", "go"),
        ("mailto:a@x.example", "go"),
        ("https://[", "go"),
        ("https://x.example/\u202e", "go"),
        ("https://x.example/" + "x" * 500, "go"),
    ],
)
def test_links_say_where_they_lead_if_that_is_the_web(href: str, shown: str):
    assert text(f'<a href="{href}">go</a>') == shown


def test_links_that_say_nothing_or_themselves_are_not_doubled():
    assert (
        text("<a href=/x><img></a><a>b</a> <a href=https://x.example>https://x.example</a>")
        == "b https://x.example"
    )


def test_the_base_of_a_page_is_kept_to():
    assert text("<base href=https://x.example/d/><a href=e>e</a>") == "e (https://x.example/d/e)"


@pytest.mark.parametrize(
    "html",
    [
        f"<{tag}>secret</{tag}>"
        for tag in LEFT_OUT.split()
    ]
    + [
        f"<{where}>sec<b>ret</b></div>"
        for where in (
            "div hidden",
            "div aria-hidden=true",
            'div style="display:none"',
            'div style="color:red; DISPLAY : none"',
            "div style=visibility:hidden",
        )
    ]
    + ["<!-- secret -->", "<select><option>secret</select>", "<input value=secret>", "<svg><title>secret</title></svg>"],
)  # fmt: skip
def test_what_is_not_seen_is_left_out(html: str):
    page = readable_part(f"<body>before {html} after", URL)
    assert (page.title, page.text) == ("", "before after")


def test_the_main_part_is_preferred_where_it_holds_most():
    around = "<header>top</header>{}<footer>bottom</footer>"
    long = "<h1>x</h1><p>" + "word " * 20
    assert text(around.format(f"<main>{long}</main>")) == text(long)
    assert text(around.format(f"<article>{long}</article>")) == text(long)
    assert text(around.format(f"<main>{long}<article>{long}{long}</article></main>")) == text(long * 3)
    assert text(around.format("<main>x</main>")) == "top\n\nx\n\nbottom"
    assert text("<article>one</article><article>two</article>") == "one\n\ntwo"


def test_depth_is_no_trouble():
    assert text("<div>" * 3000 + "deep") == "deep"
    assert text("<ul><li>" * 500 + "deep").endswith("- deep")
    assert len(text("<ul><li>a" * 500).splitlines()[-1]) < 50


def test_a_page_with_no_end_is_cut_and_says_so():
    page = readable_part("<p>word" * 300_000, URL)
    assert not page.whole and len(page.text) < 2 * MOST_WRITTEN
    assert not readable_part("<b></b>" * 290_000 * 2, URL).whole


@pytest.mark.parametrize(
    "hostile", ["\x00", "\ud800", "<\x00b>x", "<p \x00=\x00>", "&#0;&#xD800;&#x110000;", "<![CDATA[x", "<?x"]
)
def test_any_letters_are_read(hostile: str):
    assert readable_part(hostile.encode(errors="replace").decode(), URL).whole


def test_the_process_that_reads_gives_the_same():
    page = asyncio.run(page_read("<title>ä</title><p>ö \ud800 ü", URL))
    assert page == PageRead("ä", "ö ? ü", whole=True)


def filled(piece: str) -> str:
    return piece * (MOST // len(piece))


HOSTILE = {
    "deep": "<div>" * 200_000,
    "unclosed": filled("<a <a "),
    "attributes": "<p " + " ".join(f"a{n}" for n in range(250_000)) + ">x",
    "tables": filled("<table>"),
    "cells": filled("<table><td>"),
    "formatting": filled("<b><i><u><s><p>"),
    "many formattings": "".join(f"<b a{n}>" for n in range(100_000)) + "<p>x" * 150_000,
    "adoption": filled("<b><div></b>"),
    "anchors": filled("<a><div>"),
    "comments": filled("<!--"),
    "ends": "<div>" * 200_000 + "</p>" * 250_000,
    "lists": filled("<ul><li>"),
    "less-than": filled("<"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_ends_as_a_text_or_is_given_up(name: str):
    """That it ends at all is the promise: some of these would keep the parser for minutes, or fill the memory."""

    async def read() -> str:
        try:
            page = await page_read(HOSTILE[name], URL, cpu_seconds=1, wall_seconds=10)
        except ToolError as error:
            return str(error)
        return page.text

    ended = asyncio.run(asyncio.wait_for(read(), timeout=60))
    assert ended.startswith("The page is built in such a way") or not ended.strip("<x\n")
