r"""Commands that look at what comes after them: text, numbers of equations, definitions, derivatives, quantities, reactions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .chemistry import chemistry
from .definitions import Definition, Definitions, WrongFormula
from .quantities import number, unit
from .reader import LatexReader, joined, tokens_of
from .writer import Handler, Writer

HANDLERS: dict[str, Handler] = {}
_REFERENCE = re.compile(r"\\(eqref|ref)\{([^{}]*)\}")
_NO_WORD = re.compile(r"[^\w .:()*'-]|_")
_VECTORS = frozenset((r"\vb", r"\vec", r"\va", r"\mathbf", r"\bm", r"\boldsymbol", r"\vu"))
_MATRICES = {"(": (")", "p"), "[": ("]", "b"), "|": ("|", "v")}


def written_out(latex: str, definitions: Definitions, *, display: bool) -> str:
    r"""In the converter's words. References (`\eqref{…}`) stay, since what they name may come later."""
    return joined(Writer(definitions, HANDLERS, display=display).whole(tokens_of(latex)))


def with_references(latex: str, labels: dict[str, str]) -> str:
    def shown(found: re.Match[str]) -> str:
        words = labels.get(found[2].strip(), _NO_WORD.sub(" ", found[2]))
        return f"\\text{{({words})}}" if found[1] == "eqref" else f"\\text{{{words}}}"

    return _REFERENCE.sub(shown, latex)


def _handles(*names: str) -> Callable[[Handler], Handler]:
    def filed(handler: Handler) -> Handler:
        HANDLERS.update({f"\\{name}": handler for name in names})
        return handler

    return filed


# Text


_TEXTS = {
    "mbox": "text",
    "textnormal": "text",
    "textup": "text",
    "textsl": "textit",
    "textmd": "text",
    "emph": "textit",
    "textsc": "text",
}


def _text(name: str) -> Handler:
    def handler(writer: Writer, reader: LatexReader) -> Sequence[str]:
        return [_with_mathematics(name, reader.argument(), writer)]

    return handler


HANDLERS |= {f"\\{name}": _text(name) for name in ("text", "textrm", "textbf", "textit", "textsf", "texttt")}
HANDLERS |= {f"\\{name}": _text(known) for name, known in _TEXTS.items()}


def _with_mathematics(name: str, tokens: Sequence[str], writer: Writer) -> str:
    """Formulas inside a text stand beside it."""
    made: list[str] = []
    run: list[str] = []
    inside = False
    for piece in tokens:
        if piece not in ("$", r"\(", r"\)"):
            run.append(piece)
            continue
        made.append(_piece(name, run, writer, mathematics=inside))
        run, inside = [], not inside
    return "".join([*made, _piece(name, run, writer, mathematics=inside)])


def _piece(name: str, run: list[str], writer: Writer, *, mathematics: bool) -> str:
    if mathematics:
        return f"{{{writer.text(run)}}}"
    return f"\\{name}{{{joined(run)}}}" if run else ""


@_handles("fbox", "framebox")
def _box(writer: Writer, reader: LatexReader) -> Sequence[str]:
    reader.option()
    return [r"\boxed", "{", _with_mathematics("text", reader.argument(), writer), "}"]


@_handles("intertext", "shortintertext")
def _between(writer: Writer, reader: LatexReader) -> Sequence[str]:
    return [_with_mathematics("text", reader.argument(), writer), *writer.write([r"\\"])]


@_handles("hspace", "kern", "hskip")
def _space(writer: Writer, reader: LatexReader) -> Sequence[str]:
    reader.took("*")
    if reader.peek() != "{":
        return [r"\kern"]
    return [r"\hspace", "{", joined(reader.argument()), "}"]


@_handles("cline", "cmidrule", "extrarowheight")
def _nothing(writer: Writer, reader: LatexReader) -> Sequence[str]:
    reader.argument()
    return []


@_handles("color")
def _colour(writer: Writer, reader: LatexReader) -> Sequence[str]:
    """Before a group it means that group, as those write it who have a package for it."""
    name = reader.word()
    if reader.peek() != "{":
        return [f"\\color{{{name}}}"]
    return [f"\\textcolor{{{name}}}", "{", *writer.write(reader.argument()), "}"]


