"""Adopting what exists: designs from tables in use, templates, models and data."""
