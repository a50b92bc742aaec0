"""Reads a design document in Markdown, by rules: statements, questions, a design."""
