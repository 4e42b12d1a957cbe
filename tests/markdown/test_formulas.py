"""What models write as formulas is drawn; what is defined holds for the rest of the answer; nothing that is written can cost much."""

from __future__ import annotations

import re

import pytest

from chatapp.markdown import Growing, render, render_blocks
from chatapp.markdown.formulas import WrongFormula, mathml
from chatapp.markdown.latex import Definitions, written_out
from chatapp.markdown.latex.definitions import MOST_EXPANDED

from .safe_html import read, words
from .test_budget import calls
from .usual_formulas import FORMULAS

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")


def plain(latex: str) -> str:
    return written_out(latex, Definitions(), display=True)


def sizes(html: str) -> str:
    return re.sub(r"\s", "", words(html))


def test_the_usual_formulas_are_drawn():
    assert len(set(FORMULAS)) == len(FORMULAS) >= 136
    assert [latex for latex in FORMULAS if "<code" in render(f"$$\n{latex}\n$$")] == []


def test_the_usual_formulas_are_clean_html_also_while_they_grow():
    for latex in FORMULAS:
        text = f"$$\n{latex}\n$$\n\nend"
        growing = Growing()
        for end in range(0, len(text), 7):
            assert [read(html).wrong for html in growing.feed(text[:end]) if read(html).wrong] == [], text[
                :end
            ]
        assert read(render(text)).wrong == [], latex


@pytest.mark.parametrize(
    ("written", "means"),
    [
        (r"\abs{x}", r"\left|x\right|"),
        (r"A\setminus B", r"A\mathbin{\backslash} B"),
        (r"f\colon X", r"f\mathpunct{:}\, X"),
        (r"\norm*{x}", r"\left\|x\right\|"),
        (r"\dv{y}{x}", r"\frac{\mathrm{d} y}{\mathrm{d} {x}}"),
        (r"\dv[2]{y}{x}", r"\frac{\mathrm{d}^{2} y}{\mathrm{d} {x}^{2}}"),
        (r"\pdv{f}{x}{y}", r"\frac{\partial^{2} f}{\partial {x}\partial {y}}"),
        (r"\substack{a \\ b}", r"\begin{subarray}{c}a \\ b\end{subarray}"),
        (r"\begin{split}a&=b\end{split}", r"\begin{aligned}a&=b\end{aligned}"),
        (r"\begin{alignedat}{2}a&+b\end{alignedat}", r"\begin{aligned}a&{}+b\end{aligned}"),
        (r"\begin{eqnarray}y&=&x\\&=&1\end{eqnarray}", r"\begin{align*}y&={}x\\ &={}1\end{align*}"),
        (r"x=1 \tag{2}", r"\begin{equation*}x=1 \tag{2}\end{equation*}"),
        (r"\text{if $x>0$ then}", r"\text{if }{x>0}\text{ then}"),
        (r"\SI{9.81}{\metre\per\second\squared}", r"9.81\,\mathrm{m}\,\mathrm{s}^{-2}"),
        (r"\SI{3e8}{m/s}", r"3\times 10^{8}\,\mathrm{m}/\mathrm{s}"),
        (r"\num{1234567}", r"1\,234\,567"),
        (r"\qty(\frac{a}{b})", r"\left(\frac{a}{b}\right)"),
        (r"a & b \\ c & d", r"\begin{aligned}a &b \\c &d\end{aligned}"),
        (r"\begin{array}{@{}r*{2}{c}@{}}a\end{array}", r"\begin{array}{rcc}a\end{array}"),
        (r"\begin{aligned}[t]a\\[2em]b\end{aligned}", r"\begin{aligned}a\\ b\end{aligned}"),
        (r"\sum\limits_a \mathop{x}\limits_b", r"\sum\limits_a \mathop{x}_b"),
        (r"\color{red}{x}y", r"\textcolor{red}{x}y"),
    ],
)
def test_a_command_of_a_package_becomes_what_it_means(written, means):
    assert plain(written) == means


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("H2O", "H2O"),
        ("2H2 + O2 -> 2H2O", "2H2+O2⟶2H2O"),
        ("SO4^2-", "SO42−"),
        ("Na+", "Na+"),
        ("CH3-OH", "CH3−OH"),
        ("N2 + 3H2 <=> 2NH3", "N2+3H2⇌2NH3"),
        ("CuSO4.5H2O", "CuSO4⋅5H2O"),
        ("AgCl v", "AgCl↓"),
        ("CO2 ^", "CO2↑"),
        ("^{14}_{6}C", "614C"),
        ("Fe^{III}", "FeIII"),
        ("HC#CH", "HC≡CH"),
    ],
)
def test_chemistry_is_read_as_chemists_type_it(written, shown):
    assert sizes(render(f"$\\ce{{{written}}}$")) == shown


