"""As it is set from outside, with the address that breaks."""

from chatapp.settings import *  # noqa: F403

ROOT_URLCONF = "tests.breaking.urls"
