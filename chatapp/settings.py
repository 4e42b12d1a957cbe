"""Every setting. The only reader of the environment: what can be set from outside is listed in the README."""

from __future__ import annotations

import importlib.util
import logging
import os
from urllib.parse import urlsplit

from .config import mermaid, places, secret_key
from .config.databases import database
from .config.environment import KEY_NAME, Environment, Misconfigured
from .config.mail_server import mail_server, sender
from .core.model_name import ModelName
from .providers.base import Endpoint
from .tools.mcp.file import commands_in, secrets_of

environment = Environment(os.environ)


def provider_key(name: str) -> str:
    """The key in the variable `name`, which must end with _API_KEY: no other secret can be read this way."""
    return environment.key(name)


# What the product is asked to do

DATA_DIR = environment.folder(
    "DATA_DIR", environment.state_folder("thoughtline") if places.FROM_WHEEL else places.BASE / "var"
)
SIGNUP_OPEN = environment.flag("SIGNUP_OPEN", True)
ADMIN_CAN_READ_CHATS = environment.flag("ADMIN_CAN_READ_CHATS", True)
LOCAL_MODEL = environment.flag("LOCAL_MODEL", True)
MODEL_TITLES = environment.flag("MODEL_TITLES", True)
REPLAY_TURNS = environment.whole("REPLAY_TURNS")
REASONING_CACHE_HOURS = environment.whole_or("REASONING_CACHE_HOURS", 168)
MCP_SERVERS_FILE = environment.file("MCP_SERVERS_FILE")
MCP_SERVERS = commands_in(
    MCP_SERVERS_FILE, {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
)
# So long a process that is told to end lets turns end which run in it.
DRAIN_SECONDS = environment.whole_or("DRAIN_SECONDS", 300)
# Where a process that runs turns tells how it is.
WORKER_PORT = environment.whole("WORKER_PORT")
if WORKER_PORT is not None and not 0 < WORKER_PORT < 65536:
    raise Misconfigured(f"WORKER_PORT is {WORKER_PORT}; it must be a number from 1 to 65535.")
DEFAULT_MODEL = environment.text("DEFAULT_MODEL")
if DEFAULT_MODEL and not ModelName.of(DEFAULT_MODEL).is_whole:
    raise Misconfigured(
        f"DEFAULT_MODEL is {DEFAULT_MODEL!r}; it must look like provider:model, for example demo:thinker."
    )

# Providers

INCOMPLETE_PROVIDERS: list[str] = []
# Nobody else gets these names, whether or not they are set up now.
PROVIDER_NAMES = {"demo", "local"}


def _provider(
    name: str, dialect: str, label: str, *, url: str, key: str = "", official: str = "", path: str = ""
) -> list[Endpoint]:
    """A list of one, or of none where the provider is not set up; half of it set up is told at the start.
    `path` is added to an address that has none."""
    PROVIDER_NAMES.add(name)
    base_url, secret = environment.address(url, official), environment.key(key) if key else ""
    if base_url and not urlsplit(base_url).path:
        base_url += path
    if base_url and (secret or not official):
        return [Endpoint(name=name, dialect=dialect, label=label, base_url=base_url, key=secret)]
    if secret or base_url != official:
        INCOMPLETE_PROVIDERS.append(f"{label} is left out: {key if base_url else url} is not set.")
    return []


PROVIDERS: tuple[Endpoint, ...] = (
    *_provider(
        "openai",
        "responses",
        "OpenAI",
        url="OPENAI_BASE_URL",
        key="OPENAI_API_KEY",
        official="https://api.openai.com/v1",
    ),
    *_provider(
        "anthropic",
        "messages",
        "Anthropic",
        url="ANTHROPIC_BASE_URL",
        key="ANTHROPIC_API_KEY",
        official="https://api.anthropic.com",
    ),
    *_provider(
        "deepseek",
        "chat",
        "DeepSeek",
        url="DEEPSEEK_BASE_URL",
        key="DEEPSEEK_API_KEY",
        official="https://api.deepseek.com",
    ),
    *_provider(
        "openrouter",
        "chat",
        "OpenRouter",
        url="OPENROUTER_BASE_URL",
        key="OPENROUTER_API_KEY",
        official="https://openrouter.ai/api/v1",
    ),
    *_provider("ollama", "chat", "Ollama", url="OLLAMA_BASE_URL", path="/v1"),
    *_provider(
        "compatible", "chat", "Compatible server", url="COMPATIBLE_BASE_URL", key="COMPATIBLE_API_KEY"
    ),
)

_usable = {"demo", *(["local"] if LOCAL_MODEL else []), *(endpoint.name for endpoint in PROVIDERS)}
if DEFAULT_MODEL and ModelName.of(DEFAULT_MODEL).provider not in _usable:
    raise Misconfigured(
        f"DEFAULT_MODEL is {DEFAULT_MODEL!r}, whose provider is not set up. Set up are: {', '.join(sorted(_usable))}."
    )

# What staff cannot hand to a server of tools.
PROVIDER_KEYS = frozenset(filter(KEY_NAME.fullmatch, environment.asked))

# Database

DATABASES = {"default": database(environment.text("DATABASE_URL"), data_dir=DATA_DIR)}
REDIS_URL = environment.text("REDIS_URL")
if REDIS_URL and DATABASES["default"]["ENGINE"] != "django.db.backends.postgresql":
    raise Misconfigured(
        "REDIS_URL is set, but DATABASE_URL does not name PostgreSQL: Redis is used only together with it."
    )
if REDIS_URL and urlsplit(REDIS_URL).scheme not in ("redis", "rediss", "unix"):
    raise Misconfigured("REDIS_URL must begin with redis://, rediss:// or unix://.")
if REDIS_URL and not (importlib.util.find_spec("redis") and importlib.util.find_spec("procrastinate")):
    raise Misconfigured(
        f"REDIS_URL is set, but what speaks with Redis is not installed: {places.INSTALL_SCALE}"
    )
if REDIS_URL and not environment.text("SECRET_KEY"):
    raise Misconfigured("With REDIS_URL every process needs the same SECRET_KEY, so it must be set.")
CHANNEL_LAYERS: dict[str, object] = {}

# Who may reach it, and how

DEBUG = environment.flag("DEBUG", False)
SECRET_KEY = environment.text("SECRET_KEY") or secret_key.kept_in(DATA_DIR)
_public = environment.origin("PUBLIC_URL")
_https = _public is not None and _public.scheme == "https"
if DEBUG and _https:
    raise Misconfigured(
        "DEBUG=1 shows the inside of the server to everybody; it cannot be used with an https PUBLIC_URL."
    )
PUBLIC_URL = _public.geturl() if _public else ""
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *environment.hosts("ALLOWED_HOSTS")]
if _public and _public.hostname:
    ALLOWED_HOSTS.append(_public.hostname)
    CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
