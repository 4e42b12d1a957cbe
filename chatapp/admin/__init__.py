"""The pages of administrators at /admin/: Django's own, for staff alone."""
