"""What is pasted into other programs, with the key, the address and a model filled in: quoted for where it goes, and coloured."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString

from ...markdown.code.html import with_heads

Run = str | SafeString


@dataclass(frozen=True, slots=True)
class Filled:
    """What is filled in. `site` and `base`: the address, without and with `/v1`."""

    site: str
    base: str
    key: str
    model: str


@dataclass(frozen=True, slots=True)
class Program:
    """One of those that are offered, with what is pasted into it."""

    name: str
    label: str
    wells: tuple[SafeString, ...]
    note: SafeString


def programs(filled: Filled) -> tuple[Program, ...]:
    return tuple(make(filled) for make in (_curl, _python, _codex, _claude, _editor))


def _curl(filled: Filled) -> Program:
    asked = json.dumps({"model": filled.model, "input": "Say hello."})
    well = _well(
        "sh",
        (_bold("curl"), " ", _mark(_in_shell(f"{filled.base}/responses")), " \\"),
        ("  -H ", _text('"Authorization: Bearer ', _mark(filled.key), '"'), " \\"),
        ("  -H ", _text('"Content-Type: application/json"'), " \\"),
        ("  -d ", _text(shlex.quote(asked))),
    )
    ways = [_code(way) for way in ("/responses", "/chat/completions", "/messages")]
    return Program("curl", "curl", (well,), format_html("{}, {} and {} all work.", *ways))


def _python(filled: Filled) -> Program:
    base, key = _quoted(filled.base), _quoted(filled.key)
    model, hello = _text(json.dumps(filled.model)), _text('"Say hello."')
    well = _well(
        "python",
        (_word("from"), " openai ", _word("import"), " OpenAI"),
        (),
        ("client = ", _bold("OpenAI"), "(base_url=", base, ", api_key=", key, ")"),
        ("answer = client.responses.", _bold("create"), "(model=", model, ", input=", hello, ")"),
        (_bold("print"), "(answer.output_text)"),
    )
    packages = [_code(name) for name in ("openai", "anthropic")]
    note = format_html("The {} and the {} packages both work, with their stream helpers.", *packages)
    return Program("python", "Python", (well,), note)


def _codex(filled: Filled) -> Program:
    settings = _well(
        "toml",
        (_aside("# ~/.codex/config.toml"),),
        ("model = ", _text(json.dumps(filled.model))),
        ("model_provider = ", _text('"thoughtline"')),
        (),
        ("[", _bold("model_providers.thoughtline"), "]"),
        ("name = ", _text('"Thoughtline"')),
        ("base_url = ", _quoted(filled.base)),
        ("env_key = ", _text('"THOUGHTLINE_API_KEY"')),
        ("wire_api = ", _text('"responses"')),
    )
    terminal = _well(
        "sh",
        _export("THOUGHTLINE_API_KEY", _mark(filled.key)),
        (_bold("codex"), " ", _text('"Why is the invoice test flaky?"')),
    )
    note = SafeString("The first goes into its settings file, the second into the terminal.")
    return Program("codex", "Codex", (settings, terminal), note)


def _claude(filled: Filled) -> Program:
    well = _well(
        "sh",
        _export("ANTHROPIC_BASE_URL", _mark(_in_shell(filled.site))),
        _export("ANTHROPIC_AUTH_TOKEN", _mark(filled.key)),
        _export("ANTHROPIC_MODEL", _in_shell(filled.model)),
        (_bold("claude"),),
    )
    note = SafeString("To keep the three settings, put them into your shell’s profile.")
    return Program("claude", "Claude Code", (well,), note)


def _editor(filled: Filled) -> Program:
    fields = {
        "provider": _text('"openai-compatible"'),
        "apiBase": _quoted(filled.base),
        "apiKey": _quoted(filled.key),
        "model": _text(json.dumps(filled.model)),
    }
    last = "model"
    lines = [
        ("  ", _bold(json.dumps(name)), ": ", value, "" if name == last else ",")
        for name, value in fields.items()
    ]
    note = SafeString("The names of these fields differ from editor to editor; the values do not.")
    return Program("editor", "An editor", (_well("json", ("{",), *lines, ("}",)),), note)


def _export(name: str, value: Run) -> tuple[Run, ...]:
    return (_word("export"), f" {name}=", _text(value))


def _well(language: str, *lines: tuple[Run, ...]) -> SafeString:
    code = "\n".join("".join(map(conditional_escape, line)) for line in lines)
    made = f'<div class="code" data-lang="{language}"><pre tabindex="0"><code>{code}</code></pre></div>'
    # Every run was escaped above.
    return SafeString(with_heads(made))


def _in_shell(value: str) -> str:
    return shlex.quote(value)


def _quoted(value: str) -> SafeString:
    """As JSON, TOML and Python write a text, the value itself marked."""
    return _text('"', _mark(json.dumps(value)[1:-1]), '"')


def _spans(kind: str) -> Callable[..., SafeString]:
    def span(*runs: Run) -> SafeString:
        inside = SafeString("".join(map(conditional_escape, runs)))
        return format_html('<span class="{}">{}</span>', kind, inside)

    return span


# As the style sheet of code names them: a keyword, a string, a comment, a name.
_word, _text, _aside, _bold = _spans("k"), _spans("s"), _spans("c"), _spans("n")


def _mark(value: str) -> SafeString:
    return format_html("<mark>{}</mark>", value)


def _code(value: str) -> SafeString:
    return format_html("<code>{}</code>", value)
