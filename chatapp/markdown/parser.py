"""The Markdown that models write: CommonMark with tables, task lists, footnotes and formulas; no HTML, no images."""

from __future__ import annotations

from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.parser_inline import ParserInline
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned
from markdown_it.token import Token
from markdown_it.utils import EnvType

from .addresses_in_text import Addresses
from .footnotes import footnotes
from .formula_rules import formula_block, formula_inline, formulas_in_order
from .link_rules import finish_links, leads_nowhere, may_link, readable_url
from .rules.addresses import address_inline
from .rules.awaited import awaited_link
from .rules.details import details_block
from .rules.directions import directions
from .rules.flanking import scanned
from .rules.tags import tag_inline, tags_in_pairs
from .token_html import PIECES

# Real texts make less than one token of each sign; a table of empty cells would make hundreds.
_TOKENS_FOR_NOTHING = 2_000
_TOKENS_PER_SIGN = 4
_OPTIONS: dict[str, Any] = {
    "html": False,
    "linkify": True,
    "breaks": True,
    "tasklists": True,
    "maxNesting": 20,
}


class TooMuch(Exception):
    """This text would cost more than it may."""


class _Block(StateBlock):
    def push(self, ttype: str, tag: str, nesting: Any) -> Token:
        _count(self.env)
        return super().push(ttype, tag, nesting)


class _Inline(StateInline):
    def push(self, ttype: str, tag: str, nesting: Any) -> Token:
        _count(self.env)
        return super().push(ttype, tag, nesting)

    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:
        as_usual = super().scanDelims(start, canSplitWord)
        return scanned(self, as_usual, start, can_split_word=canSplitWord)


class _BlockParser(ParserBlock):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, outTokens: list[Token]) -> list[Token] | None:
        if src:
            state = _Block(src, md, env, outTokens)
            self.tokenize(state, state.line, state.lineMax)
        return outTokens


class _InlineParser(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = _Inline(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _Markdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        return may_link(url) or leads_nowhere(url)

    def normalizeLinkText(self, link: str) -> str:
        return readable_url(self.normalizeLink(link))


def _count(env: EnvType) -> None:
    env["left"] -= 1
    if env["left"] < 0:
        raise TooMuch("The text makes too many pieces.")


def environment(text: str, **more: Any) -> dict[str, Any]:
    """What one parse knows, and how many tokens it may make."""
    return {"left": _TOKENS_FOR_NOTHING + _TOKENS_PER_SIGN * len(text), **more}


@cache
def parser(*, growing: bool = False) -> MarkdownIt:
    """`growing` keeps footnotes where they were written, and links whose address is not told yet as their words, since the end of
    the text is not known."""
    md = _Markdown("commonmark")
    md.block, md.inline = _BlockParser(), _InlineParser()
    md.configure("commonmark", _OPTIONS)
    md.enable(["table", "strikethrough", "linkify"])
    md.linkify = Addresses()
    footnotes(md, at_end=not growing)
    _add_rules(md)
    if growing:
        md.inline.ruler.after("link", "awaited", awaited_link)
    for name, piece in PIECES.items():
        md.add_render_rule(name, piece)
    return md


def _add_rules(md: MarkdownIt) -> None:
    alternatives: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    md.block.ruler.before("fence", "formula_block", formula_block, alternatives)
    md.inline.ruler.before("escape", "formula", formula_inline)
    md.inline.ruler.at("linkify", address_inline)
    md.block.ruler.before("fence", "details", details_block, alternatives)
    md.inline.ruler.before("autolink", "tag", tag_inline)
    md.core.ruler.push("tags", tags_in_pairs)
    md.core.ruler.push("links", finish_links)
    md.core.ruler.push("formulas", formulas_in_order)
    md.core.ruler.push("directions", directions)