def test_an_unknown_command_stays_as_it_was_written():
    assert "<code title=" in render(r"$\nobodyknows{x}$") and r"\nobodyknows{x}" in render(
        r"$\nobodyknows{x}$"
    )


@pytest.mark.parametrize("name", ["align", "align*", "equation", "gather", "multline", "eqnarray"])
def test_an_environment_needs_no_dollars(name):
    box, after = render_blocks(f"\\begin{{{name}}}\na = b\n\\end{{{name}}}\nafter")
    assert '<math display="block">' in box and words(after) == "after"
    assert render_blocks(f"a\n\\begin{{{name}}}x\\end{{{name}}}")[0] == '<p dir="auto">a</p>'


def test_columns_are_aligned_and_lines_of_arrays_are_drawn():
    html = render(r"$$\begin{aligned}a&=b\end{aligned}\begin{array}{l|r}1&2\\\hline 3&4\end{array}$$")
    assert '<mtd class="right flush-right">' in html and '<mtd class="left flush-left">' in html
    assert '<mtd class="left rule-right">' in html or '<mtd class="rule-right left">' in html
    assert "rule-top" in html


# Through an answer


def test_a_command_that_is_defined_holds_for_the_rest_of_the_answer():
    html = render("$\\RR$\n\n$\\newcommand{\\RR}{\\mathbb{R}}\\RR$\n\n$\\RR^n$ and\n\n```math\n\\RR\n```")
    first, *later = html.split("</code>")
    assert r"$\RR" in first
    assert "".join(later).count("ℝ") == 3


def test_commands_take_arguments_and_defaults():
    assert (
        sizes(render(r"$\newcommand{\p}[2][n]{#1+#2}\p{x}\p[m]{y}\def\q#1{#1!}\q{3}\let\r\q\r4$"))
        == "n+xm+y3!4!"
    )


def test_equations_have_the_numbers_by_which_they_are_named():
    text = (
        "See \\eqref{b} first.\n\n$$\nx=1 \\label{a}\n$$\n\n"
        "\\begin{align} y&=2 \\label{b}\\\\ z&=3 \\tag{A}\\label{c} \\end{align}\n\nFrom $\\eqref{a}$ and \\ref{c}."
    )
    first, one, two, last = map(sizes, render_blocks(text))
    assert first == "See(2)first." and last == "From(1)andA."
    assert one == "x=1(1)" and two == "y=2(2)z=3(A)"


def test_a_name_that_nobody_has_given_is_shown():
    assert sizes(render(r"see \eqref{eq:x_1}")) == "see(eq:x1)"


@pytest.mark.parametrize("step", [1, 5, 11])
def test_what_is_defined_holds_while_the_answer_grows(step):
    text = (
        "$\\newcommand{\\R}{\\mathbb{R}}$\n\n$$\n\\R \\label{a}\n$$\n\n$\\R$ by \\eqref{a}\n\n"
        "$$\n\\def\\R{r}\\R \\label{b}\n$$\n\nby \\eqref{b}, \\eqref{c} $\\R$\n\n$$x\\label{c}$$\n\nend"
    )
    growing = Growing()
    for end in range(0, len(text), step):
        assert all(read(html).wrong == [] for html in growing.feed(text[:end]))
    page = dict(enumerate(growing.given)) | dict(growing.finish(text))
    assert [page[at] for at in sorted(page) if page[at]] == render_blocks(text)


