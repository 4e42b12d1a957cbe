"""A hasher that tells how often it was at work."""

from django.contrib.auth.hashers import MD5PasswordHasher


class CountingHasher(MD5PasswordHasher):
    worked = 0

    def encode(self, password, salt):
        type(self).worked += 1
        return super().encode(password, salt)
