"""Names that only look like other names, and letters that are drawn like those of ours."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from unicodedata import category, combining, decimal, normalize

_TOGETHER = (
    {"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"},
    {"LATIN", "CJK", "HANGUL"},
    {"LATIN", "CJK", "BOPOMOFO"},
)
# A letter, and the one that it is taken for.
_PAIRS = (
    # Latin beyond what loses its marks
    "ıi ɩi ɪi ɨi ɑa ᴀa ʙb ƀb ɓb ƅb ᴄc ɔc ᴅd đd ɖd ɗd ðd ᴇe ɛe əe ƒf ɡg ɢg ʜh ħh ɦh ᴊj ȷj ɉj ᴋk ƙk ʟl "
    "łl ƚl ɫl ǀl ᴍm ɴn ŋn ƞn ɲn ᴏo øo ɵo ᴘp þp ƿp ƥp "
    "ʀr ɾr ɽr ꜱs ʂs ᴛt ŧt ƭt ᴜu ʉu ᴠv ʋv ʌv ᴡw ɯw ʏy ƴy ᴢz ƶz ʐz ƁB ƇC ÐD ĐD ƊD ĦH ƗI ŁL ØO ƟO ƤP ŦT "
    "ƬT ƲV ƳY ƵZ "
    # Cyrillic
    "аa вb сc ԁd еe єe һh нh іi кk ӏl мm пn оo өo рp ԛq гr ѕs тt үy уy ѵv ԝw шw щw хx ьb ъb з3 б6 ч4 "
    "АA ВB СC ЕE НH ІI ЈJ јj КK Ӏl МM ОO ӨO РP ԚQ ЅS ТT ҮY УY ѴV ԜW ХX "
    # Greek
    "αa βb γy εe ηn ιi κk μu νv οo ρp σo τt υu χx ωw ϲc ϳj ϱp "
    "ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ϹC ͿJ "
    # Armenian, Coptic, Georgian
    "օo հh ոn սu ցg զq յj աw քp ՕO ՍU ՏS ԼL Հh ⲟo ⲣp ⲥc ⲁa ⲓi ⲧt ⲩy ⲭx ႽS ძd "
    # Cherokee and Lisu, whose letters are capitals
    "ᎪA ᏴB ᏟC ᎠD ᎬE ᏀG ᎻH Ꭵi Ꮖi ᎫJ ᏦK ᏞL ᎷM ᏢP ᎡR ᏚS ᎢT ᏙV ᎳW ᏃZ ᎩY ᎽY ᎾO "
    "ꓮA ꓐB ꓚC ꓓD ꓰE ꓝF ꓖG ꓧH ꓲI ꓙJ ꓗK ꓡL ꓟM ꓠN ꓳO ꓑP ꓣR ꓢS ꓔT ꓴU ꓦV ꓪW ꓫX ꓬY ꓜZ "
    # Rings and strokes of others
    "סo ןl וl هo اl ഠo ଠo ဝo ߊl "
)
_DRAWN_ALIKE = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
# What many typefaces draw alike, as one of them.
_ALIKE = (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("i", "l"), ("|", "l"), ("5", "s"))
_BETWEEN = re.compile(r"[\s._:/@+-]+")


@lru_cache(maxsize=16_384)
def outline(name: str) -> str:
    """The same for names that can be taken for one another."""
    text = _BETWEEN.sub("", _in_plain_letters(name))
    for drawn, alike in _ALIKE:
        text = text.replace(drawn, alike)
    return text


def is_mixed(text: str) -> bool:
    """Whether its letters come from alphabets that nobody writes together: one of them stands for a letter of another."""
    found = {_alphabet(sign) for sign in text if category(sign)[0] == "L"}
    return len(found) > 1 and not any(found <= together for together in _TOGETHER)


def _in_plain_letters(text: str) -> str:
    """As whoever reads only our letters and digits would take it: without marks, and each letter as the one that it is drawn like."""
    # Sign by sign: a whole text would have its marks sorted first, which takes the square of their number.
    apart = (part for sign in text for part in normalize("NFKD", sign))
    bare = "".join(_digit(part) for part in apart if not combining(part))
    return bare.translate(_DRAWN_ALIKE).casefold().translate(_DRAWN_ALIKE)


def _alphabet(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _digit(sign: str) -> str:
    number = decimal(sign, None)
    return sign if number is None else str(number)
