"""Numbers with their units, as the package siunitx writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_NUMBER = re.compile(r"([+-]?)([0-9]*)([.,][0-9]+)?(\([0-9]+\))?(?:[eEdD]([+-]?[0-9]+))?")
_NAMED = r"""
    metre=m meter=m gram=g second=s ampere=A kelvin=K mole=mol candela=cd hertz=Hz newton=N pascal=Pa joule=J watt=W coulomb=C
    volt=V farad=F ohm=Ω siemens=S weber=Wb tesla=T henry=H lumen=lm lux=lx becquerel=Bq gray=Gy sievert=Sv katal=kat minute=min
    hour=h day=d litre=L liter=L tonne=t electronvolt=eV dalton=Da bar=bar angstrom=Å atm=atm calorie=cal bit=bit byte=B radian=rad
    steradian=sr decibel=dB neper=Np hectare=ha arcminute=′ arcsecond=″ degreeCelsius=°C celsius=°C degree=° percent=\%
    kg=kg km=km cm=cm mm=mm um=μm nm=nm ms=ms us=μs ns=ns kJ=kJ kW=kW MW=MW eV=eV keV=keV MeV=MeV GeV=GeV kHz=kHz MHz=MHz GHz=GHz
    mol=mol mL=mL ml=mL m=m s=s g=g N=N J=J W=W V=V A=A K=K Hz=Hz Pa=Pa kPa=kPa C=C T=T F=F H=H L=L molar=M
"""
_PREFIXES = """
    yocto=y zepto=z atto=a femto=f pico=p nano=n micro=μ milli=m centi=c deci=d deca=da deka=da hecto=h kilo=k mega=M giga=G tera=T
    peta=P exa=E zetta=Z yotta=Y kibi=Ki mebi=Mi gibi=Gi
"""


def _pairs(words: str) -> dict[str, str]:
    return {f"\\{name}": sign for name, _, sign in (word.partition("=") for word in words.split())}


_UNITS, _PREFIX = _pairs(_NAMED), _pairs(_PREFIXES)
_BEFORE = {r"\square": 2, r"\cubic": 3}
_AFTER = {r"\squared": 2, r"\cubed": 3}
_TO_THE = (r"\tothe", r"\raiseto")
_BETWEEN = {".": r"\,", "~": r"\,", "*": r"\,", r"\cdot": r"\,", r"\,": r"\,", "/": "/", "(": "(", ")": ")"}


def number(text: str) -> str:
    """Digits in groups of three, and powers of ten as such. What is no number stays as it is."""
    found = _NUMBER.fullmatch(text.replace(" ", ""))
    if not found or not any(found.groups()):
        return text.replace("+-", r"\pm ")
    sign, whole, part, unsure, power = found.groups(default="")
    digits = f"{sign}{_grouped(whole)}{part.replace(',', '{,}')}{unsure}"
    if not power:
        return digits
    ten = f"10^{{{power.removeprefix('+')}}}"
    return f"{digits}\\times {ten}" if whole or part else f"{sign}{ten}"


def _grouped(whole: str) -> str:
    if len(whole) <= 4:
        return whole
    first = len(whole) % 3
    return r"\,".join(
        filter(None, (whole[:first], *(whole[at : at + 3] for at in range(first, len(whole), 3))))
    )


def unit(tokens: Sequence[str]) -> str:
    """Names of units as their signs, with powers; signs as they are, upright."""
    return r"\,".join("".join(run) for run in _units_in_a_row(tokens) if run)


def _units_in_a_row(tokens: Sequence[str]) -> Iterator[list[str]]:
    r"""What is named is set apart by a thin space: `\kilo\gram\per\metre`."""
    run: list[str] = []
    below, power, prefix = False, 1, ""
    at = 0
    while at < len(tokens):
        piece = tokens[at]
        at += 1
        if piece in _UNITS:
            yield run
            word, at = _power_after(tokens, at, power)
            run = [f"\\mathrm{{{prefix}{_UNITS[piece]}}}", _raised(-word if below else word)]
            below, power, prefix = False, 1, ""
        elif piece == r"\per":
            below = True
        elif piece in _PREFIX:
            prefix = _PREFIX[piece]
        elif piece in _BEFORE:
            power = _BEFORE[piece]
        elif piece.isspace():
            if run:
                yield run
                run = []
        else:
            _append(run, piece)
    yield run


def _power_after(tokens: Sequence[str], at: int, power: int) -> tuple[int, int]:
    while at < len(tokens) and tokens[at].isspace():
        at += 1
    if at < len(tokens) and tokens[at] in _AFTER:
        return _AFTER[tokens[at]], at + 1
    if at < len(tokens) and tokens[at] in _TO_THE:
        words = "".join(tokens[at + 1 : at + 6])
        digits = words[1:].partition("}")[0] if words[:1] == "{" else words[:1]
        if digits.lstrip("-").isdecimal():
            return int(digits), at + 1 + len(digits) + 2 * (words[:1] == "{")
    return power, at


def _raised(power: int) -> str:
    return "" if power == 1 else f"^{{{power}}}"


def _append(run: list[str], piece: str) -> None:
    """Letters that stand together are one unit."""
    if not piece.isalpha():
        run.append(_BETWEEN.get(piece, piece))
    elif run and run[-1].startswith(r"\mathrm{"):
        run[-1] = f"{run[-1][:-1]}{piece}}}"
    else:
        run.append(f"\\mathrm{{{piece}}}")
