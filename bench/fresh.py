"""Importing this sets Django up on a database of its own, in a folder that goes away. It is imported before whatever has rows."""

from __future__ import annotations

import os

import django
from django.core.management import call_command

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
django.setup()
call_command("migrate", verbosity=0)
