"""Submitting for review, and reviewing."""
