"""Administrators browse conversations, and their looks are written down."""
