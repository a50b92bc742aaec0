"""Rows of files, written as items of a design."""
