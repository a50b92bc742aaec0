"""Designs that several tests use. A test about a declaration declares its own."""
