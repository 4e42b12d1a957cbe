"""Where what is no code lies: beside this package in a checkout, in its folder `built` in a wheel, under the same names."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_BUILT = _PACKAGE / "built"
# Such a folder is made for a wheel alone, with the static files collected; nothing is ever written there.
FROM_WHEEL = _BUILT.is_dir()
BASE = _BUILT if FROM_WHEEL else _PACKAGE.parent
TEMPLATES = BASE / "templates"
STATIC_SERVED = BASE / "static-served"
MANAGE = BASE / "manage.py"
REQUIREMENTS = BASE / "requirements"
# What is told where a driver is missing.
INSTALL_SCALE = (
    'pip install "thoughtline[scale]"'
    if FROM_WHEEL
    else "pip install --require-hashes -r requirements/scale.txt"
)
