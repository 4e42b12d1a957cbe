"""What models write looks as they meant it; what people write looks as they wrote it."""

from __future__ import annotations

import pytest
from django.template import Context, Template

from chatapp.markdown import render, render_blocks, render_plain
from chatapp.markdown.code.colours import _ALIASES, _LANGUAGES, highlighted, highlighted_apart
from chatapp.markdown.code.html import FOLDED
from chatapp.markdown.formulas import WrongFormula, mathml

from .safe_html import read, words

OUT = 'rel="noopener noreferrer nofollow" target="_blank"'


def link(url: str, text: str) -> str:
    return f'<a href="{url}" title="{url}" {OUT}>{text}</a>'


def one(text: str) -> str:
    [html] = blocks(text)
    return html


def blocks(text: str, **place: str) -> list[str]:
    """Without what is the same for all."""
    return [html.replace(' dir="auto"', "") for html in render_blocks(text, **place)]


# Text


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a *b* **c** ~~d~~ `e`", "<p>a <em>b</em> <strong>c</strong> <s>d</s> <code>e</code></p>"),
        ("## Title", "<h2>Title</h2>"),
        ("> said", "<blockquote>\n<p>said</p>\n</blockquote>"),
        ("---", "<hr>"),
        ("3. c\n4. d", '<ol start="3">\n<li>c</li>\n<li>d</li>\n</ol>'),
        ("roses\nare red", "<p>roses<br>\nare red</p>"),
        ("a<br>b<BR/>c<br />d", "<p>a<br>\nb<br>\nc<br>\nd</p>"),
        ("<b>no tag</b> &amp; &lt;", "<p>&lt;b&gt;no tag&lt;/b&gt; &amp; &lt;</p>"),
        ("~5 to ~6", "<p>~5 to ~6</p>"),
    ],
)
def test_pieces_look_as_meant(text, html):
    assert one(text) == html


def test_a_table_stands_in_a_box_that_scrolls_by_itself():
    html = one("| a | b |\n|:--|--:|\n| 1 | 2<br>3 |")
    assert html.startswith('<div class="wide" tabindex="0" role="group" aria-label="Table"><table>')
    assert '<th align="left">a</th>' in html and '<td align="right">2<br>\n3</td>' in html


def test_tasks_have_boxes_that_nobody_can_tick():
    html = one("- [x] ready\n- [ ] not yet")
    assert '<li><input type="checkbox" disabled="" checked="" aria-label="Done"> ready</li>' in html
    assert '<li><input type="checkbox" disabled="" aria-label="To do"> not yet</li>' in html


def test_every_block_is_one_element():
    text = "# a\n\nb\n\n- c\n\n```\nd\n```\n\n$$\ne\n$$\n\n|f|\n|-|\n\n> g\n\n---\n\nh[^1]\n\n[^1]: i"
    found = render_blocks(text)
    assert len(found) == 9 + 1
    assert all(html.startswith("<") and html.endswith(">") for html in found)
    assert render(text) == "\n".join(found)


def test_nothing_makes_no_blocks():
    assert render_blocks("") == render_blocks(" \n\n ") == []


# Links


@pytest.mark.parametrize(
    ("text", "url", "shown"),
    [
        ("[a](https://b.org/c?d=e&f)", "https://b.org/c?d=e&amp;f", "a"),
        ("<https://b.org>", "https://b.org", "https://b.org"),
        ("https://b.org/%C3%A9", "https://b.org/%C3%A9", "https://b.org/é"),
        ("me@b.org", "mailto:me@b.org", "me@b.org"),
        ("[a](mailto:me@b.org)", "mailto:me@b.org", "a"),
        ("![a picture](https://b.org/p.png)", "https://b.org/p.png", "a picture"),
        ("![](https://b.org/p.png)", "https://b.org/p.png", "image"),
        ("[b.org](https://b.org/)", "https://b.org/", "b.org"),
        ("[b.org](https://www.b.org/)", "https://www.b.org/", "b.org"),
    ],
)
def test_a_link_says_where_it_leads(text, url, shown):
    assert one(text) == f"<p>{link(url, shown)}</p>"


