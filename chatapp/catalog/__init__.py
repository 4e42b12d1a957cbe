"""Providers and models, and what staff say of them."""
