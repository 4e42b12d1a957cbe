"""Accounts: made, named, let in, left."""
