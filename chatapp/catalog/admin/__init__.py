"""Providers and models for administrators."""