@pytest.mark.parametrize(
    "text",
    [
        "[a](b)",
        "[a](b:c/d.html)",
        "[a](//b.org)",
        "[a](https://me@b.org/)",
        "[a](ftp://b.org)",
        "main.py",
    ],
)
def test_other_addresses_stay_text(text):
    assert one(text) == f"<p>{text}</p>"


def test_a_link_to_nowhere_is_its_words():
    assert one("[a]() ![b]()") == "<p>a b</p>"


@pytest.mark.parametrize(
    "url", ["#part", "/page", "/page#part", "#", "/", "b.html", "src/main.py", "../a", "R.md#b:c"]
)
def test_a_link_to_a_place_on_a_page_that_is_not_here_is_its_words(url):
    assert one(f"[*a*]({url}) ![b]({url}) [c][d]\n\n[d]: {url}") == "<p><em>a</em> b c</p>"


def test_a_picture_is_called_what_its_words_say():
    assert link("https://b.org/p", "a b c") in one("![a *b* ![c](x.png)](https://b.org/p)")


def test_a_text_that_names_another_host_is_answered_by_the_real_one():
    html = one("[Go to bank.com](https://evil.com/x)")
    assert html.endswith('Go to bank.com</a> <small class="faint">(evil.com)</small></p>')


def test_letters_that_only_look_like_latin_are_spelled_out():
    assert link("http://xn--pple-43d.com/", "http://xn--pple-43d.com/") in one("http://\u0430pple.com/")


def test_hidden_signs_in_links_and_code_are_shown():
    assert "<mark>U+202E</mark>moc</a>" in one("[\u202emoc](https://b.org)")
    assert one("`a\u200bb`") == "<p><code>a<mark>U+200B</mark>b</code></p>"
    assert "x<mark>U+2066</mark>y" in one("```py\nx\u2066y\n```")


def test_joined_emoji_are_left_alone():
    assert "<mark>" not in one("`\U0001f469\u200d\U0001f4bb`")


def test_a_picture_inside_a_link_is_its_words():
    assert one("[![a](https://b.org/i)](https://c.org)") == f"<p>{link('https://c.org', 'a')}</p>"


# Code


def test_code_has_its_language_what_one_may_do_with_it_and_colours():
    html = one('```python\n@d\ndef f(): return "s" + 1  # c\n```')
    assert html.startswith('<div class="code" data-lang="python"><header class="faint"><b>python</b><label')
    assert "<span>Wrap</span>" in html and "data-fold" not in html
    assert '<button type="button" class="tap" data-copy-code><span>Copy code</span></button></header>' in html
    for part in ("k>def", "n>f", "s>&quot;s&quot;", "m>1", "c># c"):
        name, _, text = part.partition(">")
        assert f'<span class="{name}">{text}'.replace("&quot;", '"') in html


def test_long_code_can_be_folded():
    assert "data-fold" not in one("```\n" + "a\n" * FOLDED + "```")
    assert "data-fold" in one("```\n" + "a\n" * (FOLDED + 1) + "```")


def code_of(html: str) -> str:
    return html.partition("<code>")[2].removesuffix("</code></pre></div>")


def test_a_diff_shows_what_came_and_what_went():
    text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n-- sql\n+new\n"
    assert code_of(one(f"```diff\n{text}```")) == (
        '<span class="at">diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n</span> same\n'
        '<span class="minus">-old\n-- sql\n</span><span class="plus">+new\n</span>'
    )
    assert one(f"```patch\n{text}```").count('class="plus"') == 1


