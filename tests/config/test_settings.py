"""Every value from the environment is understood, or refused in one sentence that names it."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from chatapp.config.environment import Environment, Misconfigured
from chatapp.config.logs import TextFormatter
from tests.support.readme import settings_in_readme

ROOT = Path(__file__).parents[2]


@pytest.fixture
def load(monkeypatch, tmp_path):
    """The settings module as a new process would read it, with nothing set but these."""

    def fresh(**environment):
        for name in settings_in_readme():
            monkeypatch.delenv(name, raising=False)
        for name, value in ({"DATA_DIR": str(tmp_path)} | environment).items():
            monkeypatch.setenv(name, value)
        spec = importlib.util.spec_from_file_location("chatapp.fresh_settings", ROOT / "chatapp/settings.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return fresh


def names(settings):
    return [endpoint.name for endpoint in settings.PROVIDERS]


WRONG = [
    ("ADMIN_CAN_READ_CHATS", "2"),
    ("ALLOWED_HOSTS", "https://chat.example.org"),
    ("ALLOWED_HOSTS", "chat example"),
    ("ANTHROPIC_API_KEY", "sk-ant two words"),
    ("ANTHROPIC_BASE_URL", "api.anthropic.com"),
    ("COMPATIBLE_BASE_URL", "ftp://example.org"),
    ("COMPATIBLE_BASE_URL", "http://:8000"),
    ("COMPATIBLE_BASE_URL", "http://example.org:eighty"),
    ("COMPATIBLE_BASE_URL", "http://[::1"),
    ("DATABASE_URL", "nonsense"),
    ("DATABASE_URL", "mysql://localhost/name"),
    ("DATABASE_URL", "postgres://localhost:port/name"),
    ("DATABASE_URL", "postgres://localhost"),
    ("DATABASE_URL", "sqlite://"),
    ("DATABASE_URL", "sqlite:////no/such/folder/file.sqlite3"),
    ("DATA_DIR", "/proc/no/such/folder"),
    ("DATA_DIR", __file__),
    ("DATA_DIR", "/sys"),
    ("DEBUG", "maybe"),
    ("DEEPSEEK_API_KEY", "schlüssel"),
    ("DEFAULT_MODEL", "gpt-5"),
    ("DEFAULT_MODEL", "openai:"),
    ("DEFAULT_MODEL", "openai:gpt-5"),
    ("EMAIL_FROM", "Thoughtline"),
    ("EMAIL_FROM", "chat@example.org, eve@example.org"),
    ("EMAIL_FROM", "chat@example.org\nBcc: eve@example.org"),
    ("EMAIL_FROM", "Chat\n <chat@example.org>"),
    ("EMAIL_FROM", "<chat@example.org"),
    ("EMAIL_URL", "mail.example.org"),
    ("EMAIL_URL", "http://mail.example.org"),
    ("EMAIL_URL", "smtp://"),
    ("EMAIL_URL", "smtp://:25"),
    ("EMAIL_URL", "smtp://mail.example.org:0"),
    ("EMAIL_URL", "smtp://mail.example.org:post"),
    ("EMAIL_URL", "smtp://user:se/secret@mail.example.org?tls=1"),
    ("EMAIL_URL", "smtp://user:secret#1@mail.example.org?tls=1"),
    ("EMAIL_URL", "smtp://user:secret @mail.example.org?tls=1"),
    ("EMAIL_URL", "smtp://user:secr%C3%A9t-secret@mail.example.org?tls=1"),
    ("EMAIL_URL", "smtp://user:secret%0A@mail.example.org?tls=1"),
    ("EMAIL_URL", "smtp://user@mail.example.org?tls=1"),
    ("EMAIL_URL", "smtp://:secret@mail.example.org?tls=1"),
    ("EMAIL_URL", "smtp://user:secret@mail.example.org"),
    ("EMAIL_URL", "smtp://user:secret@mail.example.org?tls=yes"),
    ("EMAIL_URL", "smtp://user:secret@mail.example.org?tls=1&tls=0"),
    ("EMAIL_URL", "smtp://user:secret@mail.example.org?tls=1&fail_silently=1"),
    ("EMAIL_URL", "smtp://user:secret@mail.example.org/folder?tls=1"),
    ("EMAIL_URL", "smtps://user:secret@mail.example.org?tls=1"),
    ("EMAIL_URL", "smtp://[::1"),
    ("LOCAL_MODEL", "smollm2"),
    ("LOG_FORMAT", "xml"),
    ("LOG_LEVEL", "loud"),
    ("MCP_SERVERS_FILE", "/no/such/file"),
    ("MCP_SERVERS_FILE", str(ROOT)),
    ("MODEL_TITLES", "sometimes"),
    ("OLLAMA_BASE_URL", "localhost:11434"),
    ("OPENAI_API_KEY", "sk-one\nsk-two"),
    ("OPENAI_BASE_URL", "https://name:secret@example.org/v1"),
    ("OPENROUTER_BASE_URL", "https://openrouter.ai/api/v1?x=1"),
    ("PUBLIC_URL", "chat.example.org"),
    ("PUBLIC_URL", "https://chat.example.org/below"),
    ("REDIS_URL", "redis://localhost"),
    ("REPLAY_TURNS", "-1"),
    ("REPLAY_TURNS", "many"),
    ("REPLAY_TURNS", "1.5"),
    ("SIGNUP_OPEN", "maybe"),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_a_wrong_value_is_refused_in_one_sentence_that_names_the_setting(load, name, value):
    with pytest.raises(Misconfigured) as refusal:
        load(**{name: value})
    sentence = str(refusal.value)
    assert name in sentence
    assert "\n" not in sentence
    assert "secret" not in sentence


def test_a_program_that_is_set_up_wrongly_ends_without_a_traceback(tmp_path):
    environment = os.environ | {"LOG_LEVEL": "loud", "DATA_DIR": str(tmp_path)}
    command = [sys.executable, "manage.py", "check", "--settings=chatapp.settings"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 1
    expected = "LOG_LEVEL is 'loud'; it must be one of info, debug, warning, error, critical.\n"
    assert (ended.stdout, ended.stderr) == ("", expected)


def test_with_nothing_set_everything_has_a_value(load):
    settings = load()
    assert settings.PROVIDERS == ()
    assert settings.INCOMPLETE_PROVIDERS == []
    assert settings.DATABASES["default"]["ENGINE"] == "chatapp.config.sqlite"
    assert settings.DATABASES["default"]["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert settings.DATABASES["default"]["OPTIONS"]["timeout"] == 2
    assert settings.DEBUG is False
    assert settings.SIGNUP_OPEN is settings.LOCAL_MODEL is settings.MODEL_TITLES is True
    assert settings.REPLAY_TURNS is None
    assert not settings.SESSION_COOKIE_SECURE


@pytest.mark.parametrize(
    ("word", "meant"), [("1", True), ("true", True), ("on", True), ("0", False), ("no", False)]
)
def test_a_switch_may_be_worded_as_people_word_it(load, word, meant):
    assert load(SIGNUP_OPEN=word).SIGNUP_OPEN is meant


def test_a_key_sets_its_provider_up_at_the_official_address(load):
    settings = load(
        OPENAI_API_KEY="sk-1", ANTHROPIC_API_KEY="sk-2", DEEPSEEK_API_KEY="sk-3", OPENROUTER_API_KEY="sk-4"
    )
    assert [(it.name, it.dialect, it.base_url, it.key) for it in settings.PROVIDERS] == [
        ("openai", "responses", "https://api.openai.com/v1", "sk-1"),
        ("anthropic", "messages", "https://api.anthropic.com", "sk-2"),
        ("deepseek", "chat", "https://api.deepseek.com", "sk-3"),
        ("openrouter", "chat", "https://openrouter.ai/api/v1", "sk-4"),
    ]


def test_a_loopback_address_is_taken_as_it_is(load):
    settings = load(OPENAI_API_KEY="sk-1", OPENAI_BASE_URL="http://127.0.0.1:9000/v1/")
    assert settings.PROVIDERS[0].base_url == "http://127.0.0.1:9000/v1"


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:11434/", "http://localhost:11434/v1"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
    ],
)
def test_ollama_needs_only_its_address_with_or_without_a_path(load, given, used):
    settings = load(OLLAMA_BASE_URL=given)
    assert [(it.name, it.base_url, it.key) for it in settings.PROVIDERS] == [("ollama", used, "")]


def test_a_compatible_server_needs_no_key(load):
    assert names(load(COMPATIBLE_BASE_URL="http://10.0.0.5:8000/v1")) == ["compatible"]


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "OpenAI is left out: OPENAI_API_KEY is not set."),
        ({"COMPATIBLE_API_KEY": "sk-1"}, "Compatible server is left out: COMPATIBLE_BASE_URL is not set."),
    ],
)
def test_a_provider_set_up_by_half_is_left_out_and_told(load, environment, sentence):
    settings = load(**environment)
    assert settings.PROVIDERS == ()
    assert sentence == settings.INCOMPLETE_PROVIDERS[0]


def test_a_key_is_not_shown_with_its_endpoint(load):
    assert "sk-canary" not in repr(load(OPENAI_API_KEY="sk-canary").PROVIDERS)


def test_only_names_of_keys_can_be_read_as_keys(load):
    settings = load(OPENAI_API_KEY="sk-1", SECRET_KEY="do-not-tell" * 5)
    assert settings.provider_key("OPENAI_API_KEY") == "sk-1"
    for name in ("SECRET_KEY", "PATH", "openai_api_key", "_API_KEY", "DATABASE_URL", "X_API_KEY\n"):
        with pytest.raises(ValueError, match="no name of a key"):
            settings.provider_key(name)


def test_postgresql_gets_a_pool_and_no_frozen_writers(load):
    pytest.importorskip("psycopg_pool")
    settings = load(DATABASE_URL="postgres://user:secret@db/name?sslmode=require")
    options = settings.DATABASES["default"]["OPTIONS"]
    assert options["pool"]["max_size"] == 10
    assert options["pool"]["timeout"] < 2
    assert options["options"] == "-c idle_in_transaction_session_timeout=5000 -c lock_timeout=2000"
    assert (options["connect_timeout"], options["tcp_user_timeout"], options["keepalives_idle"]) == (
        3,
        5000,
        5,
    )
    assert options["sslmode"] == "require"


def test_many_processes_need_one_secret_key(load):
    pytest.importorskip("procrastinate")
    urls = {"DATABASE_URL": "postgres://user:secret@db/name", "REDIS_URL": "redis://cache"}
    with pytest.raises(Misconfigured, match="SECRET_KEY"):
        load(**urls)
    settings = load(**urls, SECRET_KEY="as long as it has to be, and told to nobody at all")
    assert settings.REDIS_URL == "redis://cache"
    assert "procrastinate.contrib.django" in settings.INSTALLED_APPS


def test_the_secret_key_is_made_once_and_for_its_owner_alone(load, tmp_path):
    first = load().SECRET_KEY
    assert first == load().SECRET_KEY
    assert len(first) >= 50
    assert (tmp_path / "secret-key").stat().st_mode & 0o777 == 0o600
    assert load(SECRET_KEY="given").SECRET_KEY == "given"


def test_a_damaged_secret_key_is_told(load, tmp_path):
    (tmp_path / "secret-key").write_text("")
    with pytest.raises(Misconfigured, match="damaged"):
        load()


def test_a_secret_key_that_cannot_be_read_is_told(load, tmp_path):
    (tmp_path / "secret-key").mkdir()
    with pytest.raises(Misconfigured, match="secret key"):
        load()


def test_a_folder_that_is_made_is_its_owners_alone(load, tmp_path):
    load(DATA_DIR=str(tmp_path / "new"))
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("model", "environment"),
    [("demo:thinker", {}), ("local:smollm2", {}), ("openai:gpt-5", {"OPENAI_API_KEY": "sk-1"})],
)
def test_a_default_model_needs_its_provider(load, model, environment):
    settings = load(DEFAULT_MODEL=model, **environment)
    assert model == settings.DEFAULT_MODEL


def test_without_the_local_model_it_cannot_be_the_default(load):
    with pytest.raises(Misconfigured, match="DEFAULT_MODEL"):
        load(DEFAULT_MODEL="local:smollm2", LOCAL_MODEL="0")


def test_an_https_address_makes_everything_strict(load):
    settings = load(PUBLIC_URL="https://chat.example.org:8443/")
    assert settings.PUBLIC_URL == "https://chat.example.org:8443"
    assert "chat.example.org" in settings.ALLOWED_HOSTS
    assert settings.CSRF_TRUSTED_ORIGINS == ["https://chat.example.org:8443"]
    assert settings.SECURE_SSL_REDIRECT and settings.SECURE_HSTS_SECONDS
    assert settings.SESSION_COOKIE_SECURE and settings.CSRF_COOKIE_SECURE


def test_debug_pages_are_never_public(load):
    with pytest.raises(Misconfigured, match="DEBUG"):
        load(DEBUG="1", PUBLIC_URL="https://chat.example.org")


def test_without_an_address_mails_appear_on_the_terminal(load):
    settings = load()
    assert settings.EMAIL_BACKEND.endswith("console.EmailBackend")
    assert settings.DEFAULT_FROM_EMAIL == "Thoughtline <thoughtline@localhost>"


@pytest.mark.parametrize(
    ("public", "host"),
    [
        ("https://chat.example.org:8443", "chat.example.org"),
        ("http://192.168.1.5:8000", "localhost"),
        ("http://[fd00::1]", "localhost"),
    ],
)
def test_mails_come_from_the_host_that_people_know(load, public, host):
    settings = load(PUBLIC_URL=public)
    assert f"Thoughtline <thoughtline@{host}>" == settings.DEFAULT_FROM_EMAIL


def test_the_password_of_the_mail_server_is_in_no_log_line(load):
    settings = load(EMAIL_URL="smtps://me:canary-secret@mail.example.org")
    formatter = TextFormatter(settings.LOGGING["formatters"]["chosen"]["secrets"])
    line = logging.LogRecord("x", logging.ERROR, "", 0, "refused: canary-secret", None, None)
    assert "canary" not in formatter.format(line)


def test_with_mails_and_any_host_name_the_public_address_must_be_said(load):
    anywhere = {"EMAIL_URL": "smtp://mail", "ALLOWED_HOSTS": "*"}
    with pytest.raises(Misconfigured, match="set PUBLIC_URL"):
        load(**anywhere)
    assert load(**anywhere, PUBLIC_URL="https://chat.example.org").EMAIL_HOST == "mail"


def test_the_framework_finds_nothing_to_warn_of_behind_https(tmp_path):
    environment = os.environ | {
        "PUBLIC_URL": "https://chat.example.org",
        "DATA_DIR": str(tmp_path),
        "SECRET_KEY": "",
    }
    command = [
        sys.executable,
        "manage.py",
        "check",
        "--deploy",
        "--fail-level=WARNING",
        "--settings=chatapp.settings",
    ]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "no issues (0 silenced)" in ended.stdout


def test_the_readme_lists_every_setting_and_no_other(load):
    assert settings_in_readme() == load().environment.asked


def test_nothing_but_the_settings_reads_the_environment():
    readers = {"chatapp/settings.py"}
    # These hand the environment on to Django or to a child process; they read no setting from it.
    readers |= {"chatapp/asgi.py", "chatapp/__main__.py", "chatapp/management/backup/moving.py"}
    found = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "chatapp").rglob("*.py")
        if re.search(r"os\.environ|os\.getenv|environb", file.read_text())
    }
    assert found <= readers


def test_blank_values_count_as_not_set():
    environment = Environment({"LOG_LEVEL": "  ", "REPLAY_TURNS": ""})
    assert environment.word("LOG_LEVEL", ("info", "debug")) == "info"
    assert environment.whole("REPLAY_TURNS") is None
