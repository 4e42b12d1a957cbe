"""Moments, days, numbers and amounts in words."""
