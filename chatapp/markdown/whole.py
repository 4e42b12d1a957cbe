"""A finished text as HTML: block by block, each block one element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token
from markdown_it.utils import EnvType

from ..core.items import clean
from .footnotes import prefix
from .parser import TooMuch, environment, parser
from .sanitise import sanitised

MOST_SIGNS = 256 * 1024


def render(text: str, *, message: str = "", key: str = "") -> SafeString:
    """Markdown as safe HTML. The ids of footnotes begin with message and key."""
    return SafeString("\n".join(render_blocks(text, message=message, key=key)))


def render_blocks(text: str, *, message: str = "", key: str = "") -> list[str]:
    """The top-level blocks in their order; the footnotes are the last. Text that would cost too much is shown as it is."""
    text = clean(text)
    env = environment(text, prefix=prefix(message, key))
    md = parser()
    try:
        return html_of(md, _parsed(md, text, env), env)
    except TooMuch:
        return [as_it_is(text)]


def _parsed(md: MarkdownIt, text: str, env: EnvType) -> list[Token]:
    if len(text) > MOST_SIGNS:
        raise TooMuch("The text is too long.")
    return md.parse(text, env)


def html_of(md: MarkdownIt, tokens: Sequence[Token], env: EnvType) -> list[str]:
    made = (sanitised(md.renderer.render(group, md.options, env)).strip() for group in groups(tokens))
    return [html for html in made if html]


def groups(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The tokens of one top-level block after another."""
    depth = start = 0
    for at, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            yield tokens[start : at + 1]
            start = at + 1


def as_it_is(text: str) -> str:
    return f'<pre class="plain">{escapeHtml(clean(text))}</pre>'
