"""Servers of tools."""
