"""Accounts: signing in and up, settings, leaving."""
