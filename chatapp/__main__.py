"""Every command: `thoughtline …` where a wheel is installed, `python manage.py …` in a checkout, `python -m chatapp …` in both."""

from __future__ import annotations

import os
import sys
from typing import Any, cast

STOPPED_BY_KEY = 130


def main() -> None:
    """Ctrl-C ends it without a traceback, also while it is still loading."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")
    # TLS is the proxy's. Twisted would load its own, 5 MB that nobody uses, where it finds this package.
    sys.modules["OpenSSL"] = cast(Any, None)
    try:
        from django.core.management import execute_from_command_line

        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit(STOPPED_BY_KEY)


if __name__ == "__main__":
    main()