def test_only_a_block_that_names_what_comes_later_changes_in_the_end():
    text = "by \\eqref{a}\n\n$$\nx \\label{a}\n$$\n\nby \\eqref{a}\n\nend\n"
    growing = Growing()
    for end in range(len(text) + 1):
        growing.feed(text[:end])
    assert [place for place, _ in growing.finish(text) if place < len(growing.given)] == [0]


# Hostile ones


BOMBS = {
    "doubling": r"\def\a{\b\b}\def\b{\c\c}\def\c{\d\d}\def\d{\e\e}\def\e{" + "x" * 400 + r"}\a\a\a\a\a\a\a\a",
    "itself": r"\def\a{\a}\a",
    "itself twice": r"\def\a{\a\a}\a",
    "argument": r"\newcommand{\a}[1]{#1#1#1#1}" + r"\a{" * 12 + "x" + "}" * 12,
    "in turns": r"\def\a{\b}\def\b{\a}\a",
    "deep": r"\abs{" * 100 + "}" * 100,
    "many environments": r"\begin{split}" * 200,
    "many labels": r"\label{a}" * 400,
    "many tags": r"\tag{a}" * 500,
    "many references": r"\eqref{a}" * 400,
    "chemistry": r"\ce{" + "[" * 3000 + "}",
    "deep chemistry": r"\ce{" + "{" * 50 + "}" * 50 + "}",
    "arrows": r"\ce{" + "->[" * 900 + "}",
    "units": r"\SI{1}{" + r"\per\kilo\metre" * 250 + "}",
    "open": r"\abs{",
    "options": r"\dv" + "[" * 3900,
    "open text": r"\text{" + "$" * 3000 + "}",
    "matrices": r"\mqty(" * 600,
    "columns": r"\begin{array}{" + "*{20}{lllllllll}" * 200 + "}",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_hostile_formula_costs_little_and_is_clean(name):
    text = f"$${BOMBS[name]}$$"
    assert calls(render, text) < 1_500_000
    assert read(render(text)).wrong == []


def test_definitions_of_one_answer_come_to_no_more_than_some_length():
    """However many formulas use them."""
    text = "$\\def\\a{" + "x" * 400 + "}$\n\n" + "$\\a$ " * 2000
    assert sum(part.count("x") for part in re.findall(r"<mi>(x)</mi>", render(text))) <= MOST_EXPANDED


def test_what_is_nested_too_deeply_when_it_is_written_out_is_refused():
    with pytest.raises(WrongFormula):
        mathml(r"\def\a#1{\sqrt{#1}}" + r"\a{" * 70 + "}" * 70, display=True)


SIGNS = (
    *(
        r"\abs",
        r"\ce",
        r"\dv",
        r"\SI",
        r"\begin",
        r"\end",
        "{align}",
        "{aligned}",
        "{cases}",
        "{split}",
        "{pmatrix*}",
        r"\def",
        r"\a",
    ),
    *(
        r"\newcommand",
        r"\label",
        r"\tag",
        r"\eqref",
        r"\text",
        r"\color",
        r"\let",
        r"\limits",
        r"\qty",
        r"\mqty",
        r"\braket",
        r"\pu",
    ),
    *(
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "&",
        r"\\",
        "#1",
        "#",
        "$",
        "^",
        "_",
        "->",
        "1",
        "2",
        "a",
        "B",
        " ",
        "-",
        "*",
        ".",
        "\n",
        "\\",
    ),
    *(
        r"\left",
        r"\right",
        "|",
        r"\frac",
        r"\hline",
        "<",
        "'",
        "é",
        "∑",
        r"\unit",
        r"\ang",
        r"\num",
        ";",
        r"\per",
        r"\metre",
    ),
)


@hypothesis.settings(deadline=None, max_examples=600)
@hypothesis.given(st.lists(st.sampled_from(SIGNS), max_size=40).map("".join))
def test_any_formula_is_drawn_or_shown_as_it_was_written(latex):
    html = render(f"$$\n{latex}\n$$")
    assert read(html).wrong == []
    try:
        mathml(latex, display=False)
    except WrongFormula as wrong:
        assert str(wrong)