@pytest.mark.parametrize(
    ("name", "code", "part"),
    [
        ("php", "$a = 1;\necho 'x';", '<span class="k">echo</span>'),
        ("php", "<p><?php echo 1 ?></p>", '<span class="k">echo</span>'),
        ("console", "$ ls\ntotal 0", '<span class="p">$ </span>ls'),
        ("shell-session", "$ ls\ntotal 0", '<span class="o">total 0'),
        ("pycon", ">>> 'a'\n'a'", '<span class="p">&gt;&gt;&gt; </span><span class="s">'),
        ("asm", "mov eax, 1 ; one", '<span class="c">; one</span>'),
        ("gas", "movl %eax, %ebx", '<span class="n">movl</span>'),
        ("verilog", "module a(input b); endmodule", '<span class="k">module</span>'),
        ("solidity", "contract A { uint x; }", '<span class="k">contract</span>'),
        ("markdown", "# a\n\n`b`", '<span class="n"># a</span>'),
        ("v", "endmodule", '<span class="k">endmodule</span>'),
    ],
)
def test_what_models_write_has_colours(name, code, part):
    assert part in one(f"```{name}\n{code}\n```")


def test_code_that_is_quoted_in_markdown_asks_for_no_other_highlighter():
    assert "def" in one("````markdown\n```python\ndef f(): 1\n```\n````").replace('<span class="k">def', "")


@pytest.mark.parametrize("at", [0, 3, 9, 40])
def test_code_in_two_pieces_is_the_same_code(at):
    text = "def f():\n    '''a\n    b'''\n    return 1\n"
    first, rest = highlighted_apart(text, "python", at)
    assert words(first) == text[:at] and words(rest) == text[at:]


def test_an_unknown_language_is_named_but_plain():
    html = one("```whatever\nif x\n```")
    assert 'data-lang="whatever"' in html and code_of(html) == "if x\n"


def test_indented_code_is_code_too():
    assert one("    a\n     b").startswith(
        '<div class="code" data-lang=""><header class="faint"><b>text</b><label'
    )


@pytest.mark.parametrize("name", sorted({*_LANGUAGES, *_ALIASES}))
def test_colours_change_no_letter(name):
    code = "\n\n <!-- a -->  \t\n'x' \"y\" `z` /* é */ // # -- {{ }} [1, 2.5e3] @a $b %c <d e='f'>&amp;</d>\n\x0b\\\n  end"
    assert words(highlighted(code, name)) == code.replace("\x0b", "U+000B")


# Formulas


@pytest.mark.parametrize("text", ["$x$", r"\(x\)"])
def test_a_formula_in_a_sentence(text):
    assert one(f"So {text}.") == "<p>So <math><mi>x</mi></math>.</p>"


@pytest.mark.parametrize(
    "text", ["$$x$$", "$$\nx\n$$", "\\[\nx\n\\]", r"\[x\]", "$$ x\n$$", "$$\nx $$", "```math\nx\n```"]
)
def test_a_formula_of_its_own(text):
    box = '<div class="wide" tabindex="0" role="group" aria-label="Formula"><math display="block"><mi>x</mi></math></div>'
    assert one(text) == box
    if not text.startswith("`"):
        assert blocks(f"a\n{text}\nb") == ["<p>a</p>", box, "<p>b</p>"]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "costs $5 and $6",
            "$5, $6 or $7.",
            "US$5 and US$ 7",
            "from $20k-$30k",
            "5$ and 6$",
            "$HOME and $PATH",
            "a $ b $ c",
        ),
        *(r"\$x\$", "$$", "$ x$", "`$x$`", "$5 million, up from 4 million$", "$x `y$ z`"),
    ],
)
def test_dollars_that_are_no_formula(text):
    assert "<math" not in one(text)
    assert "title=" not in one(text)


def test_a_price_before_a_formula_leaves_the_formula():
    assert one("It costs $5, so $x_1$ is 5.").count("<math>") == 1


def test_a_wrong_formula_is_shown_as_it_was_written_with_the_reason():
    assert one(r"$\foo{x}$") == '<p><code title="0: Unknown command &quot;\\foo&quot;.">$\\foo{x}$</code></p>'
    assert "<code title=" in one("$$\n\\foo\n$$")


def test_a_formula_that_nothing_closes_stays_text():
    assert blocks("$$\nx\n\ny") == ["<p>$$<br>\nx</p>", "<p>y</p>"]


