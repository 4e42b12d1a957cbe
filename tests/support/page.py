"""Looks into a page as a browser would."""

from __future__ import annotations

from collections.abc import Iterator

from django.test.html import Element, parse_html


class Page:
    def __init__(self, response) -> None:
        self.root = parse_html(response.text)

    def all(self, tag: str, **wanted: str) -> list[Element]:
        """The elements that have these attributes; `data_x` is meant for data-x."""
        names = {name.replace("_", "-"): value for name, value in wanted.items()}
        return [it for it in self._elements() if it.name == tag and names.items() <= _attributes(it).items()]

    def _elements(self) -> list[Element]:
        return [self.root, *_below(self.root)]

    def having(self, name: str) -> list[Element]:
        return [it for it in self._elements() if name in _attributes(it)]

    def one(self, tag: str, **wanted: str) -> Element:
        (found,) = self.all(tag, **wanted)
        return found

    def value(self, name: str) -> str:
        """Of a hidden field of the composer."""
        return attribute(self.one("input", name=name, type="hidden"), "value")

    def options(self, name: str) -> list[str]:
        return [attribute(it, "value") for it in _below(self.one("select", name=name)) if it.name == "option"]

    def chosen(self, name: str) -> str:
        options = [it for it in _below(self.one("select", name=name)) if it.name == "option"]
        return next((attribute(it, "value") for it in options if "selected" in _attributes(it)), "")

    def buttons(self) -> list[str]:
        return [words(it) for it in self._elements() if it.name == "button"]


def attribute(element: Element, name: str) -> str:
    return _attributes(element).get(name, "")


def words(element: Element) -> str:
    return " ".join("".join(_texts(element)).split())


def _attributes(element: Element) -> dict[str, str]:
    return {name: value or "" for name, value in element.attributes}


def _below(element: Element) -> Iterator[Element]:
    for child in element.children:
        if isinstance(child, Element):
            yield child
            yield from _below(child)


def _texts(element: Element) -> Iterator[str]:
    for child in element.children:
        if isinstance(child, Element):
            yield from _texts(child)
        else:
            yield child
