"""Settings of the least of servers."""

import os
from pathlib import Path

from chatapp.config.databases import database

SECRET_KEY = "floor"
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "bench.floor"
DATABASES = {"default": database("", data_dir=Path(os.environ["DATA_DIR"]))}
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
