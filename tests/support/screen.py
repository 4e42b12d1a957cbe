"""A page without a browser: a tree of elements, and the operations of `static/js/live.js` done to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html.parser import HTMLParser
from typing import Any

VOID = {"br", "hr", "img", "input", "link", "meta"}
# In these the end of a growing block is looked for.
_INSIDE = "p ul ol li blockquote div table thead tbody tr td th pre code section h1 h2 h3 h4 h5 h6"
INSIDE = frozenset(_INSIDE.split())


class Element:
    def __init__(self, tag: str, attributes: dict[str, str] | None = None) -> None:
        self.tag, self.attributes = tag, dict(attributes or {})
        self.children: list[Element | str] = []
        self.parent: Element | None = None

    @property
    def id(self) -> str:
        return self.attributes.get("id", "")

    @property
    def elements(self) -> list[Element]:
        return [child for child in self.children if isinstance(child, Element)]

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def below(self) -> Iterator[Element]:
        for child in self.elements:
            yield child
            yield from child.below()

    def find(self, name: str) -> Element | None:
        return next((each for each in self.below() if each.id == name), None)

    def all(self, name: str, value: str | None = None) -> list[Element]:
        """Those that have this attribute."""
        return [
            each
            for each in self.below()
            if value in (None, each.attributes.get(name)) and name in each.attributes
        ]

    def insert(self, place: int, child: Element) -> None:
        child.remove()
        self.children.insert(place, child)
        child.parent = self

    def append(self, child: Element) -> None:
        self.insert(len(self.children), child)

    def remove(self) -> None:
        if self.parent:
            del self.parent.children[self.place]
            self.parent = None

    @property
    def place(self) -> int:
        """Among all children of its parent."""
        assert self.parent
        return next(n for n, child in enumerate(self.parent.children) if child is self)

    def replace_with(self, fresh: Element) -> None:
        assert self.parent
        parent, place = self.parent, self.place
        self.remove()
        parent.insert(place, fresh)

    def equals(self, other: Element) -> bool:
        """As `isEqualNode`."""
        return self.shape() == other.shape()

    def shape(self) -> tuple[Any, ...]:
        return self.tag, tuple(sorted(self.attributes.items())), tuple(_merged(self.children))

    def lines(self, depth: int = 0, *, kept: bool = False) -> Iterator[str]:
        """What a reader can tell apart, a line for each element and each text: without the white space between elements."""
        kept = kept or self.tag in ("pre", "textarea")
        marks = "".join(f" {name}={value!r}" for name, value in sorted(self.attributes.items()))
        yield f"{' ' * depth}<{self.tag}{marks}>"
        for part in _joined(self.children):
            if isinstance(part, Element):
                yield from part.lines(depth + 1, kept=kept)
            elif kept or part.strip():
                yield f"{' ' * depth} {part!r}"


def _joined(children: list[Element | str]) -> Iterator[Element | str]:
    text = ""
    for child in children:
        if isinstance(child, str):
            text += child
            continue
        if text:
            yield text
        text = ""
        yield child
    if text:
        yield text


def _merged(children: list[Element | str]) -> Iterator[Any]:
    for child in _joined(children):
        yield child if isinstance(child, str) else child.shape()


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.at = Element("root")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        child = Element(tag, {name: value or "" for name, value in attrs})
        self.at.append(child)
        if tag not in VOID:
            self.at = child

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.at.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.at.tag == tag, f"</{tag}> closes <{self.at.tag}>"
        assert self.at.parent
        self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        self.at.children.append(data)


def parsed(html: str) -> Element:
    """The fragment, inside an element of no meaning."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    assert parser.at is parser.root, f"<{parser.at.tag}> stays open"
    return parser.root


def _first(html: str) -> Element:
    return parsed(html).elements[0]