@_handles("sout")
def _struck(writer: Writer, reader: LatexReader) -> Sequence[str]:
    return [r"\cancel", "{", *writer.write(reader.argument()), "}"]


# Numbers of equations


@_handles("tag")
def _tag(writer: Writer, reader: LatexReader) -> Sequence[str]:
    star = "*" if reader.took("*") else ""
    words = joined([piece for piece in reader.argument() if piece != "$"]).strip()
    row = writer.row()
    if not row.tag:
        row.tag = f"\\tag{star}{{{words}}}"
    return []


@_handles("label")
def _label(writer: Writer, reader: LatexReader) -> Sequence[str]:
    name = reader.word()
    if writer.display:
        writer.row().labels.append(name)
    return []


def _referring(name: str) -> Handler:
    def handler(writer: Writer, reader: LatexReader) -> Sequence[str]:
        return [f"\\{name}{{{_REFERENCE.sub('', reader.word()).replace('{', '').replace('}', '')}}}"]

    return handler


HANDLERS |= {r"\eqref": _referring("eqref")}
HANDLERS |= {f"\\{name}": _referring("ref") for name in ("ref", "autoref", "cref", "Cref")}


# Definitions


@_handles("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand")
def _newcommand(writer: Writer, reader: LatexReader) -> Sequence[str]:
    reader.took("*")
    name = reader.word()
    count = joined(reader.option() or ["0"]).strip()
    default = reader.option()
    body = joined(reader.argument())
    if not count.isdecimal():
        raise WrongFormula("A definition says how many it wants, and that is no number.")
    writer.definitions.define(
        name, Definition(int(count), body, None if default is None else joined(default))
    )
    return []


@_handles("def", "gdef", "edef", "xdef")
def _def(writer: Writer, reader: LatexReader) -> Sequence[str]:
    name, count = _name(reader), 0
    while reader.peek() not in ("{", ""):
        count += reader.next() == "#"
    writer.definitions.define(name, Definition(count, joined(reader.argument())))
    return []


@_handles("let")
def _let(writer: Writer, reader: LatexReader) -> Sequence[str]:
    name = _name(reader)
    reader.took("=")
    other = _name(reader)
    known = writer.definitions.commands.get(other)
    writer.definitions.define(name, known or Definition(0, other))
    return []


def _name(reader: LatexReader) -> str:
    if not reader.peek():
        raise WrongFormula("Nothing is named in this definition.")
    return reader.next()


@_handles("DeclareMathOperator")
def _operator(writer: Writer, reader: LatexReader) -> Sequence[str]:
    star = "*" if reader.took("*") else ""
    name, words = reader.word(), joined(reader.argument())
    writer.definitions.define(name, Definition(0, f"\\operatorname{star}{{{words}}}"))
    return []


# Derivatives and what else physicists shorten


def _derivative(sign: str) -> Handler:
    def handler(writer: Writer, reader: LatexReader) -> Sequence[str]:
        reader.took("*")
        order = writer.text(reader.option() or [])
        given = [writer.text(reader.argument())]
        while reader.peek() == "{" and len(given) < 4:
            given.append(writer.text(reader.argument()))
        return [_fraction(sign, order, given)]

    return handler


def _fraction(sign: str, order: str, given: list[str]) -> str:
    what, variables = (given[0], given[1:]) if len(given) > 1 else ("", given)
    order = order or (str(len(variables)) if len(variables) > 1 else "")
    power = f"^{{{order}}}" if order else ""
    raised = power if len(variables) == 1 else ""
    below = "".join(f"{sign} {{{variable}}}{raised}" for variable in variables)
    return f"\\frac{{{sign}{power} {what}}}{{{below}}}"


HANDLERS |= {f"\\{name}": _derivative(r"\mathrm{d}") for name in ("dv", "derivative", "odv")}
HANDLERS |= {f"\\{name}": _derivative(r"\partial") for name in ("pdv", "partialderivative", "pderivative")}
HANDLERS |= {f"\\{name}": _derivative(r"\delta") for name in ("fdv", "functionalderivative")}