if _https:
    # Daphne speaks plain HTTP, so an https address means a proxy in front that tells how it was asked.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_SSL_HOST = _public.netloc if _public else None
    SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
SESSION_ENGINE = "chatapp.pages.sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _https
CSRF_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"
# The longest question, with every letter as three signs of a form.
DATA_UPLOAD_MAX_MEMORY_SIZE = 13 * 1024 * 1024
# No body is larger (`pages/door/caps.py`), so none is ever written into a file.
FILE_UPLOAD_MAX_MEMORY_SIZE = DATA_UPLOAD_MAX_MEMORY_SIZE
# The page of a server with all the tools that it may have, and those it had before.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000

# Mail

_mail = mail_server(environment.text("EMAIL_URL"))
if _mail and "*" in ALLOWED_HOSTS and not _public:
    raise Misconfigured(
        "ALLOWED_HOSTS allows every name, so a stranger could choose where the links in mails lead: set PUBLIC_URL."
    )
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if _mail else 'console'}.EmailBackend"
EMAIL_HOST, EMAIL_PORT = (_mail.host, _mail.port) if _mail else ("", 0)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = (_mail.user, _mail.password) if _mail else ("", "")
EMAIL_USE_TLS, EMAIL_USE_SSL = bool(_mail and _mail.tls), bool(_mail and _mail.ssl)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = sender(
    environment.text("EMAIL_FROM"), host=_public.hostname if _public else None
)
PASSWORD_RESET_TIMEOUT = 3600

