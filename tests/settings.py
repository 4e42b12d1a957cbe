"""The settings of a test run: what this machine has set is left out, and data lives in a folder that goes away."""

import os
from tempfile import TemporaryDirectory

from .support.readme import settings_in_readme

_folder = TemporaryDirectory(prefix="thoughtline-tests-")

for _name in settings_in_readme() - {"DATABASE_URL", "REDIS_URL"}:
    os.environ.pop(_name, None)
os.environ |= {"DATA_DIR": _folder.name, "LOCAL_MODEL": "0"}
if os.environ.get("REDIS_URL"):
    os.environ["SECRET_KEY"] = "all of the tests' processes have this one"

from chatapp.settings import *  # noqa: E402, F403  (after the environment is as it should be)

# The real one takes a third of a second on purpose.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# A chain of middleware is made for every client, and would look through all files each time.
MIDDLEWARE = [
    "tests.support.static_files.LookedThroughOnce" if each.endswith(".StaticFiles") else each
    for each in MIDDLEWARE  # noqa: F405
]

if DATABASES["default"]["ENGINE"].endswith("postgresql"):  # noqa: F405
    # No test survives the machine, so no commit need wait for the disk.
    DATABASES["default"]["OPTIONS"]["options"] += " -c synchronous_commit=off"  # noqa: F405