@_handles("dd", "differential")
def _differential(writer: Writer, reader: LatexReader) -> Sequence[str]:
    option = reader.option()
    power = ["^", "{", *writer.write(option), "}"] if option else []
    variable = ["{", *writer.write(reader.argument()), "}"] if reader.peek() == "{" else []
    return [r"\,", r"\mathrm{d}", *power, *variable]


@_handles("eval", "evaluated")
def _evaluated(writer: Writer, reader: LatexReader) -> Sequence[str]:
    return [r"\left.", *writer.write(reader.argument()), r"\right|"]


@_handles("braket")
def _product(writer: Writer, reader: LatexReader) -> Sequence[str]:
    parts = [writer.text(reader.argument())]
    if reader.peek() == "{":
        parts.append(writer.text(reader.argument()))
    return [r"\langle ", r"\vert ".join(f"{{{part}}}" for part in parts), r"\rangle "]


@_handles("div", "divergence")
def _divided(writer: Writer, reader: LatexReader) -> Sequence[str]:
    """Before a vector it is the divergence."""
    return [r"\nabla\cdot "] if reader.peek() in _VECTORS else [r"\div"]


@_handles("qty")
def _quantity_or_brackets(writer: Writer, reader: LatexReader) -> Sequence[str]:
    opening = reader.peek()
    if opening in _MATRICES and opening != "|":
        closing = _MATRICES[opening][0]
        inner = writer.write(reader.bracketed(opening, closing))
        return [r"\left", opening, *inner, r"\right", closing]
    return _quantity(writer, reader)


def _matrix(delimiter: str) -> Handler:
    def handler(writer: Writer, reader: LatexReader) -> Sequence[str]:
        opening, kind = reader.peek(), delimiter
        if opening in _MATRICES and opening != "|":
            closing, kind = _MATRICES[opening]
            inner = reader.bracketed(opening, closing)
        else:
            inner = reader.argument()
        name = f"{kind}matrix"
        return writer.write([*tokens_of(f"\\begin{{{name}}}"), *inner, *tokens_of(f"\\end{{{name}}}")])

    return handler


HANDLERS |= {f"\\{kind}mqty": _matrix(kind) for kind in ("", "p", "b", "v")}


# Quantities


@_handles("SI")
def _quantity(writer: Writer, reader: LatexReader) -> Sequence[str]:
    reader.option()
    value = number(joined(writer.write(reader.argument())))
    if reader.peek() != "{":
        return [r"\left\{", value, r"\right\}"]
    return [value, r"\,", unit(reader.argument())]


@_handles("SIrange", "qtyrange")
def _range_of_quantities(writer: Writer, reader: LatexReader) -> Sequence[str]:
    reader.option()
    first, last, sign = reader.word(), reader.word(), unit(reader.argument())
    return [number(first), r"\,", sign, r"\text{ to }", number(last), r"\,", sign]


@_handles("numrange")
def _range_of_numbers(writer: Writer, reader: LatexReader) -> Sequence[str]:
    reader.option()
    return [number(reader.word()), r"\text{ to }", number(reader.word())]


@_handles("si", "unit")
def _unit(writer: Writer, reader: LatexReader) -> Sequence[str]:
    reader.option()
    return [unit(reader.argument())]


@_handles("num")
def _number(writer: Writer, reader: LatexReader) -> Sequence[str]:
    reader.option()
    return [number(reader.word())]


@_handles("ang")
def _angle(writer: Writer, reader: LatexReader) -> Sequence[str]:
    reader.option()
    signs = (r"^{\circ}", r"'", r"''")
    parts = reader.word().split(";")[:3]
    return ["".join(f"{number(part)}{sign}" for part, sign in zip(parts, signs, strict=False) if part)]


@_handles("pu")
def _physical(writer: Writer, reader: LatexReader) -> Sequence[str]:
    value, _, sign = joined(reader.argument()).strip().partition(" ")
    return [number(value), *([r"\,", unit(tokens_of(sign))] if sign else [])]


# Reactions


@_handles("ce")
def _reaction(writer: Writer, reader: LatexReader) -> Sequence[str]:
    return ["{", *writer.write(tokens_of(chemistry(joined(reader.argument())))), "}"]