def test_numbers_in_the_margin_are_left_out():
    assert "(1)" not in one(r"$$\begin{align}a&=b\end{align}$$")


def test_what_a_style_would_say_is_said_by_classes():
    html = one(r"$$\left[\begin{array}{c|c}1&2\end{array}\right]$$")
    assert '<mtd class="rule-right"><mn>1</mn></mtd>' in html and " style=" not in html


def test_a_formula_stays_in_its_place():
    html = one(r"$a\hspace{-100em}b\hspace{900em}c\quad d$")
    assert "-100em" not in html and "900em" not in html and 'width="1em"' in html


@pytest.mark.parametrize(
    "latex",
    [
        *(
            "{" * 100,
            "(" * 20,
            "[" * 40,
            r"\{" * 40,
            r"\langle " * 40,
            r"\bigl|" * 40,
            "{(}" * 40,
            r"\lvert x|" * 40,
            "(&" * 40,
        ),
        *(
            r"\sqrt" * 300,
            r"\frac1" * 200 + "2",
            r"\left(" * 100,
            r"\hat " * 100 + "x",
            "x" * 5000,
            r"\def\a{\a\a}\a",
            "\u202e",
        ),
        *(r"\sqrt{" * 100 + "}" * 100, r"\begin{matrix}" * 100, r"\mathopen|" * 40, "⟨" * 40),
    ],
)
def test_a_formula_that_would_break_its_converter_never_gets_there(latex):
    with pytest.raises(WrongFormula):
        mathml(latex, display=True)


@pytest.mark.parametrize(
    "latex", ["(" * 500 + ")" * 500, "[0,1)" * 100, r"\left(x\right)" * 100, r"f(x_{1})" * 100]
)
def test_brackets_that_are_closed_may_be_many(latex):
    assert mathml(latex, display=False).startswith("<math>")


# Footnotes


def test_footnotes_point_to_each_other_inside_their_message_and_item():
    text, notes = blocks("a[^1] b[^x] c[^1]\n\n[^x]: X\n\n[^1]: *One*", message="m", key="k")
    assert '<sup><a href="#fn-m-k-1" id="fnref-m-k-1" aria-label="Footnote 1">1</a></sup>' in text
    assert 'href="#fn-m-k-1" id="fnref-m-k-1.1"' in text and 'href="#fn-m-k-2"' in text
    assert notes.startswith(
        '<section class="footnotes" aria-label="Footnotes"><ol><li id="fn-m-k-1"><p><em>One</em>'
    )
    assert '<a href="#fnref-m-k-1.1" aria-label="Back to the text">↩</a>' in notes


def test_names_that_differ_give_ids_that_differ():
    keys = ("a.b", "a_b", "a-b", "a b", 'a"b', "a_2e_b")
    ids = {read(render("x[^1]\n\n[^1]: y", message="m", key=key)).links[0]["id"] for key in keys}
    assert len(ids) == len(keys)


# What people write


def test_a_question_keeps_its_lines_and_means_nothing_else():
    html = render_plain("*Hi* <b>\n  there\n\n\n# no title\r\nhttps://b.org/x, me@b.org")
    assert html == (
        "<p>*Hi* &lt;b&gt;<br>  there</p><p># no title<br>"
        f"{link('https://b.org/x', 'https://b.org/x')}, {link('mailto:me@b.org', 'me@b.org')}</p>"
    )


def test_an_empty_question_is_an_empty_paragraph():
    assert render_plain("") == "<p></p>"


# In templates


def test_templates_show_questions():
    template = Template("{% load chat %}{{ text|plain }}")
    assert template.render(Context({"text": "*a*<b>"})) == "<p>*a*&lt;b&gt;</p>"


# Any text


@pytest.mark.parametrize(
    "text", ["\x00", "\ud800", "a\ud83d\ude00", "\r", "a\r\nb", "\ufeff# a", "\u2028", "\x0b\x0c\x1c"]
)
def test_odd_signs_break_nothing(text):
    assert read(render(text)).wrong == read(render_plain(text)).wrong == []
