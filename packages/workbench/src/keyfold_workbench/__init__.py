"""Tools to look at designs and their data."""
