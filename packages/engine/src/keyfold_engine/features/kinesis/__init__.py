"""Kinesis destinations of the changes of a table."""