class Screen:
    """One page that is open. `said` is what a screen reader was told, `operations` counts what was done."""

    def __init__(self, html: str) -> None:
        self.root = parsed(html)
        self.said: list[str] = []
        self.frames = 0
        self._letters: dict[int, tuple[Element, Element]] = {}
        self._do: dict[str, Callable[..., None]] = {
            name: getattr(self, f"_{name}")
            for name in (
                "add",
                "shell",
                "put",
                "row",
                "text",
                "piece",
                "blocks",
                "keep",
                "gone",
                "say",
                "changed",
                "state",
            )
        }

    def find(self, name: str) -> Element | None:
        return self.root.find(name)

    def one(self, name: str) -> Element:
        found = self.find(name)
        assert found, f"#{name} is not there"
        return found

    @property
    def thread(self) -> Element:
        return self.one("thread")

    @property
    def articles(self) -> list[Element]:
        return [each for each in self.root.below() if each.tag == "article"]

    def do(self, operations: list[list[Any]], after_each: Callable[[], None] = lambda: None) -> None:
        self.frames += 1
        for name, *arguments in operations:
            self._do[name](*arguments)
            after_each()

    # The operations, in the order of chatapp/pages/operations.py

    def _add(self, container: str, html: str) -> None:
        fresh = _first(html)
        if old := self.find(fresh.id):
            _morph(old, fresh)
        elif place := self.find(container):
            place.append(fresh)

    def _shell(self, html: str) -> None:
        fresh = _first(html)
        if old := self.find(fresh.id):
            _morph(old, fresh)

    def _put(self, html: str) -> None:
        fresh = _first(html)
        old = self.find(fresh.id)
        if old and not old.equals(fresh):
            old.replace_with(fresh)

    def _row(self, html: str, moved: bool) -> None:
        self._put(html)

    def _text(self, name: str, more: str) -> None:
        if body := self.find(name):
            raw = self._raw(body)
            raw.children = [raw.text + more]

    def _blocks(
        self,
        name: str,
        changes: list[list[Any]],
        total: int,
        growing: str,
        rest: str,
        last: bool = False,
        cut: Sequence[Any] = (),
    ) -> None:
        body = self.find(name)
        if body is None:
            return
        for child in body.elements:
            if "data-growing" in child.attributes:
                child.remove()
        for place, html in changes:
            fresh = _first(html)
            if place >= len(body.elements):
                body.append(fresh)
            elif not body.elements[place].equals(fresh):
                body.elements[place].replace_with(fresh)
        for child in body.elements[total:]:
            child.remove()
        for child in parsed(growing).elements:
            child.attributes["data-growing"] = ""
            body.append(child)
        if rest:
            self._raw(body).children = [rest]

    def _piece(self, name: str, source: str, html: str) -> None:
        """Letters are not shaped here."""

    def _keep(self, name: str, ids: list[str]) -> None:
        container = self.find(name)
        if container is None:
            return
        for child in container.elements:
            if child.id not in ids:
                child.remove()
        kept = {child.id: child for child in container.elements}
        for child in [kept[each] for each in ids if each in kept]:
            container.append(child)

    def _gone(self, name: str) -> None:
        if found := self.find(name):
            found.remove()

    def _expect(self, name: str) -> None:
        """A test sees what comes."""

    def _say(self, words: str) -> None:
        self.said.append(words)

    def _changed(self, what: str) -> None:
        """Another page asks what is new there."""

    def _state(self, name: str, value: str) -> None:
        if value:
            self.thread.attributes[f"data-{name}"] = value
        else:
            self.thread.attributes.pop(f"data-{name}", None)

    def _raw(self, body: Element) -> Element:
        """The letters at the end of what grows: inside its last paragraph, cell or line of code."""
        _, known = self._letters.get(id(body), (None, None))
        if known is not None and any(each is known for each in body.below()):
            return known
        place = next((child for child in reversed(body.elements) if "data-growing" in child.attributes), None)
        if place is None:
            place = Element("span" if body.tag == "pre" else "p", {"data-growing": ""})
            body.append(place)
        marked = [place, *place.below()]
        grows = next((each for each in marked if "data-grows" in each.attributes), None)
        if grows is not None:
            place = grows
        else:
            while place.elements and place.elements[-1].tag in INSIDE:
                place = place.elements[-1]
        raw = Element("span", {"class": "raw"})
        place.append(raw)
        self._letters[id(body)] = (body, raw)
        return raw


def _morph(old: Element, fresh: Element) -> None:
    """The attributes and children of `fresh`; a body keeps what it holds."""
    old.attributes = dict(fresh.attributes)
    if "data-body" in old.attributes:
        return
    before, left = -1, old.elements
    for child in fresh.elements:
        twin = next((one for one in left if _twins(one, child)), None)
        left = [one for one in left if one is not twin]
        if twin is None:
            old.insert(before + 1, child)
        elif twin.tag == child.tag and _has_body(twin):
            _morph(twin, child)
        elif not twin.equals(child):
            twin.replace_with(child)
        here = child if child.parent is old else twin
        assert here
        before = here.place
    for one in left:
        one.remove()


def _twins(one: Element, child: Element) -> bool:
    return one.id == child.id if child.id else not one.id and one.tag == child.tag


def _has_body(element: Element) -> bool:
    return "data-body" in element.attributes or bool(element.all("data-body"))
