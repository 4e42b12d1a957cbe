"""Elements of which pages have many: their template is drawn once for each of its looks, with holes where names and words go. To draw
one takes a hundred times as long as to fill its holes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from html import escape
from typing import Any
from uuid import UUID, uuid5

from django.template.loader import get_template
from django.utils.safestring import SafeString

# A thing of more words is drawn as it is: its shape hardly comes again. And so many shapes of one template are kept.
MOST_WORDS, MOST_SHAPES = 120, 256
_HOLES = UUID("6f2b6d0c-8f2e-4a0e-9d57-3c1d0a51b7e4")


def hole(name: str) -> str:
    """What stands in its place while the template is drawn. It looks like an id, since an address is made of nothing else."""
    return str(uuid5(_HOLES, name))


class Stencil:
    """`look` is what the template decides by; there are few of them. `words` only stand in it: it may ask whether there is such a word,
    and nothing else. Names are as the template says them: `item.id`."""

    def __init__(self, template: str) -> None:
        self._template = template
        self._drawn: dict[Hashable, str] = {}

    def fill(self, look: Mapping[str, Hashable], words: Mapping[str, Any]) -> SafeString:
        there = {name: _escaped(word) for name, word in words.items() if word}
        missing = {name: word for name, word in words.items() if not word}
        key = (*look.values(), *there, None, *missing.items())
        drawn = self._drawn.get(key)
        if drawn is None:
            drawn = self._drawn[key] = self._draw({**look, **missing}, there)
        return SafeString(drawn % there)

    def fill_with(self, name: str, thing: Any) -> SafeString:
        """By this name the template knows a thing that is made of words alone, in dataclasses and tuples. Its shape is its look: which
        words are there, and how many of each."""
        shape: list[Hashable] = []
        words: dict[str, str] = {}
        _take_apart(thing, name, shape, words)
        if len(words) > MOST_WORDS:
            return SafeString(get_template(self._template).render({name: thing}))
        drawn = self._drawn.get(key := tuple(shape))
        if drawn is None:
            if len(self._drawn) >= MOST_SHAPES:
                self._drawn.clear()
            drawn = self._drawn[key] = self._cut({name: _with_holes(thing, name)}, words)
        return SafeString(drawn % words)

    def _draw(self, said: Mapping[str, Any], there: Iterable[str]) -> str:
        context, unsaid = _by_their_dots({**said, **{name: hole(name) for name in there}})
        drawn = self._cut(context, there)
        if unsaid:
            raise Unsaid(self._template, unsaid)
        return drawn

    def _cut(self, context: dict[str, Any], there: Iterable[str]) -> str:
        """Filled by the operator that knows names."""
        drawn = get_template(self._template).render(context).replace("%", "%%")
        for name in there:
            drawn = drawn.replace(hole(name), f"%({name})s")
        return drawn


def _take_apart(thing: Any, name: str, shape: list[Hashable], words: dict[str, str]) -> None:
    """Adds its shape, and its words by their names."""
    match thing:
        case str():
            shape.append(bool(thing))
            if thing:
                words[name] = _escaped(thing)
        case tuple():
            shape.append(len(thing))
            for n, each in enumerate(thing):
                _take_apart(each, f"{name}.{n}", shape, words)
        case None:
            shape.append(None)
        case _:
            shape.append(type(thing).__name__)
            for part in thing.__dataclass_fields__:
                _take_apart(getattr(thing, part), f"{name}.{part}", shape, words)


def _with_holes(thing: Any, name: str) -> Any:
    """The same thing with holes in place of its words."""
    match thing:
        case str():
            return hole(name) if thing else thing
        case tuple():
            return tuple(_with_holes(each, f"{name}.{n}") for n, each in enumerate(thing))
        case None:
            return None
        case _:
            parts = thing.__dataclass_fields__
            return replace(
                thing, **{part: _with_holes(getattr(thing, part), f"{name}.{part}") for part in parts}
            )


def _escaped(word: Any) -> str:
    """As a template has it."""
    return word if isinstance(word, SafeString) else escape(str(word))


class Unsaid(Exception):
    """A template asks for names that its stencil was not given."""


class _Said(dict[str, Any]):
    """A template hides what it misses, so it is noted."""

    def __init__(self, unsaid: list[str]) -> None:
        super().__init__()
        self.unsaid = unsaid

    def __missing__(self, name: str) -> Any:
        self.unsaid.append(name)
        raise KeyError(name)


def _by_their_dots(flat: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """`{"item.id": 1}` as `{"item": {"id": 1}}`; and what will be missed in it."""
    made: dict[str, Any] = {}
    unsaid: list[str] = []
    for name, value in flat.items():
        *path, last = name.split(".")
        place = made
        for part in path:
            place = place.setdefault(part, _Said(unsaid))
        place[last] = value
    return made, unsaid
