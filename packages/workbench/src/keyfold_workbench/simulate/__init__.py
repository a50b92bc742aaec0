"""Simulates a design under load, before it is built."""
