"""Small pieces that many templates share."""

from __future__ import annotations

from uuid import uuid4

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

from ..markdown import render_plain, render_well

register = template.Library()


@register.simple_tag
def icon(name: str) -> SafeString:
    """A picture of icons.svg; it always stands beside words that say the same."""
    sheet = static("icons.svg")
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>', sheet, name)


@register.simple_tag
def new_key() -> str:
    """For the hidden field that makes a form count once, however often it is sent."""
    return str(uuid4())


@register.simple_tag
def well() -> SafeString:
    """An empty fence, for a page to fill while one is written."""
    return render_well()


@register.filter
def counted(number: int) -> str:
    """`9,318`."""
    return f"{number:,}"


@register.filter
def plain(text: str) -> SafeString:
    """What a person wrote: their lines as they are, addresses as links."""
    return render_plain(text)
