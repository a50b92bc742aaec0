"""Contributor insights: their settings and states; nothing is counted."""
