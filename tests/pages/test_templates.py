"""Templates are broken into lines for whoever reads them; what is sent is as if they were not."""

from __future__ import annotations

import pytest
from django.template.loader import get_template, render_to_string

from chatapp.pages.templates import as_sent


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("<div>\n  <p>Words</p>\n  <p>\n    More\n  </p>\n</div>\n", "<div><p>Words</p><p>More</p></div>"),
        ("<p>\n  Words that\n  run  on\n</p>", "<p>Words that run  on</p>"),
        ("<p>\n  by\n  <b>alice</b>,\n  on\n  {{ day }}\n</p>", "<p>by <b>alice</b>, on {{ day }}</p>"),
        ("<b>one</b>\n<b>two</b>", "<b>one</b> <b>two</b>"),
        ("<button>\n  {% icon 'x' %}Go\n</button>\n<button>", "<button>{% icon 'x' %}Go</button><button>"),
        (
            "{% if a %}\n  <p>A</p>\n{% endif %}\n{% if b %}b{% endif %}",
            "{% if a %}<p>A</p>{% endif %}{% if b %}b{% endif %}",
        ),
        ("One {% if a %}more\n  word{% endif %}\nhere", "One {% if a %}more word{% endif %} here"),
        ("<p>a</p>\n{# said once #}\n<p>b</p>", "<p>a</p>{# said once #}<p>b</p>"),
    ],
)
def test_a_break_is_a_blank_in_running_text_and_nothing_beside_a_block(written, sent):
    assert as_sent(written) == sent


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('<a\n  class="b"\n  href="c"\n>d</a>', '<a class="b" href="c">d</a>'),
        ("<a {% if b %}c{% endif %}>", "<a{% if b %} c{% endif %}>"),
        (
            '<a\n  {% if b %}\n    c="{{ d }}"\n    e\n  {% endif %}\n  f\n>',
            '<a{% if b %} c="{{ d }}" e{% endif %} f>',
        ),
        ('<a title="b > {% url "c" %}\n  {{ d }}" e>', '<a title="b > {% url "c" %} {{ d }}" e>'),
        ('<rect x="1" {% if a %}class="b"{% endif %} />', '<rect x="1"{% if a %} class="b"{% endif %}/>'),
    ],
)
def test_in_a_tag_one_blank_stands_before_each_attribute_that_is_there(written, sent):
    assert as_sent(written) == sent


@pytest.mark.parametrize("name", ["pre", "textarea"])
def test_what_is_written_verbatim_stays(name):
    inside = "\n  {{ text }}\n\n    {% if more %}\n  more\n{% endif %}"
    assert (
        as_sent(f"<p>\n<{name}\n  rows>{inside}</{name}>\n</p>") == f"<p><{name} rows>{inside}</{name}></p>"
    )


def test_pages_are_sent_so():
    assert render_to_string("404.html").count("\n") == 0


def test_mails_and_the_pages_of_django_are_left_as_they_are():
    assert "\n\n" in get_template("accounts/reset_mail.txt").template.source
    assert "\n\n" in get_template("admin/base.html").template.source
