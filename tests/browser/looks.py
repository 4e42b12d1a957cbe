"""The sizes that pages are looked at in. By day and by night is `Tab.grave`'s to look."""

from __future__ import annotations

import pytest

PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
on_both = pytest.mark.parametrize("look", [PHONE, DESKTOP], ids=["phone", "desktop"])
