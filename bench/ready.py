"""Sets Django up when it is imported, for processes that have no other beginning of their own."""

import django

django.setup()