# Django

INSTALLED_APPS = [
    "chatapp.pages.door.lean_daphne.LeanDaphne",
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "chatapp",
    # Its tables; on SQLite they cannot be made.
    *(["procrastinate.contrib.django"] if REDIS_URL else []),
]
MIDDLEWARE = [
    "chatapp.pages.middleware.request_log",
    "chatapp.pages.middleware.private_and_strict",
    "django.middleware.gzip.GZipMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "chatapp.pages.static_files.StaticFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "chatapp.pages.signed_in.SignedInByBoth",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "chatapp.pages.door.reception.refused_at_the_door",
    "chatapp.pages.unavailable.Unavailable",
]
ROOT_URLCONF = "chatapp.urls"
ASGI_APPLICATION = "chatapp.asgi.application"
TEMPLATE_LOADERS = ["chatapp.pages.templates.Loader", "django.template.loaders.app_directories.Loader"]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [places.TEMPLATES],
        "OPTIONS": {
            "loaders": [("django.template.loaders.cached.Loader", TEMPLATE_LOADERS)],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "chatapp.conversations.page.context.person",
            ],
            "builtins": ["django.templatetags.static", "chatapp.templatetags.chat"],
        },
    }
]
STATIC_URL = "/static/"
STATIC_ROOT = places.STATIC_SERVED
STATIC_SHARED = environment.folder_if_set("STATIC_SHARED_DIR")
# A wheel has what these would find, collected.
STATICFILES_DIRS: list[object] = []
STATICFILES_FINDERS: list[str] = []
if not places.FROM_WHEEL:
    STATICFILES_DIRS.append(places.BASE / "static")
    if mermaid.FOLDER:
        STATICFILES_DIRS.append((mermaid.NAME, mermaid.FOLDER))
    STATICFILES_FINDERS += [
        "django.contrib.staticfiles.finders.FileSystemFinder",
        "django.contrib.staticfiles.finders.AppDirectoriesFinder",
        "chatapp.pages.fonts.finder.FontFinder",
    ]
FONTS_ROOT = places.BASE / "static-made"
STORAGES = {"staticfiles": {"BACKEND": "chatapp.pages.static_files.Storage"}}
WHITENOISE_USE_FINDERS = True
WHITENOISE_ALLOW_ALL_ORIGINS = False
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL, LOGIN_REDIRECT_URL, LOGOUT_REDIRECT_URL = "/accounts/login/", "/", "/accounts/login/"
USE_I18N = False
TIME_ZONE = "UTC"

# Logs

LOG_LEVEL = environment.word("LOG_LEVEL", ("info", "debug", "warning", "error", "critical")).upper()
# Other packages write what was said, asked and sent into their lines, most of all at the lower levels.
_others = max(LOG_LEVEL, "WARNING", key=logging.getLevelName)
LOG_FORMAT = environment.word("LOG_FORMAT", ("text", "json"))
_secrets = [
    SECRET_KEY,
    DATABASES["default"].get("PASSWORD", ""),
    EMAIL_HOST_PASSWORD,
    *environment.keys(),
    *secrets_of(MCP_SERVERS),
]
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "chosen": {"()": f"chatapp.config.logs.{LOG_FORMAT.capitalize()}Formatter", "secrets": _secrets}
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "chosen"}},
    "root": {"handlers": ["stderr"], "level": _others},
    "loggers": {
        "chatapp": {"level": LOG_LEVEL},
        # Django gives these handlers and levels of their own.
        "django": {"handlers": [], "level": _others},
        "django.server": {"handlers": [], "level": _others, "propagate": True},
        # Its lines about 4xx answers say what the request log says already.
        "django.request": {"level": "ERROR"},
        "django.security.DisallowedHost": {"level": "CRITICAL"},
        # What a server of tools does wrong is told where it is listed.
        "mcp": {"level": "CRITICAL"},
        "client": {"level": "CRITICAL"},
        "httpx2": {"level": "CRITICAL"},
        "httpcore2": {"level": "CRITICAL"},
    },
}
