"""Contributor insights: which keys of a table are used most."""
